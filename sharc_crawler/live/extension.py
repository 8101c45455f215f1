"""Runs through the crawl: first messages, the progress line, and more requests at once where hosts are slow."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from sharc_crawler.archive.open_files import RESERVE, left
from sharc_crawler.instants import second
from sharc_crawler.live import private
from sharc_crawler.live.beginning import session_of
from sharc_crawler.live.monitoring.progress import ProgressLine

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler

    from sharc_crawler.model import Instant

logger = logging.getLogger(__name__)

#: allocations between two garbage collections: Python's 700 cost a tenth of a crawl's processor time
OBJECTS = 5_000
STEP = 1.0  #: seconds that the system clock is set by at least, to be noted
#: settings of Scrapy that people give the spider ``site``, which has options of its own for them
INSTEAD = ("DEPTH_LIMIT", "DEPTH_PRIORITY", "JOBDIR", "RETRY_TIMES", "ROBOTSTXT_OBEY", "CLOSESPIDER_ITEMCOUNT")


class CaptureExtension:
    """Reports on a crawl while it runs, and when it ends."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._stopping: asyncio.Future[None] | None = None
        crawler.signals.connect(self.opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen for the beginning of the crawl."""
        return cls(crawler)

    def opened(self) -> None:
        """Start the progress line. Scrapy's warnings of certificates are dropped: the report notes them."""
        logging.getLogger("scrapy.core.downloader.tls").addFilter(_not_of_certificates)
        self._crawler.signals.connect(self.closed, signals.spider_closed)  # only if the crawl began
        session = session_of(self._crawler)
        if not session.drop_in:
            gc.set_threshold(OBJECTS)
        given = any(self._crawler.settings.getpriority(name) in (20, 40) for name in INSTEAD)  # project, command line
        if session.drop_in or session.config.output is None or given:
            from sharc_crawler.live.project.clashes import begin  # only in a project

            for line in begin(self._crawler, session.config, drop_in=session.drop_in):
                logger.warning(line)
        out = sys.stderr if session.config.progress else None
        self._line = ProgressLine(session.sites, session.clock.now(), out, session.memory.receiving)
        if session.gone_on and out is not None:
            from sharc_crawler.live.former.continuing import goes_on

            print(goes_on(session.sites), end="", file=out, flush=True)
        self._leeway = None if session.drop_in else Leeway(self._crawler.engine)  # in a project its own setting counts
        self._loop = create_looping_call(self._every_second)
        self._loop.start(1.0, now=False)
        if session.control:
            session.control.begin(session.clock.now())

    def _every_second(self) -> None:
        session, now = session_of(self._crawler), session_of(self._crawler).clock.now()
        if abs(step := session.clock.step()) >= STEP:
            way = f"{'back' if step < 0 else 'forward'} by {abs(step):,.0f} s at {second(now)}, by the time before"
            session.sites.note(f"the system clock was set {way}: the capture's times go on as if it had not been")
        self._line.show(now, session.pausing)
        for place in session.places.values():
            place.catch_up()
        if self._leeway:
            self._leeway.look((lease.fetch.decided for lease in session.leases.values()), now)
        if session.control and session.control.obey(now, self._line.text) and not self._stopping:
            self._stopping = asyncio.ensure_future(self._crawler.engine.close_spider_async(reason="stopped by order"))

    async def closed(self, reason: str) -> None:
        """Write everything before the crawl is over; ``reason`` is Scrapy's."""
        if self._loop.running:
            self._loop.stop()
        self._line.clear()
        from sharc_crawler.live.closing import close  # only needed at the end

        await close(self._crawler, session_of(self._crawler), reason)


def _not_of_certificates(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Remote certificate is not valid")


# -- hosts that keep a crawl waiting do not take the place of others ---------------------------------------------------


SLOW = 2.0  #: seconds after which a request without an answer counts as slow
MOST = 256  #: slow requests that others are added for


class Leeway:
    """Adds requests at once for those that are slow, as far as open files allow."""

    def __init__(self, engine: ExecutionEngine) -> None:
        self._engine = engine
        self._at_once: int = engine.downloader.total_concurrency

    def look(self, begun: Iterable[Instant], now: Instant) -> None:
        """Called each second; ``begun``: when the requests under way were decided."""
        downloader = self._engine.downloader
        slow = sum(now - start > SLOW for start in begun)
        before = downloader.total_concurrency
        if not slow and before == self._at_once:
            return
        room = max(before - self._at_once, 0) + max(left() - RESERVE, 0)
        downloader.total_concurrency = self._at_once + min(slow, MOST, room)
        if downloader.total_concurrency > before:
            private.wake_up(self._engine)()
