"""The scheduler of a worker: a page is asked for when the journal has what that rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future

from sharc_crawler.live import private
from sharc_crawler.live.fleet.purse import LOOK
from sharc_crawler.live.scheduler import SharcScheduler
from sharc_crawler.model import Fetch, Wait

if TYPE_CHECKING:
    from scrapy import Spider
    from twisted.internet.defer import Deferred

    from sharc_crawler.live.fleet.spider import FleetSpider
    from sharc_crawler.live.fleet.worker import FleetWorker
    from sharc_crawler.model import Done


class FleetScheduler(SharcScheduler):
    """Its sites come and go while it runs."""

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
        """Sites may come at any time."""
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
