"""Which visit a request comes from: a visit that was cut off is made again, and what it yields again is known then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import Request

from sharc_crawler.live.requests import META_KEY
from sharc_crawler.model import Slot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from scrapy.http import Response

    from sharc_crawler.model import Fetch, PageId

START = "start"
_origins: WeakKeyDictionary[Request, str] = WeakKeyDictionary()


def origin_of(request: Request) -> str:
    """The visit whose callback yielded it, or the spider's start; empty: not known."""
    return _origins.get(request, "")


def name_of(fetch: Fetch) -> str:
    """A visit, as an origin; whether a strategy means a page's first visit to be its only one may change."""
    return visit_name(fetch.site, fetch.page, fetch.slot)


def visit_name(site: str, page: PageId, slot: Slot) -> str:
    """The same, of a page and a slot."""
    return f"{site} {page} again" if slot is Slot.SECOND else f"{site} {page}"


class OriginMiddleware:
    """Nearest to the engine: sees the requests as they are scheduled."""

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """What the spider begins with."""
        async for one in start:
            yield _noted(one, START)

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterator[Any]:
        """What a callback yields."""
        origin = _origin(response)
        for one in result:
            yield _noted(one, origin)

    async def process_spider_output_async(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """What an asynchronous callback yields."""
        origin = _origin(response)
        async for one in result:
            yield _noted(one, origin)


def _origin(response: Response) -> str:
    fetch: Fetch | None = response.request.meta.get(META_KEY) if response.request else None
    return name_of(fetch) if fetch else ""


def _noted(one: Any, origin: str) -> Any:
    if origin and isinstance(one, Request):
        _origins[one] = origin
    return one
