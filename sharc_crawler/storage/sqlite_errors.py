"""SQLite's errors as those of our ports."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sharc_crawler.errors import StoreFull, StoreUnavailable

BUSY = 60.0  #: seconds to wait for another process's transaction
_FULL = {"SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"}


@contextmanager
def said_of(what: str) -> Iterator[None]:
    """Raise :class:`~sharc_crawler.errors.StoreUnavailable`, naming ``what``, for what SQLite raises in the block."""
    try:
        yield
    except sqlite3.Error as error:
        kind = StoreFull if is_full(error) else StoreUnavailable
        raise kind(f"{what}: {error}") from error


def is_full(error: sqlite3.Error) -> bool:
    """Whether SQLite failed for want of space."""
    return getattr(error, "sqlite_errorname", "") in _FULL
