"""A command that is killed while it writes: what it leaves is nobody's document, and goes with the next one."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from benchmarks.made_capture import Maker
from sharc_crawler.cli import main
from tests.certificate.test_sealing import key_file
from tests.live.warm import finished

if TYPE_CHECKING:
    from pathlib import Path

#: killed as soon as its n-th file is written, and not safe yet
KILLED = """
import os, signal, sys
left = int(sys.argv.pop(1))
def fsync(_):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
from sharc_crawler.archive import drafts
drafts.os.fsync = fsync
from sharc_crawler.cli import main
main()
"""


def drafts(folder: Path) -> list[str]:
    return sorted(path.name.rpartition(".")[0] for path in folder.rglob(".*.*") if path.suffix[1:].isdecimal())


@pytest.mark.slow
def test_drafts_of_a_killed_command_are_passed_over_and_removed_by_the_next(tmp_path: Path) -> None:
    capture = tmp_path / "capture"
    capture.mkdir()
    Maker(capture, 30, 20).make()
    assert CliRunner().invoke(main, ["report", str(capture)]).exit_code == 0
    commands: list[tuple[int, list[str], list[str]]] = [
        (2, ["report", str(capture)], [".report-pages.jsonl", ".report.json"]),
        (1, ["seal", str(capture), "--sign", str(key_file(tmp_path / "key.pem"))], [".signature.json"]),
        (1, ["package", str(capture)], [".example.org-20261118110640-run.wacz"]),
    ]
    (tmp_path / "killed.py").write_text(KILLED)
    for files, command, left in commands:
        killed = finished([str(files), *command], tmp_path, program="killed.py")
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert drafts(capture) == left
        verified = CliRunner().invoke(main, ["verify", str(capture)])
        assert verified.exit_code == 0, verified.output
        assert CliRunner().invoke(main, command).exit_code == 0
        assert drafts(capture) == []
        assert CliRunner().invoke(main, ["verify", str(capture)]).exit_code == 0


@pytest.mark.slow
def test_hidden_files_of_others_stay(tmp_path: Path) -> None:
    """Copies with a date, and drafts of other programs."""
    capture = tmp_path / "capture"
    capture.mkdir()
    Maker(capture, 30, 20).make()
    own = [
        ".notes.20261128",
        ".env.2026",
        ".collection.yaml.20251231",
        ".report.json.20251231",
        ".foo.4194303",
        ".a.b.1234567",
    ]
    for name in own:
        (capture / name).write_text("mine")
    assert CliRunner().invoke(main, ["report", str(capture)]).exit_code == 0
    assert (
        CliRunner().invoke(main, ["seal", str(capture), "--sign", str(key_file(tmp_path / "key.pem"))]).exit_code == 0
    )
    (elsewhere := tmp_path / "home").mkdir()
    (elsewhere / ".news.wacz.20251231").write_text("mine")
    assert CliRunner().invoke(main, ["package", str(capture), "-o", str(elsewhere / "news.wacz")]).exit_code == 0
    assert [name for name in own if not (capture / name).exists()] == []
    assert (elsewhere / ".news.wacz.20251231").exists()
