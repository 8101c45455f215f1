"""``SHARC_RESUME``: a project's own spider goes on where it was cut off.

Each request is kept in one transaction with its page. A visit that was cut off is repeated; what its callback yields
then is compared, by origin, fingerprint and number, with what it had yielded before, so nothing is requested twice.
"""

from __future__ import annotations

import json
import logging
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import Request, Spider
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware

from sharc_crawler.live.project import request_texts
from sharc_crawler.live.project.request_texts import HOP, KEPT, UnkeepableError
from sharc_crawler.live.requests import META_KEY, Lease
from sharc_crawler.model import Fetch, PageId, Slot

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.sites import Sites
    from sharc_crawler.state.rows import Batch

logger = logging.getLogger(__name__)

UNKEPT = (
    "%s is requested, but SHARC_RESUME cannot keep it: %s. It is lost if the crawl is cut off before its answer. Give"
    " the spider keep_request() and restore_request() to keep it"
)
NAMED, MORE = 10, ". More like it are counted, not named"
UNSERIALIZABLE = "scheduler/unserializable"  #: Scrapy's name of the stat
LOST = "SHARC_RESUME could not keep it, and the crawl was cut off"
COOKIES = "cookies"


class Keeper:
    """Keeps requests, what the duplicate filter has seen, and cookies, beside the frontier's state."""

    def __init__(self, crawler: Crawler, sites: Sites) -> None:
        assert crawler.spider is not None, "it is the spider's crawl"
        self._crawler = crawler
        self._spider: Spider = crawler.spider
        self._sites = sites
        self._before: defaultdict[str, Counter[str]] = defaultdict(Counter)  #: by origin, fingerprints of kept requests
        self._again: defaultdict[str, Counter[str]] = defaultdict(Counter)  #: the same, of this visit
        self._cookies = ""
        self._told: set[str] = set()  #: visits under way after whose answer cookies were kept

    def known(self, request: Request) -> bool:
        """Whether the same visit yielded the request before it was cut off."""
        origin = origin_of(request)
        if not origin:
            return False
        fingerprint = self._fingerprint(request)
        self._again[origin][fingerprint] += 1
        return self._again[origin][fingerprint] <= self._before[origin][fingerprint]

    def text(self, request: Request) -> str:
        """The kept form of a request; "", with a warning: it is in memory only, as with JOBDIR."""
        try:
            if not request.url.startswith(("http:", "https:")):
                raise UnkeepableError("it is for no web server")
            return request_texts.kept(request, self._spider)
        except UnkeepableError as error:
            self._crawler.stats.inc_value(UNSERIALIZABLE)
            if (number := self._crawler.stats.get_value(UNSERIALIZABLE)) <= NAMED:
                logger.warning(UNKEPT + MORE * (number == NAMED), request, error, extra={"spider": self._spider})
            return ""

    def keep(self, site: str, page: PageId, request: Request, text: str) -> None:
        """Keep a request in the transaction that keeps its page."""
        origin, fingerprint = origin_of(request), self._fingerprint(request)
        self._before[origin][fingerprint] += 1
        about = {"site": site, "page": page, "origin": origin, "fingerprint": fingerprint}
        ledger = self._sites[site].ledger
        ledger.keep(f"{KEPT}{site} {page}", json.dumps({**about, "seen": not request.dont_filter, "request": text}))
        if origin not in self._told:  # the following requests may need the cookie of the answer
            self._told.add(origin)
            self._keep_cookies(ledger)

    def began(self, fetch: Fetch) -> None:
        """A visit begins, maybe not for the first time."""
        self._again.pop(name_of(fetch), None)

    def ended(self, lease: Lease) -> None:
        """Record a finished visit and its redirects in the same transaction; its requests are not yielded again."""
        name, ledger = name_of(lease.fetch), self._sites.of(lease.fetch).ledger
        self._before.pop(name, None)
        self._again.pop(name, None)
        self._told.discard(name)
        for number, request in enumerate(lease.hopped):
            with suppress(UnkeepableError):
                ledger.keep(f"{HOP}{lease.fetch.lease} {number}", request_texts.kept(request, self._spider))
        self._keep_cookies(ledger)

    def _keep_cookies(self, ledger: Ledger) -> None:
        middleware = self._cookie_middleware()
        if middleware is not None and (text := request_texts.cookies_text(middleware.jars)) != self._cookies:
            self._cookies = text
            ledger.keep(COOKIES, text)

    def restore(
        self, saved: Mapping[str, Batch], texts: Mapping[str, str]
    ) -> Iterator[tuple[str, PageId | None, Request, bool]]:
        """The kept requests: site, page (``None``: a redirect's target), request, and whether the filter saw it."""
        finished = {
            visit_name(site, visit.page, visit.slot)
            for site, state in saved.items()
            for visit in state.visits
            if visit.finished
        }
        for key, text in texts.items():
            if key == COOKIES:
                self._set_cookies(text)
            elif key.startswith(HOP):
                yield "", None, request_texts.restored(text, self._spider), True
            else:
                about: dict[str, Any] = json.loads(text)
                if about["origin"] not in finished:
                    self._before[about["origin"]][about["fingerprint"]] += 1
                yield (
                    about["site"],
                    about["page"],
                    request_texts.restored(about["request"], self._spider),
                    about["seen"],
                )

    def _set_cookies(self, text: str) -> None:
        middleware = self._cookie_middleware()
        if middleware is not None:
            request_texts.set_cookies(text, middleware.jars)
            self._cookies = text

    def _cookie_middleware(self) -> CookiesMiddleware | None:
        return self._crawler.get_downloader_middleware(CookiesMiddleware)

    def _fingerprint(self, request: Request) -> str:
        return self._crawler.request_fingerprinter.fingerprint(request).hex()


# -- which visit a request comes from ----------------------------------------------------------------------------------


START = "start"
_origins: WeakKeyDictionary[Request, str] = WeakKeyDictionary()


def origin_of(request: Request) -> str:
    """The visit whose callback yielded the request, or the spider's start; "": not known."""
    return _origins.get(request, "")


def name_of(fetch: Fetch) -> str:
    """The name of a visit as an origin, the same for ONLY and FIRST: the strategy may change."""
    return visit_name(fetch.site, fetch.page, fetch.slot)


def visit_name(site: str, page: PageId, slot: Slot) -> str:
    """The name of a visit, from a page and a slot."""
    return f"{site} {page} again" if slot is Slot.SECOND else f"{site} {page}"


class OriginMiddleware:
    """Next to the engine: notes the origin of each request."""

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Note the requests with which the spider begins."""
        async for item in start:
            yield _noted(item, START)

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        """Note the requests that a callback yields."""
        origin = _origin(response)
        for item in result:
            yield _noted(item, origin)

    async def process_spider_output_async(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Note the requests that an asynchronous callback yields."""
        origin = _origin(response)
        async for item in result:
            yield _noted(item, origin)


def _origin(response: Response) -> str:
    fetch: Fetch | None = response.request.meta.get(META_KEY) if response.request else None
    return name_of(fetch) if fetch else ""


def _noted(one: Any, origin: str) -> Any:
    if origin and isinstance(one, Request):
        _origins[one] = origin
    return one
