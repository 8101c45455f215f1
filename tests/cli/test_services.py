"""How commands end at Ctrl-C: those that run until then with 0, all others with 130, and none with a traceback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHARC = [sys.executable, "-c", "from sharc_crawler.cli import main; main()"]
TERMS = "sites: [{url: 'http://127.0.0.1:9/', every: 30d}]\n"


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A command that has said its first line: it runs by then. Ctrl-C is not ignored, as of jobs in the background."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    command = [*SHARC, *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert process.stdout.readline()
            yield process
        finally:
            process.kill()


def await_log(folder: Path) -> None:
    """Wait for a line in a log of this folder."""
    for _ in range(1_200):
        if any(log.stat().st_size for log in folder.glob("*.log")):
            return
        time.sleep(0.1)
    pytest.fail(f"no line in {folder}")


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize("command", ["demo", "fleet metrics", "watch", "watch --web", "keep"])
def test_a_command_that_runs_until_ctrl_c_ends_with_0(command: str, ending: signal.Signals, tmp_path: Path) -> None:
    dsn = f"sqlite:{tmp_path / 'fleet.db'}"
    subprocess.run([*SHARC, "fleet", "init", dsn], check=True, capture_output=True, timeout=280)
    (tmp_path / "collection.yaml").write_text(TERMS)
    words = {
        "demo": ["demo", "--port", "0", "--pages", "20"],
        "fleet metrics": ["fleet", "metrics", dsn, "--listen", "127.0.0.1:0"],
        "watch": ["watch", str(tmp_path)],
        "watch --web": ["watch", dsn, "--web"],
        "keep": ["keep", str(tmp_path)],
    }
    with running(*words[command]) as process:
        if command == "keep":  # its crawl hears Ctrl-C once it runs, as its progress line shows
            await_log(tmp_path / "logs")
        process.send_signal(ending)
        said, _ = process.communicate(timeout=280)
    assert (process.returncode, "Traceback" in said, "Aborted" in said) == (0, False, False), said


@pytest.mark.slow
def test_ctrl_c_while_modules_are_loaded_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run(SHARC, capture_output=True, text=True, timeout=280, check=False, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Aborted!\n")


@pytest.mark.slow
def test_ctrl_c_while_a_site_is_asked_ends_with_130() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(120)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        words = [*SHARC, "plan", url, "-s", "SHARC_OPERATOR=crawls@library.example"]
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        ) as process:  # fmt: skip
            asked, _ = silent.accept()  # for robots.txt, which never comes
            process.send_signal(signal.SIGINT)
            time.sleep(1)  # the signal is heard by then, mostly; else it asks once more, and waits for a timeout
            asked.close()
            said, _ = process.communicate(timeout=280)
    assert (process.returncode, "Traceback" in said) == (130, False), said
