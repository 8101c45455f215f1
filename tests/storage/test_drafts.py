"""What killed processes leave behind in a folder, and what may be removed of it."""

from __future__ import annotations

import os

import pytest

from sharc_crawler.errors import DataError
from sharc_crawler.storage.beside import forget_killed, without_rebuilding
from sharc_crawler.storage.folders import hold
from sharc_crawler.storage.sqlite import WAY_OUT

GONE = 9_999_999  # above any system's greatest process id
DRAFTS = [f".report.json.{GONE}", f"..report.json.1.{GONE}", f".report-pages.jsonl.{GONE}", f".a.warc.gz.{GONE}"]
OTHERS = [
    "report.json",
    f"report.json.{GONE}",
    f".notes.txt.{GONE}",
    f".report.json.{GONE}0",  # no process id
    f".report.json.{os.getpid()}",
]


def left(folder) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def folder(tmp_path):
    for name in (*DRAFTS, *OTHERS):
        (tmp_path / name).touch()
    (tmp_path / f".index.html.{GONE}").mkdir()
    return tmp_path


def test_drafts_of_processes_that_are_gone_are_removed_and_nothing_else(folder):
    forget_killed(folder)
    assert left(folder) == {*OTHERS, f".index.html.{GONE}"}


def test_those_of_one_file_alone_may_be_removed(folder):
    forget_killed(folder, "notes.txt")
    assert left(folder) == {*DRAFTS, *OTHERS, f".index.html.{GONE}"} - {f".notes.txt.{GONE}"}


def test_those_of_a_folder_that_is_held_stay(folder):
    before = left(folder)
    with hold(folder):
        forget_killed(folder)
        assert before < left(folder)
    forget_killed(folder)
    assert not left(folder).issuperset(before)


@pytest.mark.parametrize(("error", "runs"), [(PermissionError, True), (ProcessLookupError, False)])
def test_a_process_of_another_user_is_one_that_runs(folder, monkeypatch, error, runs):
    def kill(process, number):
        assert number == 0, "it is only asked for"
        raise error

    monkeypatch.setattr(os, "kill", kill)
    forget_killed(folder)
    assert (DRAFTS[0] in left(folder)) is runs


def test_where_state_is_damaged_that_cannot_be_rebuilt_another_folder_is_advised():
    error = without_rebuilding(DataError(f"the state is damaged; {WAY_OUT}"))
    assert str(error) == "the state is damaged; choose another folder"
