"""| The downloader middleware: makes revisits conditional, and archives every exchange before it counts as a visit."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from sharc_crawler.archive.options import Original
from sharc_crawler.bodies.spool import Spool
from sharc_crawler.changes.http import parse_response
from sharc_crawler.errors import SharcError
from sharc_crawler.frontier.hosts import TAKEN
from sharc_crawler.live.beginning import session_of
from sharc_crawler.live.reading.readings import WANTS, Order, Wants
from sharc_crawler.live.requests import META_KEY, SENT_KEY, conditions, outcome_of
from sharc_crawler.live.wire.handler import EXCHANGE_KEY
from sharc_crawler.model import EMBEDDED, CaptureRef, Exchange, Fetch, Instant, Kind, Outcome, Result, Slot

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from sharc_crawler.archive.former_answers import FormerAnswer
    from sharc_crawler.live.browser.browsing import Browsing
    from sharc_crawler.live.project.archive_only import ArchiveOnly
    from sharc_crawler.live.reading.readings import WhenRead

NOT_MODIFIED = 304
UNBORNE = "304 with another ETag than it was asked by, or to an answer that is lost: asked again in full"


def _length(exchange: Exchange, response: Response) -> int:
    """Bytes of the body; that of a large response is in a file."""
    large = parse_response(exchange.response) if isinstance(exchange.response, Spool) else None
    return len(large.raw) - large.body_start if large else len(response.body)


class ArchiveMiddleware:
    """Stands next to the downloader: records each exchange and has it written before it counts as a visit.

    A project's callbacks and pipelines see only what is on disk; for our own spider links are read meanwhile.
    Without our scheduler it still archives; without an output folder it only observes.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._session = session_of(crawler)
        self._settings = crawler.settings
        self._verifies = crawler.settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")
        self._alone: ArchiveOnly | None = None
        if self._session.drop_in:
            from sharc_crawler.live.project.archive_only import alone  # only in a project

            self._alone = alone(crawler, self._session)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Join the crawl's session."""
        return cls(crawler)

    def process_request(self, request: Request) -> Response | None:
        """Note when the request is sent; one whose answer a former capture has is not sent.

        A second download is made conditional, unless the project set conditions itself.
        """
        fetch: Fetch | None = request.meta.get(META_KEY)
        if fetch is not None and fetch.attempt == TAKEN:
            from sharc_crawler.live.former.validators import take  # only in a collection

            take(self, self._session, fetch)
            return Response(request.url)
        for name, value in conditions(fetch, request.method).items() if fetch is not None else ():
            request.headers.setdefault(name, value)
        request.meta[SENT_KEY] = self._session.clock.now()
        return None

    def _exchange(self, request: Request, response: Response, sent: Instant | None) -> Exchange | None:
        """The exchange; ``None``: another middleware answered."""
        if sent is None or "cached" in response.flags:
            return None
        kept: Exchange | None = request.meta.pop(EXCHANGE_KEY, None)
        if kept is not None:
            return kept
        from sharc_crawler.live.wire.exchanges import handed_on  # only with another download handler

        return handed_on(self, self._session, self._settings, request, response, sent)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Archive the exchange and record the outcome. If writing fails, the visit has failed and is repeated."""
        sent = request.meta.pop(SENT_KEY, None)
        fetch: Fetch | None = request.meta.get(META_KEY)
        if fetch is not None and fetch.attempt == TAKEN:
            return response
        if (exchange := self._exchange(request, response, sent)) is None:
            from sharc_crawler.live.failures.failed_exchanges import not_asked  # rarely needed

            return not_asked(self, self._session, request, response)
        if self.is_void(fetch):
            return response
        outcome = outcome_of(response, _length(exchange, response), exchange.started, exchange.ended)
        outcome = outcome._replace(sent=exchange.sent)
        asked = self._asked_by_former(fetch, response.status)
        known = self._session.former
        former = known.answer(fetch, outcome.validators) if asked and fetch and known else None
        written = self.keep(exchange, fetch, response.status, former)
        if fetch and former:
            from sharc_crawler.live.former.validators import unchanged  # only in a collection

            outcome = unchanged(outcome, fetch, former)
        elif asked:
            outcome = outcome._replace(result=Result.FAILED, error=UNBORNE)
        reading = self._read(exchange, fetch, outcome, response.url, former) if fetch else None
        if fetch is not None and (exchange.before or (exchange.untrusted and not self._verifies)):
            from sharc_crawler.live.failures.failed_exchanges import remark  # rarely needed

            remark(self._session.sites.of(fetch).capture, fetch, exchange, verified=self._verifies)
        self.tell(fetch, outcome, written, reading)
        if fetch is not None and self._session.browsing is not None:
            self._browse(self._session.browsing, exchange, fetch, outcome, response.url)
        if written is not None and (self._session.drop_in or fetch is None):
            try:
                await asyncio.shield(written)
            except SharcError as error:
                raise IgnoreRequest(f"not archived: {error}") from error
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Archive the failed exchange."""
        from sharc_crawler.live.failures.failed_exchanges import failed  # only after an error

        failed(self, self._session, request, exception)

    def withheld(self, fetch: Fetch | None) -> None:
        """Give back the lease of a request that was not sent."""
        lease = self._session.leases.get(fetch.lease) if fetch else None
        if lease is not None:
            lease.withheld = True

    def is_void(self, fetch: Fetch | None) -> bool:
        """Has another worker taken the site over? Then the exchange is neither counted nor written."""
        return fetch is not None and not self._session.drop_in and fetch.lease not in self._session.leases

    def _browse(self, browsing: Browsing, exchange: Exchange, fetch: Fetch, outcome: Outcome, url: str) -> None:
        """Show a page in a browser; keep a resource for pages that ask for it."""
        browsing.keep(fetch, exchange)
        if browsing.shows(fetch, outcome) and exchange.truncated is None:
            browsing.show(self._session.leases[fetch.lease], exchange, outcome, self.order(fetch, outcome, url))

    def _asked_by_former(self, fetch: Fetch | None, status: int) -> bool:
        """Is this a 304 to a first visit that carried a former capture's validators?"""
        first = fetch is not None and fetch.slot is not Slot.SECOND and bool(fetch.validators)
        return first and status == NOT_MODIFIED and self._session.former is not None

    def _read(
        self, exchange: Exchange, fetch: Fetch, outcome: Outcome, url: str, former: FormerAnswer | None
    ) -> WhenRead:
        """Have the answer (or the former one that it refers to) read: digests, fingerprint and links."""
        whole = outcome.status != NOT_MODIFIED and exchange.truncated is None  # a part says nothing about the whole
        order = self.order(fetch, outcome, url)._replace(digests=whole or former is not None)
        return self._session.readers.read(former.raw if former else exchange.response, order)

    def order(self, fetch: Fetch, outcome: Outcome, url: str) -> Order:
        """What to read of an answer."""
        known = None
        if fetch.slot is Slot.SECOND and fetch.kind is Kind.PAGE:  # equal bytes have equal links
            known = self._session.sites.of(fetch).pages.remembered(fetch.page).digest
        traps = self._session.sites.of(fetch).capture.traps
        page, shown = fetch.kind is Kind.PAGE, self._session.browsing is not None
        words, says = page and (traps is not None or shown), False
        if traps is not None and fetch.kind is Kind.PROBE:
            from sharc_crawler.addresses.unlikely import looked_at  # only for sites that may be endless

            words, says = True, bool(looked_at(fetch.url))
        wants = self._wants(fetch, outcome)
        masks, compared = self._session.masks.get(fetch.site), self._compared(fetch)
        text = page and shown
        return Order(url, wants, compared=compared, words=words, says=says, text=text, known=known, masks=masks)

    def _wants(self, fetch: Fetch, outcome: Outcome) -> Wants:
        """What our spider needs of the answer; a project's own spider parses for itself."""
        if outcome.result is not Result.OK or self._session.drop_in:
            return Wants.NOTHING
        if fetch.kind in EMBEDDED and fetch.slot is Slot.SECOND:
            return Wants.NOTHING
        if fetch.kind is Kind.SITEMAP and self._session.sites.of(fetch).capture.spec.mode == "instant":
            return Wants.NEWS
        return WANTS[fetch.kind]

    def _compared(self, fetch: Fetch) -> bool:
        """May the content be compared with another download's?"""
        session = self._session
        again = fetch.kind is Kind.PAGE and session.sites.of(fetch).capture.mode.compares
        return fetch.slot is not Slot.ONLY or session.history is not None or again

    def keep(
        self, exchange: Exchange, fetch: Fetch | None, status: int | None = None, former: FormerAnswer | None = None
    ) -> asyncio.Future[CaptureRef] | None:
        """Have the exchange written; ``None``: it is not archived."""
        if not self._session.archives or not exchange.url.startswith("http"):  # file: and data: URLs are not archived
            return None
        if fetch and fetch.kind in (Kind.SITEMAP, Kind.ROBOTS):  # certificates rely on how these were read here
            exchange = replace(exchange, evidence=True)
        unchanged = fetch is not None and fetch.slot is Slot.SECOND and status == NOT_MODIFIED
        original = former.original if former else None
        if fetch and unchanged:
            original = self._first_visit(exchange, fetch)
        written = self._session.archive(fetch.site if fetch else None, exchange, original)
        if self._alone:
            written.add_done_callback(self._alone.look_at)
        return written

    def _first_visit(self, exchange: Exchange, fetch: Fetch) -> Original | None:
        visit = self._session.sites.of(fetch).pages.remembered(fetch.page)
        return Original(exchange.url, visit.started, visit.digest) if visit.digest else None

    def tell(
        self,
        fetch: Fetch | None,
        outcome: Outcome,
        written: asyncio.Future[CaptureRef] | None = None,
        reading: WhenRead | None = None,
    ) -> None:
        """Record the outcome in the lease."""
        lease = self._session.leases.get(fetch.lease) if fetch else None
        if lease is not None:
            lease.outcome, lease.written, lease.reading = outcome, written, reading
