"""| Exit codes of a crawl. An unexpected error in the scheduler ends the crawl at once, as failed."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from sharc_crawler.errors import SharcError

if TYPE_CHECKING:
    from sharc_crawler.live.scheduler import SharcScheduler

    P = ParamSpec("P")
    S = TypeVar("S", bound=SharcScheduler)

T = TypeVar("T")

EXIT_CODE = "sharc/exit_code"  #: stat that holds the exit code of the ``crawl`` command
COMPLETE, FAILED, NOTHING_CAPTURED, INTERRUPTED = 0, 1, 4, 5


def ends_the_crawl(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T | None]:
    """End the crawl where a method of the scheduler raises: Scrapy would log the error and call it again, for ever."""

    @functools.wraps(method)
    def tried(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return method(self, *args, **kwargs)
        except Exception as error:
            from sharc_crawler.live.failures.fatal_errors import sentence  # rarely needed

            self.give_up(sentence(error), exc_info=not isinstance(error, SharcError))
            return None

    return tried


def without_tracebacks() -> None:
    """Log our own errors in one line instead of a traceback, which helps nobody."""
    for name in ("asyncio", "twisted", "scrapy.core.scraper", "scrapy.downloadermiddlewares.robotstxt"):
        logging.getLogger(name).addFilter(_in_one_line)


def _in_one_line(record: logging.LogRecord) -> bool:
    if record.exc_info and isinstance(record.exc_info[1], SharcError):
        from sharc_crawler.live.failures.fatal_errors import in_one_line  # rarely needed

        in_one_line(record, record.exc_info[1])
    return True
