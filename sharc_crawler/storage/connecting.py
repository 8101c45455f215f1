"""A history store's file is opened: shared with other processes, or as it is, to be read."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from time import monotonic, sleep
from typing import TYPE_CHECKING

from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.storage.failing import Connection
from sharc_crawler.storage.schema import is_current, migrate

if TYPE_CHECKING:
    from pathlib import Path

BUSY = 60.0  #: seconds to wait for another process's transaction


def for_writing(path: str | Path) -> Connection:
    """The file, made where there is none, in this version's schema."""
    # The engine's loop and its store share a thread, but pools may call from another, one at a time.
    db = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False, factory=Connection)
    share(db)
    db.execute("PRAGMA synchronous = NORMAL")
    migrate(db)
    return db


def for_reading(path: Path) -> Connection:
    """The file as it is; of a former version's, a copy in memory in this version's schema."""
    db = sqlite3.connect(readable(path), uri=True, timeout=BUSY, isolation_level=None, factory=Connection)
    db.execute("PRAGMA query_only = ON")
    if is_current(db):
        return db
    copy = sqlite3.connect(":memory:", isolation_level=None, factory=Connection)
    with closing(db):
        db.backup(copy)
    migrate(copy)
    return copy


def readable(path: Path) -> str:
    """The URI by which a file is read beside its owner; where nobody can write to its folder, as it is."""
    log = path.with_name(f"{path.name}-wal")
    fixed = not os.access(path.parent, os.W_OK) and not (log.is_file() and log.stat().st_size)
    # mode=ro would leave the files of a log behind that it may not remove
    return f"{path.absolute().as_uri()}?{'immutable=1' if fixed else 'mode=rw'}"


def share(db: sqlite3.Connection) -> None:
    """Switch to WAL; SQLite's own wait for others does not cover this switch, so that it is tried again here."""
    deadline = monotonic() + BUSY
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except StoreUnavailable as error:
            if "locked" not in str(error) or monotonic() > deadline:
                raise
            sleep(0.01)
        else:
            return
