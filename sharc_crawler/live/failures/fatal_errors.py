"""| Errors that end a crawl: their messages, and how the crawl is closed as failed."""

from __future__ import annotations

import logging
import re
import sys
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.defer import deferred_from_coro

from sharc_crawler.errors import SharcError
from sharc_crawler.options.reading import ARGUMENTS
from sharc_crawler.report.words import printable

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

LOOPS = ("asyncio", "twisted")  #: loggers of errors that nobody caught
_GIVEN = re.compile(rf"(?<![\w.-])(?P<name>{'|'.join(name for name, row in ARGUMENTS.items() if row.setting)})=")


def as_settings(text: str) -> str:
    """Rewrite a message about arguments for somebody who gives settings.

    >>> as_settings("output='captures' is not writable; give resume=1, or for=2h")
    "SHARC_OUTPUT='captures' is not writable; give SHARC_RESUME=1, or for=2h"
    """
    return _GIVEN.sub(lambda given: f"{ARGUMENTS[given['name']].setting}=", text)


logger = logging.getLogger(__name__)


def sentence(error: Exception) -> str:
    """The sentence that says why the crawl stops."""
    if isinstance(error, SharcError):
        return f"The crawl stops: {error}."
    return f"The crawl stops: {type(error).__name__}: {error}. That is a fault of sharc-crawler's: please report it."


def in_settings(error: SharcError) -> SharcError:
    """The error in terms of settings, logged in one line even at interpreter exit, when nothing can be imported."""
    for name in LOOPS:
        filters = logging.getLogger(name).filters
        if _late not in filters:  # a runner that is not awaited drops the error at interpreter exit
            filters.insert(0, _late)
    return type(error)(as_settings(str(error)))


def _late(record: logging.LogRecord) -> bool:
    if record.exc_info and isinstance(record.exc_info[1], SharcError):
        in_one_line(record, record.exc_info[1])
    return True


def fails(crawler: Crawler) -> None:
    """Have ``scrapy crawl``, or whoever runs the crawler, see the crawl as failed."""

    def stopped() -> None:
        crawler.spider = None  # so that the runner counts it as failed (``bootstrap_failed``)

    crawler.signals.connect(stopped, signals.engine_stopped, weak=False)


def unbegun() -> None:
    """Drop Scrapy's log records on closing a crawl that could not begin: its last line already says why."""
    for name in ("scrapy.core.engine", "scrapy.utils.signal"):
        logging.getLogger(name).addFilter(_tells)


def _tells(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    closing = isinstance(error, RuntimeError) and isinstance(error.__context__, SharcError)
    return not (closing or (isinstance(error, AssertionError) and "CoreStats.spider_closed" in record.getMessage()))


def refused(error: SharcError) -> None:
    """Write the error to stderr, and to the log file if there is one: some schedulers show only that."""
    sys.stderr.write(f"sharc: error: {printable(str(error))}\n")
    if any(isinstance(handler, logging.FileHandler) for handler in logging.getLogger().handlers):
        logger.error("%s", error)


def end_as_failed(crawler: Crawler, why: str) -> Deferred[None]:
    """Close the spider, and report the crawl as failed."""
    tell(why)
    fails(crawler)
    return deferred_from_coro(crawler.engine.close_spider_async(reason="failed"))


def unended(crawler: Crawler, error: Exception, way_out: str) -> None:
    """Report a bug of ours at the end of the crawl, which Scrapy would log and ignore, and mark the crawl as failed."""
    why = (
        f"The end of the crawl cannot be written: {type(error).__name__}: {error}. That is a fault of sharc-crawler's:"
        f" please report it. All downloads are on disk; with a version that has it mended {way_out}"
    )
    logger.error(why)
    tell(why)
    fails(crawler)


def in_one_line(record: logging.LogRecord, error: SharcError) -> None:
    """Make the log record say what to do, without a traceback."""
    text = "sharc: error" if record.name in LOOPS else record.getMessage().removesuffix(f": {error}")
    record.msg, record.args, record.exc_info = f"{text}: {error}", (), None
    if record.name in LOOPS:
        record.name = "sharc_crawler"
        tell(str(error))


def tell(why: str) -> None:
    """Write it to stderr if no log shows it (``--nolog``)."""
    if (shown := logging.getLogger().handlers) and all(isinstance(handler, logging.NullHandler) for handler in shown):
        sys.stderr.write(f"sharc: error: {printable(why)}\n")
