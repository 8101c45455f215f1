"""The state of a capture's folder, read beside its owner; whether it has one at this moment; what killed ones left."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.frontier.rows import Batch
from sharc_crawler.frontier.store import FrontierStore
from sharc_crawler.locks import is_locked
from sharc_crawler.storage.folders import LOCK
from sharc_crawler.storage.opening import NAMED, USUAL, kept_by, store_of_folder
from sharc_crawler.storage.sqlite import FILE_NAME, WAY_OUT, SqliteStore

#: what commands write into a folder of captures: nothing else there is theirs to remove
_WRITTEN = r"index\.html|(?:report|certificate|signature|timestamp)\b.*\.(?:html|jsonl?|tsr)|.+\.(?:warc\.gz|cdxj)"


@contextmanager
def open_state(folder: Path) -> Iterator[FrontierStore]:
    """A capture folder's store, read beside its owner.

    Raises :class:`~sharc_crawler.errors.UsageError` where there is none.
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
    """All that a capture folder's store holds; raises as :func:`open_state`."""
    with open_state(folder) as store:
        return store.load()


def _usual_file(folder: Path) -> str:
    name = kept_by(folder)
    return FILE_NAME if name == USUAL else f"of store {name!r}"


def says_it_holds_state(folder: Path) -> bool:
    """Does a folder say that it holds state, by its files alone? A store of somebody else's need not be installed."""
    return (folder / NAMED).is_file() or SqliteStore.holds(folder)


def without_rebuilding(error: DataError) -> DataError:
    """What is said of damaged state, where it cannot be made again."""
    return DataError(str(error).replace(WAY_OUT, "choose another folder"))


def is_held(folder: Path) -> bool:
    """Does a process hold the state of a folder at this moment? Whoever held it last stays named."""
    return is_locked(folder / LOCK)


def forget_killed(folder: Path, name: str = "") -> None:
    """Remove the drafts that processes of this machine left in a folder when they were killed; none while it is held.

    ``name``: only drafts of this file, and of these. Where nothing can be removed, nor written, whoever writes says so.
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
    except PermissionError:  # it is somebody else's
        pass
    return True


def begin_copy(folder: Path) -> FrontierStore:
    """State that lies elsewhere, safe, and is copied here to be read: nothing is synced."""
    return SqliteStore(folder, copies=True)


def move_copy(folder: Path, to: Path) -> None:
    """Give a folder the state that was copied into another one, and is closed; what it had is replaced."""
    (folder / FILE_NAME).replace(to / FILE_NAME)
