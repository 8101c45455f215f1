"""Every store of frontier state does what the port promises."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sharc_crawler.errors import DataError
from sharc_crawler.frontier.store import Batch
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.sqlite import SqliteStore
from sharc_crawler.testing.stores import FrontierStoreChecks, page_row


class TestMemoryStore(FrontierStoreChecks):
    def open(self, folder):
        return MemoryStore()


class TestSqliteStore(FrontierStoreChecks):
    def open(self, folder):
        return SqliteStore(folder / "frontier.db")

    def test_keeps_what_was_committed_without_being_closed(self, tmp_path):
        self.open(tmp_path).commit(Batch(pages=[page_row(0)]))
        assert len(self.open(tmp_path).load().pages) == 1

    def test_a_batch_that_fails_leaves_nothing(self, tmp_path):
        store = self.open(tmp_path)
        store.commit(Batch(pages=[page_row(0)]))
        with pytest.raises(sqlite3.IntegrityError):
            store.commit(Batch(pages=[page_row(1), page_row(0)]))
        assert [page.page for page in store.load().pages] == [0]

    def test_another_file_is_refused_and_left_alone(self, tmp_path):
        path = tmp_path / "frontier.db"
        path.write_bytes(b"not a database, but somebody's letters")
        with pytest.raises(DataError, match=r"frontier\.db"):
            SqliteStore(path)
        assert path.read_bytes().startswith(b"not a database")

    def test_a_newer_schema_is_refused(self, tmp_path):
        path = tmp_path / "frontier.db"
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA user_version = 99")
        with pytest.raises(DataError, match="99"):
            SqliteStore(path)


def test_the_port_has_no_third_implementation_without_checks():
    package = Path(__file__).resolve().parents[2] / "sharc_crawler" / "storage"
    with_commit = {path.stem for path in package.glob("*.py") if "def commit(self, batch" in path.read_text()}
    assert with_commit == {"memory", "sqlite"}
