"""Scrapy's ``RobotsTxtMiddleware``, but each request waits for robots.txt by itself.

In Scrapy's, all that wait for one robots.txt share a ``Deferred``: only the first gets the rules, and the others pass
what is forbidden (docs/upstream.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.robotstxt import RobotParser
    from scrapy.settings import BaseSettings

THEIRS = f"{RobotsTxtMiddleware.__module__}.{RobotsTxtMiddleware.__qualname__}"


def install(settings: BaseSettings) -> None:
    """Replace Scrapy's, unless the project configures it."""
    base = settings["DOWNLOADER_MIDDLEWARES_BASE"]
    if THEIRS in base and not {THEIRS, RobotsTxtMiddleware} & {*settings["DOWNLOADER_MIDDLEWARES"]}:
        base[OneByOne] = base.pop(THEIRS)


class OneByOne(RobotsTxtMiddleware):
    """The first request to a host asks for its rules; the others wait until they are there."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._queues: dict[str, list[Deferred[None]]] = {}  # by host, while its rules are asked for

    async def robot_parser(self, request: Request, *spider: Any) -> RobotParser | None:
        """The rules for a request."""
        host = urlparse_cached(request).netloc
        if (queue := self._queues.get(host)) is not None:
            queue.append(turn := Deferred[None]())
            await maybe_deferred_to_future(turn)
            return await super().robot_parser(request, *spider)
        self._queues[host] = queue = []
        try:
            return await super().robot_parser(request, *spider)
        finally:
            del self._queues[host]
            for turn in queue:
                turn.callback(None)
