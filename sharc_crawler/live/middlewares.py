"""Two downloader middlewares: one makes revisits conditional, one archives every exchange before it counts."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

from sharc_crawler.archive.payloads import Original
from sharc_crawler.changes.payload import Payload, examine
from sharc_crawler.errors import SharcError
from sharc_crawler.live.addresses import AddressRefusedError
from sharc_crawler.live.exchanges import failed, rebuilt
from sharc_crawler.live.problems import plain
from sharc_crawler.live.requests import META_KEY, conditions, outcome_of
from sharc_crawler.live.session import session_of
from sharc_crawler.live.space import is_full
from sharc_crawler.live.wire import EXCHANGE_KEY
from sharc_crawler.model import Outcome, Result, Slot

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from sharc_crawler.model import CaptureRef, Exchange, Fetch

logger = logging.getLogger(__name__)

SENT_KEY = "sharc_sent"  #: when a request without wire tap was sent
NOT_MODIFIED = 304


class RevisitMiddleware:
    """Asks "has it changed?" at a revisit, where the first visit brought validators."""

    def process_request(self, request: Request) -> None:
        """Add the conditional headers, unless the project sets its own."""
        fetch: Fetch | None = request.meta.get(META_KEY)
        if fetch is not None and fetch.slot is Slot.SECOND:
            for name, value in conditions(fetch).items():
                request.headers.setdefault(name, value)


class ArchiveMiddleware:
    """Nearest to the downloader: what was exchanged is on disk before anybody else sees it, then it is an outcome.

    Without our scheduler it archives all the same; without an output folder it only observes.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._session = session_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Join the crawl's session."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """The last stop before the downloader: note when the request leaves."""
        request.meta[SENT_KEY] = self._session.clock.now()

    def process_response(self, request: Request, response: Response) -> Response:
        """Archive, then tell the lease. A write that fails fails the visit: it will be made again."""
        sent = request.meta.pop(SENT_KEY, None)
        if sent is None or "cached" in response.flags:
            self._not_asked(request)
            return response
        ended = self._session.clock.now()
        exchange = request.meta.pop(EXCHANGE_KEY, None) or rebuilt(request, response, sent, ended)
        fetch: Fetch | None = request.meta.get(META_KEY)
        try:
            capture = self._keep(exchange, fetch, response.status)
        except (OSError, SharcError) as error:
            if not self._for_want_of_room(fetch, error):
                logger.error("%s was fetched and cannot be archived: %s", request.url, error)
                self._tell(fetch, Outcome(Result.FAILED, exchange.started, ended, error=f"not archived: {error}"))
            raise IgnoreRequest(f"not archived: {error}") from error
        payload = self._payload(exchange, fetch, response.status)
        if response.request is None:
            response.request = request
        self._tell(fetch, outcome_of(response, exchange.started, exchange.ended, payload, capture))
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """An exchange that failed is archived as what it is."""
        sent = request.meta.pop(SENT_KEY, None)
        if isinstance(exception, IgnoreRequest) or sent is None:
            return
        ended = self._session.clock.now()
        exchange: Exchange = request.meta.pop(EXCHANGE_KEY, None) or failed(request, exception, sent, ended)
        error = plain(exception)
        fetch: Fetch | None = request.meta.get(META_KEY)
        capture = None
        try:
            capture = self._keep(exchange, fetch, None)
        except (OSError, SharcError) as problem:
            self._for_want_of_room(fetch, problem)
            error = f"{error}; and not archived: {problem}"
        # An address that is refused stays refused: no second attempt.
        result = Result.REFUSED if isinstance(exception, AddressRefusedError) else Result.FAILED
        self._tell(fetch, Outcome(result, exchange.started, ended, error=error, capture=capture))

    def _not_asked(self, request: Request) -> None:
        """Another middleware (a cache) answered: nothing was exchanged, so nothing is known of the page's state."""
        now = self._session.clock.now()
        error = "answered by a cache or another middleware, not by the server"
        self._tell(request.meta.get(META_KEY), Outcome(Result.REFUSED, now, now, error=error))

    def _payload(self, exchange: Exchange, fetch: Fetch | None, status: int) -> Payload:
        """What it will be compared by. What is cut short shows nothing of the whole: no judgement by bytes."""
        if fetch is None or status == NOT_MODIFIED or exchange.truncated is not None:
            return Payload()
        compared = fetch.slot is not Slot.ONLY or self._session.history is not None
        return examine(exchange.response, self._session.detector if compared else None)

    def _keep(self, exchange: Exchange, fetch: Fetch | None, status: int | None) -> CaptureRef | None:
        writer = self._session.writer(fetch.site if fetch else None)
        if writer is None or not exchange.url.startswith("http"):  # local files and data belong in no archive
            return None
        if fetch is not None and fetch.slot is Slot.SECOND and status == NOT_MODIFIED:
            original = self._first_visit(exchange, fetch)
            if original:
                return writer.write_revisit(exchange, original)
        return writer.write(exchange)

    def _first_visit(self, exchange: Exchange, fetch: Fetch) -> Original | None:
        pages = self._session.frontier.pages
        digest = pages.digests[fetch.page]
        return Original(exchange.url, pages.started[fetch.page], digest) if digest else None

    def _for_want_of_room(self, fetch: Fetch | None, error: Exception) -> bool:
        """Where the disk is full, the fetch does not count: it is made again when there is room."""
        lease = self._session.leases.get(fetch.lease) if fetch else None
        if lease is None or not is_full(error):
            return False
        lease.unwritten = str(error)
        return True

    def _tell(self, fetch: Fetch | None, outcome: Outcome) -> None:
        lease = self._session.leases.get(fetch.lease) if fetch else None
        if lease is not None:
            lease.outcome = outcome
