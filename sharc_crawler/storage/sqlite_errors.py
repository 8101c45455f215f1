"""Turn SQLite's errors into those of our ports."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sharc_crawler.errors import StoreFull, StoreUnavailable

BUSY = 60.0  #: seconds to wait for other processes' transactions
_FULL = {"SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"}


@contextmanager
def said_of(what: str) -> Iterator[None]:
    """Turn SQLite's errors in the block into :class:`~sharc_crawler.errors.StoreUnavailable` that names ``what``."""
    try:
        yield
    except sqlite3.Error as error:
        kind = StoreFull if is_full(error) else StoreUnavailable
        raise kind(f"{what}: {error}") from error


def is_full(error: sqlite3.Error) -> bool:
    """Did SQLite fail because a disk is full?"""
    return getattr(error, "sqlite_errorname", "") in _FULL
