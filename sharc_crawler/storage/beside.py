"""Read the state of a capture's folder, even while a crawl holds it; tell whether one does; remove stale drafts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.locks import is_locked
from sharc_crawler.state.rows import Batch
from sharc_crawler.state.store import FrontierStore
from sharc_crawler.storage.folders import LOCK
from sharc_crawler.storage.opening import NAMED, USUAL, kept_by, store_of_folder
from sharc_crawler.storage.sqlite import FILE_NAME, WAY_OUT, SqliteStore

#: names of files that commands write into a folder of captures: only their drafts are removed
_WRITTEN = r"index\.html|(?:report|certificate|signature|timestamp)\b.*\.(?:html|jsonl?|tsr)|.+\.(?:warc\.gz|cdxj)"


@contextmanager
def open_state(folder: Path) -> Iterator[FrontierStore]:
    """A capture folder's store, opened for reading.

    Raises :class:`~sharc_crawler.errors.UsageError` if there is none.
    """
    kind = store_of_folder(folder)
    if not kind.holds(folder):
        raise UsageError(
            f"{str(folder)!r} holds no capture (its state, {_usual_file(folder)}, is missing or empty);"
            " name a folder given as output="
        )
    store = kind(folder, reading=True)
    try:
        yield store
    finally:
        store.close()


def load_state(folder: Path) -> Batch:
    """All state in a capture's folder; raises as :func:`open_state`."""
    with open_state(folder) as store:
        return store.load()


def _usual_file(folder: Path) -> str:
    name = kept_by(folder)
    return FILE_NAME if name == USUAL else f"of store {name!r}"


def says_it_holds_state(folder: Path) -> bool:
    """Does a folder hold state, judging by its files only? A plug-in's store need not be installed."""
    return (folder / NAMED).is_file() or SqliteStore.holds(folder)


def without_rebuilding(error: DataError) -> DataError:
    """The error for damaged state, without the advice to rebuild it."""
    return DataError(str(error).replace(WAY_OUT, "choose another folder"))


def is_held(folder: Path) -> bool:
    """Does a process hold the state of a folder at this moment?"""
    return is_locked(folder / LOCK)


def forget_killed(folder: Path, name: str = "") -> None:
    """Remove the drafts that killed processes of this machine left in a folder, unless a process holds it.

    ``name``: only drafts of this file. Errors are ignored: a later attempt to write reports them.
    """
    for path in () if is_held(folder) else folder.glob(".*.*"):
        draft = re.fullmatch(rf"\.+({re.escape(name) or _WRITTEN})(?:\.\d+)*\.(\d{{1,7}})", path.name)
        if draft and path.is_file() and not _runs(int(draft[2])):
            with suppress(OSError):
                path.unlink()


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it belongs to another user
        pass
    return True


def begin_copy(folder: Path) -> FrontierStore:
    """A store for a copy of state that is safe elsewhere, so nothing is synced."""
    return SqliteStore(folder, copies=True)


def move_copy(folder: Path, to: Path) -> None:
    """Move a closed copy of state into a folder, replacing its state."""
    (folder / FILE_NAME).replace(to / FILE_NAME)
