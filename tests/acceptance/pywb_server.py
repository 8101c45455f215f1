"""pywb, started as its users start it.

pywb pins old packages and is GPL: it lives in an environment of its own and is only run here.

    python3 -m venv /tmp/pywb && /tmp/pywb/bin/pip install -r tests/acceptance/pywb.txt cdxj-indexer
    SHARC_PYWB=/tmp/pywb/bin python -m pytest tests/acceptance
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

BIN = Path(os.environ.get("SHARC_PYWB") or Path(shutil.which("wayback") or "nowhere").parent)
INSTALLED = (BIN / "wb-manager").exists()
MISSING = "pywb is not installed; set SHARC_PYWB to its environment's bin folder"


def environment() -> dict[str, str]:
    """Ours without what would lead pywb's Python to our packages."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}


def run(folder: Path, tool: str, *arguments: str) -> None:
    """One of pywb's tools, in a folder of collections."""
    subprocess.run(
        [BIN / tool, *arguments], cwd=folder, env=environment(), check=True, capture_output=True, timeout=280
    )


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """The folder's collections, served until the block ends; the port."""
    port = free_port()
    command = [BIN / "wayback", "-p", str(port), "-b", "127.0.0.1"]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=environment())
    try:
        _wait_for(port, server)
        yield port
    finally:
        server.terminate()
        server.wait(240)


def _wait_for(port: int, server: subprocess.Popen) -> None:
    for _ in range(2400):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        with suppress(subprocess.TimeoutExpired):
            pytest.fail(f"pywb ended with {server.wait(0.1)}")
    pytest.fail("pywb did not start to listen within 240 s")
