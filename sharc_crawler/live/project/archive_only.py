"""An archive under another scheduler than ours: finishes its files, and stops the spider if it cannot write."""

from __future__ import annotations

import asyncio
import logging

from scrapy import signals
from scrapy.crawler import Crawler

from sharc_crawler.errors import SharcError
from sharc_crawler.live.extension import CaptureExtension
from sharc_crawler.live.failures.failed_exchanges import unwritable
from sharc_crawler.live.failures.fatal_errors import end_as_failed, fails, sentence
from sharc_crawler.live.session import Session
from sharc_crawler.model import CaptureRef

logger = logging.getLogger(__name__)


class ArchiveOnly:
    """Finishes the files, as no extension of ours does."""

    def __init__(self, crawler: Crawler, session: Session) -> None:
        self._crawler, self._session = crawler, session
        self._stops = False
        crawler.signals.connect(self.closed, signals.spider_closed)

    def look_at(self, written: asyncio.Future[CaptureRef]) -> None:
        """End the crawl as failed where nothing more can be archived."""
        error = None if written.cancelled() else written.exception()
        if error and not self._stops and (why := unwritable(error)):
            self._stops = True
            logger.error(said := sentence(why))
            end_as_failed(self._crawler, said)

    async def closed(self) -> None:
        """Give all files their final names."""
        try:
            await self._session.close()
            for place in self._session.places.values():
                place.ended()
        except (OSError, SharcError) as error:
            logger.error("The WARC files cannot be finished: %s; a crawl in the same folder finishes them", error)
            fails(self._crawler)
        finally:
            self._session.let_go()


def alone(crawler: Crawler, session: Session) -> ArchiveOnly | None:
    """``None``: our extension is there, and does more."""
    there = crawler.extensions.middlewares if crawler.extensions else ()
    return None if any(isinstance(each, CaptureExtension) for each in there) else ArchiveOnly(crawler, session)
