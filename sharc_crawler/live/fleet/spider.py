"""The spider of a worker: it has no pages of its own, and none to begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sharc_crawler.live.requests import META_KEY
from sharc_crawler.live.spiders.site import CaptureSpider

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from sharc_crawler.frontier.hosts import Pace
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.live.config import Config
    from sharc_crawler.live.fleet.clerk import Clerk
    from sharc_crawler.live.fleet.worker import FleetWorker


class FleetSpider(CaptureSpider):
    """Its sites are the worker's."""

    name = "fleet"

    def __init__(self, worker: FleetWorker, clerk: Clerk, crawler: Crawler) -> None:
        super().__init__()
        self.worker = worker
        self._clerk = clerk
        self._set_crawler(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *arguments: Any, **_: Any) -> Self:
        """Make a spider with its worker."""
        worker, clerk = arguments
        return cls(worker, clerk, crawler)

    def may_send(self, request: Request) -> bool:
        """Does this worker hold the site of a request, and a turn of its machine, as far as it may rely on that?"""
        fetch = request.meta.get(META_KEY)
        return fetch is None or (self._clerk.may_send(fetch.site) and self.worker.turns.may_send(fetch))

    def new_pace(self, machine: str) -> Pace:
        """The pace of a machine that other workers may ask, too."""
        return self.worker.turns.pace(machine)

    def capture_specs(self, config: Config) -> list[CaptureSpec]:  # noqa: ARG002 - the spider's
        """No captures: sites come later."""
        return []
