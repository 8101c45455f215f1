"""Room on the disk: a crawl pauses before its disk is full, and goes on when there is room again."""

from __future__ import annotations

import errno
import logging
import shutil
import sqlite3
import time
from typing import TYPE_CHECKING

from sharc_crawler.errors import SharcError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.model import Seconds

logger = logging.getLogger(__name__)

LOOK_AGAIN: Seconds = 5.0  #: while a crawl pauses
_FULL = {errno.ENOSPC, errno.EDQUOT}


def is_full(error: BaseException) -> bool:
    """Could something not be written for want of room?

    >>> is_full(OSError(errno.ENOSPC, "No space left on device")), is_full(OSError(errno.EIO, "Input/output error"))
    (True, False)
    """
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorname", "") in {"SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"}
    if isinstance(error, SharcError) and error.__cause__:
        return is_full(error.__cause__)
    return isinstance(error, OSError) and error.errno in _FULL


class Space:
    """The file system that a capture is written to.

    Parameters
    ----------
    folder: of the capture; None: nothing is written
    wanted: bytes that must be free for anything more to be fetched

    """

    def __init__(self, folder: Path | None, wanted: int) -> None:
        self._folder = folder
        self._wanted = wanted
        self._pausing = False
        self._not_before = 0.0

    def lacking(self) -> str | None:
        """Why nothing more should be fetched; None: there is room."""
        if self._folder is None or not self._wanted:
            return None
        free = shutil.disk_usage(self._folder).free
        if free >= self._wanted:
            return None
        return f"{free / 1e6:.1f} MB are free for {self._folder}, SHARC_MIN_FREE={self._wanted} wants more"

    def require(self) -> None:
        """Raise :class:`~sharc_crawler.errors.UsageError` where a crawl had better not begin."""
        if reason := self.lacking():
            raise UsageError(f"{reason}; make room or choose another output folder")

    def pause(self, reason: str) -> None:
        """Nothing more for a while."""
        if not self._pausing:
            logger.warning("The crawl pauses: %s. Make room: it goes on by itself.", reason)
        self._pausing = True
        self._not_before = time.monotonic() + LOOK_AGAIN

    def waits(self) -> Seconds:
        """Seconds until it is worth looking again; 0: not pausing, or time to look."""
        return max(0.0, self._not_before - time.monotonic()) if self._pausing else 0.0

    def go_on(self) -> None:
        """There is room."""
        if self._pausing:
            logger.warning("There is room again: the crawl goes on.")
        self._pausing = False
