"""Every store of frontier state does what the port promises."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from sharc_crawler.errors import DataError
from sharc_crawler.frontier.store import Batch
from sharc_crawler.model import CaptureRef
from sharc_crawler.report.load import load_state
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.sqlite import SqliteStore
from sharc_crawler.testing.stores import FrontierStoreChecks, page_row, subsite_row


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

    def test_damaged_state_is_said_to_be_so_by_those_who_close_it_too(self, tmp_path):
        store = self.open(tmp_path)
        store.commit(Batch(subsites={(0, n): subsite_row(n) for n in range(3)}))
        store.close()
        with sqlite3.connect(tmp_path / "frontier.db") as db:
            db.execute("UPDATE subsite SET branches = '[[]]'")
        with pytest.raises(DataError, match="is damaged"):
            load_state(tmp_path)

    def test_a_newer_schema_is_refused(self, tmp_path):
        path = tmp_path / "frontier.db"
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA user_version = 99")
        with pytest.raises(DataError, match="99"):
            SqliteStore(path)

    def test_state_of_the_first_schema_version_is_taken_over(self, tmp_path):
        path = tmp_path / "frontier.db"
        db = sqlite3.connect(path, isolation_level=None)
        db.executescript(Path(__file__).with_name("frontier_schema_1.sql").read_text())
        url, spec = "http://h.example/", json.dumps({"site": "h", "seeds": ["http://h.example/"]})
        answer = (10.0, 10.5, "ok", 200, "sha1:A", None, '"tag"', None, None, 17, "text/html")
        for table, values in {
            "capture": (0, spec, "visit", 1.5, None, None, '["a note"]', "[[3.0, 4.5]]", '{"x": 3}'),
            "host": ("h.example", "User-agent: *", 1.0),
            "page": (0, 0, url, url, "page", "h.example", 0, -1, "seed", 0, 0.5, "prior", None, 1.0, None, ""),
            "visit": (7, 0, "first", "hopeful", 1, 1, 3, 9.0, *answer, "a.warc.gz", 5, 7, None),
            "judgement": (0, "coherent", "bytes", "equal"),
            "embed": (0, 1),
        }.items():
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
        db.execute("PRAGMA user_version = 1")
        db.close()
        for _ in range(2):  # brought up to date once, read twice
            state = SqliteStore(path).load()
            (visit,) = state.visits
            assert (visit.outcome.digest, visit.outcome.capture) == ("sha1:A", CaptureRef("a.warc.gz", 5, 7))
            assert (visit.outcome.validators.etag, visit.outcome.date, visit.lease) == ('"tag"', None, 3)
            assert (state.pages[0].url, state.pages[0].rate, state.embeds) == (url, 0.5, [(0, 1)])
            assert state.captures[0].interruptions == ((3.0, 4.5),)
            assert state.judgements[0].reason == "equal"
        with sqlite3.connect(path) as db:
            fresh = SqliteStore(tmp_path / "new.db")
            assert _tables(db) == _tables(sqlite3.connect(fresh.path)), "as a new file has them"

    def test_an_upgrade_that_fails_changes_nothing(self, tmp_path):
        path = tmp_path / "frontier.db"
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE page (somebody_elses TEXT)")
            db.execute("INSERT INTO page VALUES ('kept')")
        with pytest.raises(DataError):
            SqliteStore(path)
        with sqlite3.connect(path) as db:
            assert db.execute("SELECT * FROM page").fetchall() == [("kept",)]


def _tables(db):
    return sorted(sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL"))


def test_the_port_has_no_third_implementation_without_checks():
    package = Path(__file__).resolve().parents[2] / "sharc_crawler" / "storage"
    with_commit = {path.stem for path in package.glob("*.py") if "def commit(self, batch" in path.read_text()}
    assert with_commit == {"memory", "sqlite"}
