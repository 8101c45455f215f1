"""Every store of frontier state does what the port promises."""

from __future__ import annotations

import math
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.archive.open_files import MOST
from sharc_crawler.errors import DataError, StoreFull, StoreUnavailable, UsageError
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Hints, Slot, Verdict
from sharc_crawler.state.rows import Batch, HostRow, JudgementRow, LastmodRow, LinksRow, NoveltyRow, OutsideRow
from sharc_crawler.storage.beside import load_state, open_state
from sharc_crawler.storage.folders import hold
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.opening import begin_state, kept_by
from sharc_crawler.storage.plain import joined, of_json, to_json
from sharc_crawler.storage.sqlite import FILE_NAME, SqliteStore
from sharc_crawler.storage.trying_again import unreached
from sharc_crawler.testing.stores import FrontierStoreContract, capture_row, page_row, subsite_row, visit_row


def open_in(folder: Path) -> int:
    """Descriptors of files in a folder: what other tests have left may be closed at any time."""
    number = 0
    for one in Path("/dev/fd").iterdir():
        with suppress(OSError):
            number += one.readlink().is_relative_to(folder.resolve())
    return number


class TestMemoryStore(FrontierStoreContract):
    kind, persistent = MemoryStore, False


class TestSqliteStore(FrontierStoreContract):
    kind = SqliteStore

    def test_a_batch_that_fails_leaves_nothing(self, tmp_path):
        store = self.open(tmp_path)
        store.commit(Batch(pages=[page_row(0)]))
        with pytest.raises(StoreUnavailable, match=r"frontier\.db.*UNIQUE"):
            store.commit(Batch(pages=[page_row(1), page_row(0)]))
        with pytest.raises(StoreUnavailable):
            store.replace(Batch(pages=[page_row(1), page_row(1)]))
        assert [page.page for page in store.load().pages] == [0]

    def test_a_file_that_another_tool_left_without_a_log_gets_one(self, tmp_path):
        """Else a crawl that writes and whoever reads would wait for each other."""
        store = self.open(tmp_path)
        store.commit(Batch(pages=[page_row(0)]))
        store.close()
        (path,) = tmp_path.rglob("frontier.db")
        with sqlite3.connect(path) as db:
            assert db.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
        db.close()
        store = self.open(tmp_path)
        assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)

    def test_its_log_is_empty_once_it_is_closed_though_somebody_reads_beside_it(self, tmp_path):
        store = self.open(tmp_path)
        store.commit(Batch(pages=[page_row(0)]))
        (path,) = tmp_path.rglob("frontier.db")
        with closing(sqlite3.connect(path)) as reader:
            assert reader.execute("SELECT count(*) FROM page").fetchall() == [(1,)]
            store.close()
            assert path.with_name("frontier.db-wal").stat().st_size == 0

    def test_what_was_opened_is_closed(self, tmp_path):
        counts = []
        for number in range(4):
            folder = tmp_path / str(number)
            folder.mkdir()
            SqliteStore(folder).close()
            counts.append(open_in(tmp_path))
        assert len(set(counts[1:])) == 1

    def test_a_new_file_is_whole_on_disk_before_it_has_its_name(self, tmp_path, monkeypatch):
        """Else a power failure leaves a name without its tables."""
        synced = []

        def fsync(number):
            synced.append((os.fstat(number).st_size, SqliteStore.holds(tmp_path)))

        monkeypatch.setattr("sharc_crawler.storage.sqlite.os.fsync", fsync)
        self.open(tmp_path).close()
        (size, named), (_, named_then) = synced[:2]  # the file, and its folder
        assert (size, named, named_then) == ((tmp_path / "frontier.db").stat().st_size, False, True)

    def test_only_what_can_be_made_again_is_not_synced(self, tmp_path):
        for copies, level in ((False, 2), (True, 0)):
            with closing(SqliteStore(tmp_path, copies=copies)) as store:
                assert store._db.execute("PRAGMA synchronous").fetchone() == (level,)

    def test_a_full_disk_is_told_apart(self, tmp_path):
        store = self.open(tmp_path)
        store.commit(Batch(pages=[page_row(0)]))
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreFull, match=r"frontier\.db"):
            store.commit(Batch(pages=[page_row(number) for number in range(1, 1000)]))
        store._db.execute("PRAGMA max_page_count = 100000")
        store.commit(Batch(pages=[page_row(1)]))
        assert len(store.load().pages) == 2

    def test_a_process_that_is_killed_lets_go(self, tmp_path):
        code = f"""
import os, pathlib, signal
from sharc_crawler.storage.sqlite import SqliteStore
store = SqliteStore(pathlib.Path({str(tmp_path)!r}))
os.kill(os.getpid(), signal.SIGKILL)
"""
        assert subprocess.run([sys.executable, "-c", code], timeout=280, check=False).returncode == -signal.SIGKILL
        self.open(tmp_path).close()

    def test_another_file_is_refused_and_left_alone(self, tmp_path):
        path = tmp_path / "frontier.db"
        path.write_bytes(b"not a database, but somebody's letters")
        for reading in (False, True):
            with pytest.raises(DataError, match=r"frontier\.db") as kept:
                SqliteStore(tmp_path, reading=reading)
            hold(tmp_path).close()  # it was let go, though the error is kept
            assert kept.value
        assert path.read_bytes().startswith(b"not a database")

    def test_damaged_state_is_said_to_be_so_by_those_who_close_it_too(self, tmp_path):
        store = self.open(tmp_path)
        store.commit(Batch(subsites={(0, n): subsite_row(n) for n in range(3)}))
        store.close()
        with sqlite3.connect(tmp_path / "frontier.db") as db:
            db.execute("UPDATE subsite SET branches = '[[]]'")
        with pytest.raises(DataError, match="is damaged"):
            load_state(tmp_path)

    @pytest.mark.parametrize(
        ("words", "why"),
        [
            ("DELETE FROM page WHERE page = 0", "it lacks pages"),
            ("DELETE FROM page WHERE page = 1", "it lacks pages"),
            ("UPDATE capture SET started = 'soon'", "could not convert"),
            ("UPDATE capture SET skipped = '\"x\"'", "is damaged"),
            (f"UPDATE capture SET spec = '{'[' * 5_000}'", "is damaged"),
        ],
    )
    def test_rows_that_are_missing_or_are_none_are_damage(self, tmp_path, words, why):
        store = self.open(tmp_path)
        visits = [visit_row(page)._replace(lease=page) for page in (0, 1)]
        store.commit(Batch([page_row(0), page_row(1)], visits, captures={0: capture_row()}))
        store.close()
        with closing(sqlite3.connect(tmp_path / "frontier.db")) as db, db:
            db.execute(words)
        with pytest.raises(DataError, match=f"{why}.*give resume=rebuild"):
            unreached(load_state(tmp_path))

    @pytest.mark.parametrize("version", [1, 99])
    def test_another_versions_schema_is_refused(self, tmp_path, version):
        with sqlite3.connect(tmp_path / "frontier.db") as db:
            db.execute(f"PRAGMA user_version = {version}")
            db.execute("CREATE TABLE page (somebody_elses TEXT)")
        for reading in (False, True):
            before = open_in(tmp_path)
            with pytest.raises(DataError, match=f"schema version {version}") as kept:
                SqliteStore(tmp_path, reading=reading)
            assert open_in(tmp_path) == before, f"though the error is kept: {kept.value}"
        self.holds_nobody_up(tmp_path)

    def test_a_file_that_was_begun_and_never_made_is_made(self, tmp_path):
        (tmp_path / "frontier.db").touch()
        (tmp_path / ".frontier.db").write_bytes(b"half a file")
        assert not SqliteStore.holds(tmp_path)
        store = self.open(tmp_path)
        assert not self.open(tmp_path, reading=True).load(), "others see its tables before anything is committed"
        store.commit(Batch([page_row(0)]))
        assert len(load_state(tmp_path).pages) == 1

    def holds_nobody_up(self, folder):
        """Whoever failed to open it does not hold it."""
        hold(folder).close()


