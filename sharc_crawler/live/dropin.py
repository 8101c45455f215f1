"""An existing project's requests under a SHARC order: its callbacks, meta, errbacks and pipelines stay as they are.

Each host is a site capture. A request goes to its callback as ever, when the strategy says so; a revisit of ours goes
to no callback (``SHARC_REVISIT_CALLBACKS=True``: to its own). Requests other than GET are sent once, at once.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from sharc_crawler.frontier.seen import UNSEEN, SeenUrls
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.live import private
from sharc_crawler.live.everything import hostname
from sharc_crawler.live.requests import META_KEY
from sharc_crawler.model import Kind, Phase, Sighting, Slot
from sharc_crawler.urls import canonical

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.live.session import Session
    from sharc_crawler.model import Fetch, PageId


async def _kept_from_callbacks(*_: Any, **__: Any) -> None:
    """Where revisits end: the judgement is ours, the items are the first visit's."""


NO_PAGE = -2  #: for requests that are in no capture


class DropIn:
    """Keeps the requests of queued pages, and opens a capture per host."""

    def __init__(self, crawler: Crawler, session: Session) -> None:
        self._crawler = crawler
        self._session = session
        self._requests: dict[PageId, Request] = {}
        self._open: dict[str, SiteCapture] = {}
        self._rounds: dict[str, int] = {}
        self._duplicates: Counter[str] = Counter()  #: requests beyond the first, by key
        self._known = SeenUrls()  #: keys of requests and of what they led to, as in Scrapy's duplicate filter
        self.direct: deque[Request] = deque()  #: what no web server answers (``data:``, ``file:``): sent at once

    def schedule(self, request: Request) -> bool:
        """Queue a request; ``False``: it is known already, as by Scrapy's duplicate filter."""
        key = name = self._key(request)
        if not request.dont_filter and key in self._known:
            return False
        if not request.url.startswith(("http:", "https:")):
            if not request.dont_filter:
                self._known.add(key, NO_PAGE)
            self.direct.append(request)
            return True
        capture = self._capture(hostname(request.url), request)
        if key in capture.seen:
            self._duplicates[key] += 1
            name = f"{key} (request {1 + self._duplicates[key]}, by dont_filter)"
        kind = Kind.PAGE if request.method == "GET" else Kind.RESOURCE
        frontier = self._session.frontier
        frontier.schedule_into(capture, [Sighting(request.url, kind, "spider", key=name)], self._session.clock.now())
        number = capture.seen[name]
        self._requests[number] = request
        if not request.dont_filter:
            self._known.add(key, number)
        return True

    def goes_on(self, fetch: Fetch, request: Request) -> bool:
        """Does a visit go on with this redirect or retry? Not where another request of the spider leads there, too."""
        if request.dont_filter or fetch.slot is Slot.SECOND:
            return True
        key = self._key(request)
        first = self._known.get(key)
        if first == UNSEEN:
            self._known.add(key, fetch.page)
        return first in (UNSEEN, fetch.page)

    def _key(self, request: Request) -> str:
        """The canonical URL; for anything but a plain GET method, URL and the project's own fingerprint."""
        plain = request.method == "GET" and not request.body
        url = canonical(request.url) if plain else None
        fingerprint = self._crawler.request_fingerprinter.fingerprint
        return url or f"{request.method} {request.url} ({fingerprint(request).hex()[:16]})"

    def _capture(self, host: str, request: Request) -> SiteCapture:
        """The host's capture; a new round where the last one's visits are over."""
        capture = self._open.get(host)
        if capture is None or capture.phase is not Phase.VISIT:
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
                settings={"spider": self._session.name, "history": config.history or ""},
            )
            session = self._session
            capture = session.frontier.open(session.bounded(spec), session.clock.now(), seeded=False)
            self._open[host] = capture
        return capture

    def request(self, fetch: Fetch) -> Request:
        """The request to send for a lease."""
        request = self._requests[fetch.page]
        if fetch.slot is not Slot.SECOND or self._session.config.revisit_callbacks:
            request.meta[META_KEY] = fetch
            return request
        return request.replace(
            callback=_kept_from_callbacks,
            errback=_kept_from_callbacks,
            cb_kwargs={},
            meta={**request.meta, META_KEY: fetch, "handle_httpstatus_list": [304]},
            dont_filter=True,
        )

    def ended(self, fetch: Fetch) -> None:
        """Let go of requests that will not be needed again."""
        if not self._session.frontier.may_fetch_again(fetch.page):
            self._requests.pop(fetch.page, None)

    def follow_slots(self) -> None:
        """The project's own politeness counts: each host's delay and concurrency are its download slot's."""
        downloader = self._crawler.engine.downloader
        for host in self._open:
            slot = private.slot(downloader, host)
            if slot is not None:
                due = self._session.clock.at(slot.lastseen) + slot.delay if slot.lastseen else 0.0
                self._session.frontier.set_delay(host, slot.delay, due)
