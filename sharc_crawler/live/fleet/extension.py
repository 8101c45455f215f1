"""A worker's end: what it holds is handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sharc_crawler.live.beginning import session_of
from sharc_crawler.live.extension import CaptureExtension
from sharc_crawler.live.failures.failing import COMPLETE, EXIT_CODE, FAILED

if TYPE_CHECKING:
    from sharc_crawler.live.fleet.spider import FleetSpider


class FleetExtension(CaptureExtension):
    """The extension of a worker, whose sites have their reports when it ends."""

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