def test_a_folder_says_by_which_store_it_is_kept(tmp_path):
    with pytest.raises(UsageError, match=r"holds no capture .*frontier\.db"), open_state(tmp_path):
        pass
    begin_state(tmp_path, "memory").close()
    assert kept_by(tmp_path) == "memory"
    with pytest.raises(UsageError, match=r"holds no capture .*'memory'"), open_state(tmp_path):
        pass
    store = begin_state(tmp_path, "sqlite")  # the former one had nothing
    store.commit(Batch([page_row(0)]))
    store.close()
    assert kept_by(tmp_path) == "sqlite"
    with pytest.raises(UsageError, match="SHARC_STORE=sqlite"):
        begin_state(tmp_path, "memory")
    assert len(load_state(tmp_path).pages) == 1


@pytest.mark.slow
@given(rows=st.lists(st.sampled_from(["page", "visit", "link", "part"]), max_size=6), text=st.text(max_size=5))
def test_batches_are_the_same_as_json_whatever_they_hold(rows, text):
    test_batches_are_the_same_as_json(rows, text)


@pytest.mark.parametrize(
    ("rows", "text"), [([], ""), (["visit"], "a"), (["page", "page", "visit", "link", "part"], "b")]
)
def test_batches_are_the_same_as_json(rows, text):
    batch = Batch()
    for number, row in enumerate(rows):
        batch.pages += [page_row(number, reason=text, hints=Hints(5.0, 1.0, "daily", 0.8))] if row == "page" else []
        batch.visits += [visit_row(number), visit_row(number, Slot.SECOND, finished=False)] if row == "visit" else []
        batch.links += [LinksRow(number, 1.5, (0, 1))] if row == "link" else []
        batch.subsites |= {(0, number): subsite_row(number)} if row == "part" else {}
    batch.captures = {0: capture_row(notes=(text,), skipped={text: 3}, audit={"share": 0.5})}
    batch.judgements = [JudgementRow(0, Verdict.COHERENT, Evidence.BYTES, text)]
    batch.rates, batch.hints = [(0, 0.5, text, math.inf), (1, 0.25, text, 2.5)], [(0, None), (1, Hints(5.0))]
    batch.members, batch.embeds = [(0, 0)], [(0, 1)]
    batch.hosts = {"h": HostRow("h", text, 1.0)}
    batch.novelties = {1: NoveltyRow(1, 0, 10.5, None, 9.0, 8.5, 10.0)}
    batch.outside = [OutsideRow(0, text, text, "seed")]
    batch.lastmods = [LastmodRow(0, 10.25, 5.0, 1.0)]
    text = to_json(batch)
    assert of_json(text) == of_json(joined([text])) == batch
    assert repr(of_json(joined([joined([text, text]), text])).visits) == repr(3 * of_json(text).visits), "types, too"


def test_the_port_has_no_third_implementation_without_checks():  # a part of a shared file is no store
    package = Path(__file__).resolve().parents[2] / "sharc_crawler" / "storage"
    with_commit = {path.stem for path in package.glob("*.py") if "def commit(self, batch" in path.read_text()}
    assert with_commit == {"memory", "sqlite", "sharing"}


def test_the_files_of_hundreds_of_sites_take_little_memory(tmp_path):
    with closing(SqliteStore(tmp_path)) as store:
        [(cache,)] = store._db.execute("PRAGMA cache_size")
    assert 0 < -cache * MOST <= 256 * 1024, "KiB, of as many as may be open"


def test_a_file_on_a_failing_disk_is_not_said_to_be_damaged(tmp_path):
    SqliteStore(tmp_path).close()
    (tmp_path / f"{FILE_NAME}-wal").mkdir()
    with pytest.raises(DataError, match="its disk is full or fails, or its folder may not be written to") as told:
        SqliteStore(tmp_path, reading=True)
    assert "rebuild" not in str(told.value)
