"""Open SQLite files that other processes use, too; connections that raise our errors."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from shutil import disk_usage
from time import monotonic, sleep
from typing import Any, Literal

from sharc_crawler.errors import DataError, StoreFull, StoreUnavailable
from sharc_crawler.storage.sqlite_errors import BUSY, said_of

_OF_DISK = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN")


def of_disk(error: Exception) -> bool:
    """Did the disk fail, or was it full? Then the file itself may be intact."""
    name: str = getattr(error.__cause__ or error, "sqlite_errorname", "")
    return (name.startswith(_OF_DISK) and name != "SQLITE_IOERR_SHORT_READ") or isinstance(error, StoreFull)


def cannot_be_read(path: Path, error: Exception, way_out: str) -> DataError:
    """The error for frontier state that cannot be read; ``way_out``: what to do if it is damaged."""
    if of_disk(error):
        return DataError(
            f"frontier state {path} cannot be read ({error}): its disk is full or fails, or its folder may not be"
            " written to. Once that is mended, give the same command again"
        )
    return DataError(f"frontier state {path} is damaged ({error}); {way_out}")


def readable(path: Path) -> str:
    """The URI for reading a file that another process may have open; immutable if its folder cannot be written to."""
    log = path.with_name(f"{path.name}-wal")
    full = not log.exists() and disk_usage(path.parent).free < 1e5  # nobody has it open, as there is no log
    fixed = (full or not os.access(path.parent, os.W_OK)) and not (log.is_file() and log.stat().st_size)
    # not mode=ro, which leaves the files of a log behind
    return f"{path.absolute().as_uri()}?{'immutable=1' if fixed else 'mode=rw'}"


def share(db: sqlite3.Connection) -> None:
    """Switch to WAL, retrying while other processes lock the file: SQLite's busy time-out does not cover this."""
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


class Connection(sqlite3.Connection):
    """A connection whose statements raise our errors, which begin with ``name``."""

    name = "database"

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Like that of :class:`sqlite3.Connection`."""
        with said_of(self.name):
            return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> sqlite3.Cursor:
        """Like that of :class:`sqlite3.Connection`."""
        with said_of(self.name):
            return super().executemany(sql, parameters)

    def __exit__(self, *raised: Any) -> Literal[False]:
        with said_of(self.name):
            super().__exit__(*raised)
        return False
