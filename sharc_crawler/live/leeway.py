"""Hosts that keep a crawl waiting do not take the place of others among the requests that are under way at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.archive.open_files import RESERVE, left
from sharc_crawler.live import private

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.core.engine import ExecutionEngine

    from sharc_crawler.model import Instant

SLOW = 2.0  #: seconds without an end, after which a request counts no more
MOST = 256  #: such requests; more count


class Leeway:
    """Raises the number of requests at once by those that are slow, as far as files may be opened for them."""

    def __init__(self, engine: ExecutionEngine) -> None:
        self._engine = engine
        self._at_once: int = engine.downloader.total_concurrency

    def look(self, begun: Iterable[Instant], now: Instant) -> None:
        """``begun``: when what is under way was decided. Called every second."""
        downloader = self._engine.downloader
        slow = sum(now - one > SLOW for one in begun)
        before = downloader.total_concurrency
        if not slow and before == self._at_once:
            return
        room = max(before - self._at_once, 0) + max(left() - RESERVE, 0)
        downloader.total_concurrency = self._at_once + min(slow, MOST, room)
        if downloader.total_concurrency > before:
            private.wake_up(self._engine)()
