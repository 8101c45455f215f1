"""No line of a page where nobody would see it: to make one costs as much as to decide which page is next."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.logformatter import LogFormatter

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.logformatter import LogFormatterResult


class QuietFormatter(LogFormatter):
    """Scrapy's, but that pages are told of only where ``LOG_LEVEL`` is DEBUG; the capture's own log has them all."""

    def __init__(self, level: str | int = logging.DEBUG) -> None:
        number = logging.getLevelNamesMapping().get(str(level), level)
        self._shown = not isinstance(number, int) or number <= logging.DEBUG

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """At the crawl's level."""
        return cls(crawler.settings.get("LOG_LEVEL", logging.DEBUG))

    def crawled(self, request: Request, response: Response, spider: Spider) -> LogFormatterResult | None:  # type: ignore[override]
        """``None``: no line."""
        return super().crawled(request, response, spider) if self._shown else None
