"""| The scheduler of a project's own spider: its requests are the pages, its middlewares redirect and retry."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from sharc_crawler.live.failures.exit_codes import ends_the_crawl
from sharc_crawler.live.monitoring.progress import Snapshot
from sharc_crawler.live.project.dropin import DropIn
from sharc_crawler.live.requests import META_KEY, Lease
from sharc_crawler.live.scheduler import SharcScheduler
from sharc_crawler.model import NO_VALIDATORS, Done, Fetch, Outcome, Wait

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


class DropInScheduler(SharcScheduler):
    """Leaves what is a project's own to :class:`~sharc_crawler.live.project.dropin.DropIn`."""

    _drop_in: DropIn

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._continued: deque[Request] = deque()  #: redirects and retries of the project's own middlewares

    async def _begin(self) -> None:
        self._drop_in = DropIn(self._crawler, self._session)
        await self._drop_in.begin()

    async def _close(self, reason: str) -> None:
        await super()._close(reason)
        await self._drop_in.close(reason)

    def has_pending_requests(self) -> bool:
        """Whether requests are left, including those for no web server."""
        return bool(self._drop_in.direct) or super().has_pending_requests()

    #: Scrapy's reports of its engine (telnet's ``est()``) ask for the lengths of both
    dqs = None

    @property
    def mqs(self) -> range:
        """A queue with the number of downloads to come as its length, which extensions ask for."""
        return range(Snapshot.of(self._session.sites).left)

    def enqueue_request(self, request: Request) -> bool:
        """Queue a request of the spider, or continue a visit with one of its middlewares."""
        lease = self._continuation(request)
        if lease is not None:
            if not self._drop_in.goes_on(lease, request, self._released.get(lease.fetch.lease)):
                return False
            lease.hops += 1
            self._released.pop(lease.fetch.lease, None)
            self._continued.append(request)
            return True
        checked = self._drop_in.checked(request)
        return checked if isinstance(checked, bool) else bool(self._queued(request, checked))

    @ends_the_crawl
    def _queued(self, request: Request, text: str) -> bool:
        self._drop_in.queue(request, text)
        return True

    def _before_visits(self) -> Request | None:
        if self._continued:
            return self._release(self._continued.popleft())
        if self._drop_in.direct:
            return self._drop_in.released(self._drop_in.direct.popleft())
        self._drop_in.follow_slots()
        return None

    def _decision(self) -> Fetch | Wait | Done:
        return self._drop_in.next(self._session.clock.now())

    def _request(self, fetch: Fetch) -> Request:
        return self._drop_in.request(fetch)

    def _release(self, request: Request) -> Request:
        return self._drop_in.released(super()._release(request))

    def _continuation(self, request: Request) -> Lease | None:
        """The lease that a redirect or retry continues; a callback that copies ``meta`` continues none."""
        fetch = request.meta.get(META_KEY)
        lease = self._session.leases.get(fetch.lease) if fetch else None
        if lease is None:
            return None
        hops = int(request.meta.get("redirect_times", 0)) + int(request.meta.get("retry_times", 0))
        return lease if hops > lease.hops else None

    def _ending(self, lease: Lease, outcome: Outcome) -> None:
        if lease.hops:  # the validators are of the last hop, but a revisit starts at the first
            outcome = lease.outcome = outcome._replace(validators=NO_VALIDATORS)
        self._drop_in.ending(lease, outcome)

    def _over(self, lease: Lease) -> None:
        super()._over(lease)
        self._drop_in.ended(lease)
