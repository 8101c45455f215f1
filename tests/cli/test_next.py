"""The last line of a command works as it stands."""

from __future__ import annotations

import os
import shlex
import subprocess

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.report.words import next_line

SIMULATE = ("simulate", "--world", "size=30", "--strategy", "bfs", "--jobs", "1")


def followed(*words: str) -> tuple[str, ...]:
    """What a command says comes next; empty where it says nothing."""
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert "Next:" not in done.stdout, "that is for other programs, too"
    said = [line for line in done.stderr.splitlines() if line.startswith("Next: ")]
    if not said:
        return ()
    assert done.output.splitlines()[-1] == said[0]
    command, *rest = shlex.split(said[0].removeprefix("Next: "))
    assert command == "sharc"
    return tuple(rest)


@pytest.mark.slow
def test_each_next_command_works_until_nothing_follows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    more_worlds = followed(*SIMULATE)
    assert more_worlds == (*SIMULATE, "--seeds", "5")
    with_schedule = followed(*more_worlds)
    assert followed(*with_schedule) == ()
    assert (tmp_path / with_schedule[-1]).read_text().startswith("run,page,kind,time\n")


@pytest.mark.parametrize("name", ["new\nline's dir", b"lat\xfcn".decode(errors="surrogateescape"), "a\u202e\\b c"])
def test_a_name_that_cannot_be_shown_is_taken_back_by_a_shell(name):
    said = next_line("printf", "%s", name)
    assert said.isprintable()
    done = subprocess.run(["bash", "-c", said.removeprefix("Next: ")], capture_output=True, check=True, timeout=60)
    assert done.stdout == os.fsencode(name)


def test_programs_are_told_nothing():
    assert followed(*SIMULATE, "--json") == ()


@pytest.mark.parametrize("changed", [True, False])
def test_two_pages_that_differ_are_shown_side_by_side(changed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old page.html").write_text("<p>one</p>")
    (tmp_path / "new.html").write_text("<p>two</p>" if changed else "<p>one</p>")
    side_by_side = followed("diff", "old page.html", "new.html")
    assert bool(side_by_side) is changed
    if changed:
        assert followed(*side_by_side) == ()
        assert (tmp_path / "diff.html").exists()
