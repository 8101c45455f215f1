"""A real S3-compatible server on loopback (npm's s3rver, which .ci/run installs), as long as tests need it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

BUCKET = "archive"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "S3RVER",
    "AWS_SECRET_ACCESS_KEY": "S3RVER",
    "AWS_DEFAULT_REGION": "us-east-1",
}
_HERE = Path(__file__).resolve().parents[1] / ".venv-s3/node_modules/.bin/s3rver"


class ObjectStore:
    """A server with one bucket, empty at first."""

    def __init__(self, folder: Path, program: str) -> None:
        port = free_port()
        words = [program, "-d", str(folder), "-a", "127.0.0.1", "-p", str(port), "--no-vhost-buckets", "-s"]
        self.process = subprocess.Popen([*words, "--configure-bucket", BUCKET], start_new_session=True)
        self.environment = {**CREDENTIALS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
        self._port = port

    def ready(self) -> None:
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self._port), 1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise TimeoutError("s3rver does not answer")

    def url(self, name: str) -> str:
        return f"s3://{BUCKET}/{name}"

    @contextmanager
    def away(self) -> Iterator[None]:
        """It takes connections and answers nothing, like a network that is cut."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def program() -> str | None:
    """Where s3rver is: $SHARC_S3RVER, what .ci/run installed, or the path."""
    named = os.environ.get("SHARC_S3RVER") or (str(_HERE) if _HERE.exists() else None)
    return named or shutil.which("s3rver")


@contextmanager
def object_store(folder: Path) -> Iterator[ObjectStore]:
    """The server; skips where it, or the library that speaks to it, is not installed."""
    pytest.importorskip("s3fs", reason="pip install 'sharc-crawler[s3]'")
    found = program()
    if not found:
        pytest.skip("no S3-compatible server: npm install --prefix .venv-s3 s3rver")
    store = ObjectStore(folder, found)
    try:
        store.ready()
        yield store
    finally:
        store.end()
