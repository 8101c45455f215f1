"""| Room on the disk: a crawl pauses before its disk is full, and goes on when there is room again."""

from __future__ import annotations

import errno
import logging
import math
import shutil
import time
from pathlib import Path

from sharc_crawler.errors import SharcError, StoreFull, UsageError
from sharc_crawler.model import Seconds

logger = logging.getLogger(__name__)

LOOK_AGAIN: Seconds = 5.0  #: between two looks while a crawl pauses
LONGEST_PAUSE: Seconds = 320.0  #: before writing is tried again after many failures
LEAST = 1_000_000  #: bytes needed beside those that found no room, for the state
_FULL = {errno.ENOSPC, errno.EDQUOT}


def is_full(error: BaseException) -> bool:
    """Could something not be written for want of room?

    >>> is_full(OSError(errno.ENOSPC, "No space left on device")), is_full(OSError(errno.EIO, "Input/output error"))
    (True, False)
    """
    cause = error.__cause__ if isinstance(error, SharcError) else None
    full = is_full(cause) if cause else isinstance(error, OSError) and error.errno in _FULL
    return full or isinstance(error, StoreFull)


class Space:
    """A capture's file system (``folder``: None if nothing is written); ``wanted``: bytes to be kept free."""

    def __init__(self, folder: Path | None, wanted: int) -> None:
        self._folder = folder
        self._wanted = wanted
        self.fault = ""  #: why it pauses, if not for want of room
        self._needed = 0  #: bytes that must be free to go on, after a write failed
        self._next_pause = LOOK_AGAIN
        self._since: float | None = None  #: when the pause began
        self._lacked = False  #: the pause is for want of free bytes
        self._not_before = 0.0
        self._roomy = 0.0  #: until when there is known to be room

    def lacking(self) -> str | None:
        """Why nothing more should be fetched; ``None``: there is room, or was a moment ago."""
        if (now := time.monotonic()) < self._roomy:
            return None
        free = self._free()
        if free >= self._wanted:
            self._roomy = now + 0.1
            return None
        return f"{free / 1e6:.1f} MB are free for {self._folder}, SHARC_MIN_FREE={self._wanted} wants more"

    def require(self) -> None:
        """Raise :class:`~sharc_crawler.errors.UsageError` if there is too little room to begin."""
        if reason := self.lacking():
            raise UsageError(f"{reason}; make room or choose another output folder")

    def pause(self, reason: str, pause: Seconds = LOOK_AGAIN) -> None:
        """Pause the crawl for a while."""
        now = time.monotonic()
        if self._since is None:
            logger.warning("The crawl pauses: %s. Make room, or repair the disk: then it continues.", reason)
            self._since = now
        self._lacked |= self._free() < max(self._needed, self._wanted)
        self._not_before = now + pause

    def refused(self, reason: str, size: int = 0, fault: str = "") -> None:
        """Pause after a write of ``size`` bytes failed; longer each time, as free bytes do not show a quota."""
        self._needed, self.fault = max(self._needed, LEAST + size), fault
        self.pause(reason if fault else f"{reason} ({self._needed / 1e6:.1f} MB are needed)", self._next_pause)

    def wrote(self) -> None:
        """Note that something was written."""
        self._next_pause = LOOK_AGAIN

    def waits(self) -> Seconds:
        """Seconds until the next attempt; 0: not pausing, or there may be room."""
        if self._since is None:
            return 0.0
        now = time.monotonic()
        if now >= self._not_before and self._free() < self._needed:
            self._not_before = now + LOOK_AGAIN
        return max(0.0, self._not_before - now)

    def paused(self) -> Seconds | None:
        """Seconds that the present pause has lasted; ``None``: there is none."""
        return None if self._since is None else time.monotonic() - self._since

    def go_on(self) -> None:
        """End a pause, as there is or may be room."""
        logger.warning("%s: the crawl continues.", "There is room again" if self._lacked else "It is tried again")
        if self._needed:
            self._next_pause = min(2 * self._next_pause, LONGEST_PAUSE)
        self._since, self._needed, self._lacked, self.fault = None, 0, False, ""

    def _free(self) -> float:
        return math.inf if self._folder is None else shutil.disk_usage(self._folder).free
