"""Which store a folder's state is kept in, and that no other one takes it."""

from __future__ import annotations

import errno
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.state.rows import Batch, HostRow
from sharc_crawler.storage import opening
from sharc_crawler.storage.beside import load_state, open_state, says_it_holds_state
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.opening import begin_state, holds_state, kept_by, set_state_aside, store_kind
from sharc_crawler.storage.sqlite import FILE_NAME, SqliteStore

SAMPLE = Batch(hosts={"h.example": HostRow("h.example", None, 1.0)})


def filled(folder) -> None:
    store = begin_state(folder, "sqlite")
    store.commit(SAMPLE)
    store.close()


def test_the_usual_store_needs_no_name(tmp_path) -> None:
    assert kept_by(tmp_path) == "sqlite"
    assert store_kind("sqlite") is SqliteStore
    assert not holds_state(tmp_path)
    filled(tmp_path)
    assert holds_state(tmp_path)
    assert not (tmp_path / ".store").exists()
    assert load_state(tmp_path).hosts == SAMPLE.hosts


def test_any_thread_may_write_the_usual_store_and_close_it(tmp_path) -> None:
    store = begin_state(tmp_path, "sqlite")
    with ThreadPoolExecutor(1) as other:
        other.submit(store.commit, SAMPLE).result()
        other.submit(store.close).result()
    assert load_state(tmp_path).hosts == SAMPLE.hosts


def test_another_store_is_named_in_the_folder_and_let_go_of(tmp_path) -> None:
    begin_state(tmp_path, "memory").close()
    assert (tmp_path / ".store").read_text() == "memory\n"
    assert kept_by(tmp_path) == "memory"
    assert store_kind("memory") is MemoryStore
    assert not holds_state(tmp_path), "of memory nothing is left"
    filled(tmp_path)
    assert kept_by(tmp_path) == "sqlite"


def test_state_is_gone_on_with_by_the_store_that_holds_it(tmp_path) -> None:
    filled(tmp_path)
    with pytest.raises(UsageError, match="kept by store 'sqlite', not 'memory': give SHARC_STORE=sqlite"):
        begin_state(tmp_path, "memory")
    filled(tmp_path)  # its own may


def test_on_a_full_disk_state_keeps_the_name_of_its_store(tmp_path, monkeypatch) -> None:
    begin_state(tmp_path, "memory").close()

    def full(self: Path, _: str, **__: object) -> None:
        self.write_bytes(b"")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk:
        disk.setattr(Path, "write_text", full)
        begin_state(tmp_path, "memory").close()
        assert kept_by(tmp_path) == "memory"
        (tmp_path / ".store").unlink()
        with pytest.raises(UsageError, match="No space left on device"):
            begin_state(tmp_path, "memory")
    begin_state(tmp_path, "memory").close()  # with room
    assert kept_by(tmp_path) == "memory"


def test_where_there_is_none_the_file_or_the_store_is_named(tmp_path) -> None:
    missing = re.escape(f"(its state, {FILE_NAME}, is missing or empty)")
    with pytest.raises(UsageError, match=missing), open_state(tmp_path):
        pass
    (tmp_path / ".store").write_text("memory\n")
    with pytest.raises(UsageError, match="its state, of store 'memory', is missing"):
        load_state(tmp_path)


def test_readers_do_not_keep_the_owner_out(tmp_path) -> None:
    owner = begin_state(tmp_path, "sqlite")
    owner.commit(SAMPLE)
    with open_state(tmp_path) as reader:
        assert reader.load().hosts == SAMPLE.hosts
        owner.commit(Batch(hosts={"other": HostRow("other", None, 1.0)}))
    owner.close()
    assert load_state(tmp_path).hosts.keys() == {"h.example", "other"}


def test_what_is_set_aside_is_kept_under_another_name(tmp_path) -> None:
    filled(tmp_path)
    kept = (tmp_path / FILE_NAME).read_bytes()
    set_state_aside(tmp_path)
    assert not holds_state(tmp_path)
    assert kept in [path.read_bytes() for path in tmp_path.iterdir()]


class Watched(MemoryStore):
    """Says whether it was closed."""

    closed = 0

    @staticmethod
    def holds(folder) -> bool:
        return True

    def close(self) -> None:
        Watched.closed += 1


def test_a_store_that_only_a_folder_names_is_not_imported_unless_settings_name_it_too(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(opening, "_trusted", set())
    monkeypatch.setattr(Watched, "holds", staticmethod(lambda _: False))
    (tmp_path / ".store").write_text(f"{__name__}.Watched\n")
    with pytest.raises(UsageError):
        load_state(tmp_path)
    assert holds_state(tmp_path), "it may"
    opening.trust(f"{__name__}.Watched")
    assert not holds_state(tmp_path), "asked, it says that it does not"


def test_who_read_state_closes_it_whatever_happens_meanwhile(tmp_path, monkeypatch) -> None:
    (tmp_path / ".store").write_text(f"{__name__}.Watched\n")
    monkeypatch.setenv("SHARC_STORE", f"{__name__}.Watched")
    before = Watched.closed
    load_state(tmp_path)
    with pytest.raises(ZeroDivisionError), open_state(tmp_path):
        raise ZeroDivisionError
    assert Watched.closed == before + 2


def test_that_a_folder_holds_state_is_seen_without_its_store(tmp_path) -> None:
    assert not says_it_holds_state(tmp_path)
    (tmp_path / ".store").write_text("not-installed-here\n")
    assert says_it_holds_state(tmp_path)
    (tmp_path / ".store").unlink()
    filled(tmp_path)
    assert says_it_holds_state(tmp_path)


class Half:
    """Lacks nearly all methods of a store."""

    def commit(self, batch) -> None: ...


def test_what_is_no_store_is_told_with_what_it_lacks() -> None:
    with pytest.raises(
        UsageError, match=r"is no store: it lacks captures, close, exchanges, holds, .*FrontierStore has"
    ):
        store_kind(f"{__name__}.Half")
    assert store_kind(f"{__name__}.MemoryStore") is MemoryStore
