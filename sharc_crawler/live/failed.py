"""A crawl that has failed: what is said, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.defer import deferred_from_coro

from sharc_crawler.errors import SharcError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred


def sentence(error: Exception) -> str:
    """For what the crawl stops."""
    if isinstance(error, SharcError):
        return f"The crawl stops: {error}."
    return f"The crawl stops: {type(error).__name__}: {error}. That is a fault of sharc-crawler's: please report it."


def fails(crawler: Crawler) -> None:
    """``scrapy crawl``, and whoever else runs the crawler, tells a failure from success when it has ended."""

    def stopped() -> None:
        crawler.spider = None  # what a runner takes for failed (its ``bootstrap_failed``)

    crawler.signals.connect(stopped, signals.engine_stopped, weak=False)


def end_as_failed(crawler: Crawler, reason: str) -> Deferred[None]:
    """Close the spider, as a failure."""
    fails(crawler)
    return deferred_from_coro(crawler.engine.close_spider_async(reason=reason))
