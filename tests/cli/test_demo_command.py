"""``sharc demo`` as a user runs it: a process, a URL, Ctrl-C, files."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.demo import LivingSite, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHARC = [sys.executable, "-c", "from sharc_crawler.cli import main; main()"]


@contextmanager
def demo(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [*SHARC, "demo", "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.matrix
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_ended_and_writes_what_was_true(tmp_path: Path, ending: signal.Signals) -> None:
    files = [tmp_path / name for name in ("truth.jsonl", "log.jsonl")]
    with demo("--json", "--seed", "4", "--pages", "60", "--truth", str(files[0]), "--log", str(files[1])) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        with urlopen(told["url"], timeout=120) as answer:
            assert answer.status == 200
        process.send_signal(ending)
        out, err = process.communicate(timeout=280)
    assert (process.returncode, out, err) == (0, "", "1 request answered.\n")
    truth, log = ([json.loads(line) for line in file.read_text().splitlines()] for file in files)
    assert [(line["method"], line["target"], line["status"]) for line in log] == [("GET", "/", 200)]
    site = LivingSite(seed=4, pages=60, scale=2000.0)
    assert [line["page"] for line in truth] == [*site.paths, *site.resources]
    assert truth[0]["from"] < log[0]["time"] < truth[0]["to"]
    for line in truth:
        assert line["changes"] == site.changes(line["page"], line["from"], line["to"]).tolist()
        assert line["rate"] == site.rate(line["page"])


def test_it_says_what_to_try() -> None:
    with demo("--pages", "60") as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
    url = lines[0].split(" is at ")[1].split()[0]
    assert url.startswith("http://127.0.0.1:")
    assert all(url in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pages", "3"], "pages=3 is no living site: it must be from 20 to 50000"),
        (["--lying", "2"], "lying=2.0 is no living site"),
        (["--scale", "0"], "scale=0.0 is no living site"),
        (["--port", "-1"], "Invalid value for '--port'"),
        (["--pages", "many"], "Invalid value for '--pages'"),
        (
            ["--truth", "/nowhere/truth.jsonl"],
            "--truth /nowhere/truth.jsonl: the folder /nowhere does not exist; make it, or name another file",
        ),
        (["--page", "30"], "No such option '--page'"),
    ],
)
def test_bad_arguments_are_named_before_anything_is_served(arguments: list[str], message: str) -> None:
    answer = CliRunner().invoke(main, ["demo", *arguments])
    assert answer.exit_code == 2
    assert message in answer.stderr


def test_a_taken_port_is_an_error() -> None:
    with serve(LivingSite(pages=60)) as server:
        port = server.url.rsplit(":", 1)[1].strip("/")
        answer = CliRunner().invoke(main, ["demo", "--port", port])
    assert answer.exit_code == 2
    assert answer.stderr.startswith(f"sharc: error: port={port} cannot be served")
