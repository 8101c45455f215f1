"""A project's requests under our order; its callbacks, meta, errbacks and pipelines work as before.

Each host is a site capture. A request goes to its callback when the strategy decides; a revisit of ours goes to no
callback (``SHARC_REVISIT_CALLBACKS=True``: to its own). Requests other than GET are sent once, at once.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.misc import build_from_crawler, load_object

from sharc_crawler.addresses.urls import canonical, without_credentials
from sharc_crawler.live.former.continuing import Continuation
from sharc_crawler.live.project import download_slots
from sharc_crawler.live.project.beginning import hostname
from sharc_crawler.live.project.middleware_notes import Secrets, led, note_hops, repeats
from sharc_crawler.live.project.resuming import LOST, Keeper
from sharc_crawler.live.requests import META_KEY, Lease
from sharc_crawler.model import (
    Done,
    Fetch,
    Instant,
    Kind,
    Outcome,
    PageId,
    Phase,
    Result,
    Seconds,
    Sighting,
    Slot,
    Wait,
)
from sharc_crawler.plural import counted
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.spec import CaptureSpec

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.live.session import Session
    from sharc_crawler.state.rows import Batch

logger = logging.getLogger(__name__)
PRIORITY = "Requests have a priority, which has no effect: the strategy decides the order (SHARC_STRATEGY=%s)"
_Name = tuple[str, "PageId"]


def _name(fetch: Fetch) -> _Name:
    return fetch.site, fetch.page


def _unkept(number: int) -> str:
    return f"SHARC_RESUME could not keep {counted(number, 'request')}: being cut off loses those without an answer"


#: in ``meta``: things that a callback must close (scrapy-playwright's pages), so revisits go without
FOR_CALLBACKS = frozenset({"playwright_include_page", "playwright_page"})


async def _kept_from_callbacks(*_: Any, **__: Any) -> None:
    """The callback of revisits: does nothing, as the first visit made the items."""


def _filter(crawler: Crawler) -> BaseDupeFilter:
    """The project's duplicate filter, without JOBDIR: one that knew former runs would drop what these had queued."""
    settings = crawler.settings
    crawler.settings = settings.copy()
    crawler.settings.frozen = False
    crawler.settings.set("JOBDIR", None, "cmdline")
    try:
        made: BaseDupeFilter = build_from_crawler(load_object(settings["DUPEFILTER_CLASS"]), crawler)
        return made
    finally:
        crawler.settings = settings


