"""Connections to SQLite files: another process's short lock is waited for, any other error is told at once."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from types import SimpleNamespace

import pytest

from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.storage import connecting


def test_a_file_is_read_as_it_is_where_nobody_can_write_beside_it(tmp_path, monkeypatch):
    path, log = tmp_path / "a.db", tmp_path / "a.db-wal"
    assert connecting.readable(path).endswith("mode=rw")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert connecting.readable(path).endswith("immutable=1")
    log.write_bytes(b"not folded in yet")
    assert connecting.readable(path).endswith("mode=rw"), "it would be read without what the log holds"


def test_a_file_is_read_as_it_is_where_its_full_disk_has_no_room_for_a_log_beside_it(tmp_path, monkeypatch):
    path, log = tmp_path / "a.db", tmp_path / "a.db-wal"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE kept (it)")
    monkeypatch.setattr(connecting, "disk_usage", lambda _: SimpleNamespace(free=0))
    with closing(sqlite3.connect(connecting.readable(path), uri=True)) as db:
        assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("kept",)]
        assert sorted(one.name for one in tmp_path.iterdir()) == ["a.db"], "nothing was written beside it"
    log.touch()
    assert connecting.readable(path).endswith("mode=rw"), "its owner has it open"


class Switching:
    """A connection whose switch to WAL fails so often."""

    def __init__(self, said: str, failures: int) -> None:
        self.said, self.left, self.asked = said, failures, 0

    def execute(self, _statement: str) -> None:
        self.asked += 1
        if self.left:
            self.left -= 1
            raise StoreUnavailable(self.said)


def test_a_switch_that_finds_the_file_locked_is_tried_again():
    db = Switching("database is locked", 3)
    connecting.share(db)
    assert db.asked == 4


def test_a_switch_that_fails_otherwise_is_told_at_once():
    db = Switching("disk I/O error", 3)
    with pytest.raises(StoreUnavailable, match="disk I/O"):
        connecting.share(db)
    assert db.asked == 1


def test_a_lock_that_stays_is_told_when_patience_ends(monkeypatch):
    monkeypatch.setattr(connecting, "BUSY", -1.0)
    db = Switching("database is locked", 3)
    with pytest.raises(StoreUnavailable, match="locked"):
        connecting.share(db)
    assert db.asked == 1
