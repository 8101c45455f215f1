"""A store whose URLs are walked over again and again, and that tells how far the work is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sharc_crawler.frontier.rows import UrlRow
    from sharc_crawler.frontier.store import FrontierStore

#: over the URLs of a capture: what there is, sums, details, the lines of report and of certificate
WALKS = 5
TELL = 1000  #: URLs after which is told


class Walked:
    """What report and certificate read of a store; ``progress`` is given how many URLs were read, and of how many."""

    def __init__(self, store: FrontierStore, progress: Callable[[int, int], None]) -> None:
        self.captures, self.hosts = store.captures, store.hosts
        self.subsites, self.outside = store.subsites, store.outside
        self._store = store
        self._progress = progress
        self._known: dict[int, int] = {}  #: URLs by capture, once they were all read
        self._read = 0

    def urls(self, capture: int) -> Iterator[UrlRow]:
        """The URLs of a site capture; progress is told as they are read."""
        before = self._read
        for row in self._store.urls(capture):
            self._read += 1
            if capture in self._known and not self._read % TELL:
                self._progress(self._read, max(WALKS * sum(self._known.values()), self._read))
            yield row
        self._known.setdefault(capture, self._read - before)
