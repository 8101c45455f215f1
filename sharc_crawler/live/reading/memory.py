"""| The memory that response bodies may take, over all hosts, and the folder for larger ones."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakSet

from sharc_crawler.bodies.spool import LARGE
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sharc_crawler.bodies.spooling import Spooling
    from sharc_crawler.live.wire.tap import Tap

_PREFIX = ".bodies-"  #: of the folder, inside the capture's
_SHARE = 8  #: the default is one part in so many of the machine's memory
_LEAST = 64 << 20  #: bytes, if the system does not say how much it has
ONE = 2 * LARGE  #: bytes that one more response may take: as received, and as Scrapy gets it


class MemoryBudget:
    """Counts the bytes of responses under way. ``limit``: bytes; 0: an eighth of the machine's memory."""

    def __init__(self, limit: int = 0) -> None:
        self.limit = limit or share_of_machine()
        self.taken = 0  #: by responses being received
        self.large: WeakSet[Tap] = WeakSet()  #: among these, those that are in files
        self._folder: Path | None = None
        self._made: tempfile.TemporaryDirectory[str] | None = None

    def is_used_up(self, held: int) -> bool:
        """Whether another request may exceed the limit, with the bytes ``held``. One may always be under way."""
        used = self.taken + held
        return used > 0 and used + ONE > self.limit

    def receiving(self) -> str:
        """The part of the progress line on large responses being received."""
        if not self.large:
            return ""
        from sharc_crawler.report.words import size  # rarely needed

        return f", {size(sum(tap.size for tap in self.large))} of {counted(len(self.large), 'large file')} received"

    def lie_in(self, folder: Path) -> None:
        """Put large bodies into a capture's folder, and remove those of a killed crawl."""
        self._folder = folder
        for left in folder.glob(f"{_PREFIX}*"):
            shutil.rmtree(left, ignore_errors=True)

    def spooling(self) -> Spooling:
        """A new file for a large body."""
        if self._made is None:
            self._made = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=self._folder, ignore_cleanup_errors=True)
        from sharc_crawler.bodies.spooling import Spooling  # only for large ones

        return Spooling(Path(self._made.name))

    def close(self) -> None:
        """Remove the folder, once nothing is under way."""
        if self._made is not None:
            self._made.cleanup()
            self._made = None


def share_of_machine() -> int:
    """An eighth of the machine's memory."""
    try:
        return max(_LEAST, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _SHARE)
    except (AttributeError, ValueError, OSError):
        return _LEAST


_memories: WeakKeyDictionary[Crawler, MemoryBudget] = WeakKeyDictionary()


def memory_of(crawler: Crawler) -> MemoryBudget:
    """The memory budget of a crawl."""
    memory = _memories.get(crawler)
    if memory is None:
        memory = _memories[crawler] = MemoryBudget()
    return memory
