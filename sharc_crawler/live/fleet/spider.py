"""| What Scrapy runs in a worker: a spider without pages of its own, its scheduler, its extension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future

from sharc_crawler.live import private
from sharc_crawler.live.beginning import session_of
from sharc_crawler.live.extension import CaptureExtension
from sharc_crawler.live.failures.exit_codes import COMPLETE, EXIT_CODE, FAILED
from sharc_crawler.live.fleet.purse import LOOK
from sharc_crawler.live.requests import META_KEY
from sharc_crawler.live.scheduler import SharcScheduler
from sharc_crawler.live.spiders.site import CaptureSpider
from sharc_crawler.model import Done, Fetch, Wait

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from sharc_crawler.frontier.hosts import Pace
    from sharc_crawler.live.config import Config
    from sharc_crawler.live.fleet.clerk import Clerk
    from sharc_crawler.live.fleet.worker import FleetWorker
    from sharc_crawler.state.spec import CaptureSpec


class FleetSpider(CaptureSpider):
    """A spider whose sites are the worker's."""

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
        """Whether this worker safely holds a request's site, and a turn of its machine."""
        fetch = request.meta.get(META_KEY)
        return fetch is None or (self._clerk.may_send(fetch.site) and self.worker.turns.may_send(fetch))

    def new_pace(self, machine: str) -> Pace:
        """The pace of a machine that other workers may ask, too."""
        return self.worker.turns.pace(machine)

    def capture_specs(self, config: Config) -> list[CaptureSpec]:  # noqa: ARG002 - the spider's
        """None: sites are added later."""
        return []


class FleetScheduler(SharcScheduler):
    """Sends a fetch once the journal has what it rests on; sites come and go."""

    _worker: FleetWorker

    def open(self, spider: Spider) -> Deferred[None] | None:
        """The worker begins."""
        return deferred_from_coro(self._open_all(cast("FleetSpider", spider)))

    async def _open_all(self, spider: FleetSpider) -> None:
        if (opened := super().open(spider)) is not None:
            await maybe_deferred_to_future(opened)
        self._worker = spider.worker
        await self._worker.begin(self._session, private.wake_up(self._crawler.engine), self._end)

    def has_pending_requests(self) -> bool:
        """Always, as sites may be added."""
        return True

    def _end(self) -> None:
        if self._crawler.engine is not None and self._crawler.engine.running:
            self._closing = deferred_from_coro(self._crawler.engine.close_spider_async(reason="finished"))

    def _end_site(self, site: str, error: Exception) -> None:
        self._worker.endings.cannot_go_on(site, error)

    def _decision(self) -> Fetch | Wait | Done:
        purse = self._worker.purse
        if purse.empty:
            return Wait(self._session.clock.now() + LOOK)
        decision = self._worker.sendable() or self._decided()
        if isinstance(decision, Fetch):
            purse.request()
        return decision

    def _decided(self) -> Fetch | Wait | Done:
        while isinstance(decision := super()._decision(), Fetch) and not self._worker.may_go(decision):
            pass
        return decision


class FleetExtension(CaptureExtension):
    """The extension of a worker, whose sites have had their reports."""

    async def closed(self, reason: str) -> None:
        """Hand over what is left, and finish all files."""
        if self._loop.running:
            self._loop.stop()
        session = session_of(self._crawler)
        spider = cast("FleetSpider", self._crawler.spider)
        await spider.worker.leave()
        await session.close()
        session.let_go()
        self._crawler.stats.set_value(EXIT_CODE, FAILED if reason == "failed" else COMPLETE)