class DropIn:
    """Keeps the requests of queued pages, and opens a capture per host.

    The project's fingerprinter and duplicate filter decide which requests are equal; canonical URLs name the pages in
    reports, and find their rates.
    """

    def __init__(self, crawler: Crawler, session: Session) -> None:
        self._crawler = crawler
        self._session = session
        self._requests: dict[_Name, Request] = {}  #: by site and page
        self._open: dict[str, Frontier] = {}
        self._rounds: dict[str, int] = {}
        self._slots: dict[str, set[str]] = {}  #: by download slot, the hosts of its requests
        self._asked: set[str] = set()  #: slots that requests have reached since the last look
        self._secrets = Secrets(session)
        self._told_of_priority = False
        crawler.signals.connect(self._reached, signals.request_reached_downloader)
        self._same: Counter[str] = Counter()  #: requests beyond the first, by name
        self.filter: BaseDupeFilter = _filter(crawler)
        self._unkept: Counter[str] = Counter()  #: requests that could not be kept, by site
        self._hops: dict[_Name, dict[bytes, int]] = {}  #: redirects' fingerprints with their lease, by page
        self.keeper = Keeper(crawler, session.sites) if session.config.resume else None
        self.direct: deque[Request] = deque()  #: requests that need no web server (``data:``, ``file:``): sent at once

    async def begin(self) -> None:
        """Begin the crawl, or go on where it was cut off."""
        if (opened := self.filter.open()) is not None:
            await maybe_deferred_to_future(opened)
        if self.keeper is not None and (saved := await Continuation(self._session).with_spider()) is not None:
            self.restore(*saved)

    async def close(self, reason: str) -> None:
        """The crawl is over."""
        if (closed := self.filter.close(reason)) is not None:
            await maybe_deferred_to_future(closed)

    def checked(self, request: Request) -> str | bool:
        """What to keep of a new request ("" without ``SHARC_RESUME``), or whether it is queued already.

        ``False``: the project's duplicate filter knows it. Errors of the project's code are raised here, as with
        Scrapy's own scheduler.
        """
        if self.keeper is None:
            return False if self.known(request) else ""
        if self.keeper.known(request):
            return True
        return False if self.known(request) else self.keeper.text(request)

    def queue(self, request: Request, text: str) -> None:
        """Queue a new request, and what is to be kept of it, in one transaction.

        All requests of a callback's turn share it: it is written before the next decision, and before the end of the
        visit that brought them.
        """
        given = request.priority and "retry_times" not in request.meta  # Scrapy lowers the priority of retries itself
        if given and not self._told_of_priority:
            self._told_of_priority = True
            logger.warning(PRIORITY, self._session.config.strategy)
        self._count("enqueued")
        if not request.url.startswith(("http:", "https:")):
            self.direct.append(request)
            return
        host, slot = hostname(request.url), download_slots.slot_name(self._crawler.engine.downloader, request)
        frontier = self._frontier(host, request)
        (name, again), site = self._name(frontier.capture, request), frontier.capture.spec.site
        is_page = request.method == "GET" and not again and not self._is_listing(request)
        kind = Kind.PAGE if is_page else Kind.RESOURCE
        with frontier.ledger.one_step(later=True):
            sighting = Sighting(request.url, kind, "spider", key=name, host=slot)
            frontier.schedule([sighting], self._session.clock.now())
            page = frontier.capture.seen.get(name)
            if text and self.keeper is not None:
                self.keeper.keep(site, page, request, text)
            elif self.keeper is not None:
                self._note_unkept(frontier)
        self._requests[site, page] = request
        self._slots.setdefault(slot, set()).add(host)

    def _is_listing(self, request: Request) -> bool:
        """Does a SitemapSpider ask for robots.txt or a sitemap? These are no pages of the site."""
        reads = getattr(self._crawler.spider, "_parse_sitemap", None)
        return reads is not None and request.callback == reads

    def _note_unkept(self, frontier: Frontier) -> None:
        site = frontier.capture.spec.site
        before, self._unkept[site] = self._unkept[site], self._unkept[site] + 1
        frontier.note(_unkept(before + 1), _unkept(before) if before else "")

    def restore(self, saved: Mapping[str, Batch], texts: Mapping[str, str]) -> None:
        """Restore a former run's queue and duplicate filter; ``texts``: its kept requests."""
        assert self.keeper is not None, "only SHARC_RESUME goes on"
        for frontier in self._session.sites:
            host = hostname(frontier.capture.spec.seeds[0])
            self._rounds[host] = self._rounds.get(host, 0) + 1
            self._open[host] = frontier
            for slot in frontier.ledger.hosts:
                self._slots.setdefault(slot.name, set()).add(host)
        for site, page, request, seen in self.keeper.restore(saved, texts):
            if seen:
                self.filter.request_seen(request)
            if page is not None and may_fetch_again(self._session.sites[site], page):
                self._requests[site, page] = request

    def known(self, request: Request) -> bool:
        """Has the project's filter seen the request? The filter logs and counts it, as under Scrapy's scheduler."""
        if request.dont_filter or not self.filter.request_seen(request):
            return False
        assert self._crawler.spider is not None, "it made the request"
        self.filter.log(request, self._crawler.spider)
        return True

    def goes_on(self, lease: Lease, request: Request, before: Request | None) -> bool:
        """Does a visit continue with this redirect or retry? Not if the filter knows it."""
        if lease.fetch.slot is not Slot.SECOND:
            if not self._is_repeated(lease, request):
                if self.known(request):
                    return False
                if not request.dont_filter:
                    lease.hopped.append(request)
            self._count("enqueued")
        if repeats(before, request):
            lease.repeated += 1
        else:
            lease.led = without_credentials(request.url)
        return True

    def _is_repeated(self, lease: Lease, request: Request) -> bool:
        """Is this a repeated visit? It may be redirected to where the failed one was."""
        led = self._hops.setdefault(_name(lease.fetch), {})
        fingerprint = self._crawler.request_fingerprinter.fingerprint(request)
        return led.setdefault(fingerprint, lease.fetch.lease) != lease.fetch.lease

    def released(self, request: Request) -> Request:
        """Count a request that is sent now; revisits are not counted, as the spider did not make them."""
        fetch: Fetch | None = request.meta.get(META_KEY)
        if fetch is None or fetch.slot is not Slot.SECOND:
            self._count("dequeued")
        return request

    def _count(self, what: str) -> None:
        """Count as Scrapy's own scheduler does."""
        self._crawler.stats.inc_value(f"scheduler/{what}")
        self._crawler.stats.inc_value(f"scheduler/{what}/memory")

    def _name(self, capture: SiteCapture, request: Request) -> tuple[str, bool]:
        """The name of a request in reports: its canonical URL, made unique; and whether it had to be."""
        plain = request.method == "GET" and not request.body
        name = (canonical(request.url) if plain else None) or f"{request.method} {request.url}"
        unique = name
        while unique in capture.seen:  # also in a former run
            self._same[name] += 1
            unique = f"{name} (request {1 + self._same[name]})"
        return unique, unique != name

    def _frontier(self, host: str, request: Request) -> Frontier:
        """The host's capture; a new round if the visits of the last one are over."""
        frontier = self._open.get(host)
        if frontier is None or frontier.capture.phase not in (Phase.OPENING, Phase.VISIT):
            number = self._rounds[host] = self._rounds.get(host, 0) + 1
            config = self._session.config
            spec = CaptureSpec(
                site=host if number == 1 else f"{host} ({number})",
                seeds=(request.url,),
                strategy=config.strategy,
                sitemaps=(),
                size=config.size,
                discover=False,
                resources=True,
                settings={
                    "spider": self._session.name,
                    "history": config.history or "",
                    "run": self._session.run,
                    **({"resume": "1"} if config.resume else {}),
                },
            )
            frontier = self._open[host] = self._session.open(spec, seeded=False)
        return frontier

    def next(self, now: Instant) -> Fetch | Wait | Done:
        """What to do now; requests of a former run that could not be kept are refused."""
        while isinstance(decision := self._session.sites.next(now), Fetch) and _name(decision) not in self._requests:
            assert self.keeper is not None, "only SHARC_RESUME goes on"
            self._session.sites.finished(decision, Outcome(Result.REFUSED, now, now, error=LOST))
        return decision

    def request(self, fetch: Fetch) -> Request:
        """The request to send for a lease."""
        request = self._requests[_name(fetch)]
        if fetch.slot is not Slot.SECOND or self._session.config.revisit_callbacks:
            if fetch.slot is Slot.SECOND:
                request = request.copy()  # the next request may need other conditional headers
            request.meta[META_KEY] = fetch
            if self.keeper is not None:
                self.keeper.began(fetch)
            return request
        return request.replace(
            callback=_kept_from_callbacks,
            errback=_kept_from_callbacks,
            cb_kwargs={},
            meta={
                **{name: value for name, value in request.meta.items() if name not in FOR_CALLBACKS},
                META_KEY: fetch,
                "handle_httpstatus_list": [304],
                "dont_cache": True,
            },
            dont_filter=True,
        )

    def ending(self, lease: Lease, outcome: Outcome) -> None:
        """Add to an outcome what the project's middlewares did."""
        lease.outcome = led(lease, outcome)
        if lease.hops:
            note_hops(self._session.sites.of(lease.fetch), lease)

    def ended(self, lease: Lease) -> None:
        """Drop requests that are not needed again."""
        if self.keeper is not None:
            self.keeper.ended(lease)
        if not may_fetch_again(self._session.sites.of(lease.fetch), lease.fetch.page):
            self._requests.pop(_name(lease.fetch), None)
            self._hops.pop(_name(lease.fetch), None)

    def _reached(self, request: Request) -> None:
        """Look at any request that is sent: robots.txt and pipelines' files use the same slots."""
        self._secrets.look(request)
        self._asked.add(download_slots.slot_name(self._crawler.engine.downloader, request))

    def follow_slots(self) -> None:
        """Have requests due when their download slot would send them: the project's politeness counts."""
        slots = download_slots.slots(self._crawler.engine.downloader)
        for name in list(self._asked):
            if (slot := slots.get(name)) is None or not slot.active:  # its last delay is known by now
                self._asked.discard(name)
            if slot is None:
                continue
            asked = download_slots.last_asked(slot)
            due = self._session.clock.at(asked) + slot.delay if asked else 0.0
            for host in self._slots.get(name, ()):
                set_delay(self._open[host], name, slot.delay, due)


def may_fetch_again(frontier: Frontier, page: PageId) -> bool:
    """Is a revisit or another attempt of the page still possible?"""
    if frontier.pages.states[page] == State.VISITED:
        strategy = frontier.capture.strategy
        return strategy is None or strategy.revisits
    return frontier.pages.states[page] not in (State.JUDGED, State.LOST)


def set_delay(frontier: Frontier, name: str, delay: Seconds, due: Instant) -> None:
    """Set a host's delay, and when it is next due, as somebody else owns its politeness."""
    number = frontier.ledger.host_numbers.get(name)
    if number is not None:
        host = frontier.ledger.hosts[number]
        host.own = delay
        host.pace.due = due
