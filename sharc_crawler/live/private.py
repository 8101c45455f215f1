"""Everything that we use of Scrapy and Twisted beyond their documented interfaces; a test names what has moved.

Four names are private: `ExecutionEngine._slot`, `_pool` and `_contextFactory` of `HTTP11DownloadHandler`, and Twisted's
module `_sslverify`. Those of the downloader and its slots (`project/download_slots.py`) are public but undocumented.
docs/upstream.md lists the hooks that would replace them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pydispatch.dispatcher import getReceivers  # type: ignore[import-untyped]
from scrapy import Request, Spider, signals
from scrapy.core.downloader import Downloader
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scraper import Scraper
from scrapy.utils.defer import deferred_from_coro
from service_identity import CertificateError, VerificationError
from twisted.internet import _sslverify

if TYPE_CHECKING:
    from scrapy.http import Response
    from twisted.internet.defer import Deferred
    from twisted.web.client import HTTPConnectionPool
    from twisted.web.iweb import IPolicyForHTTPS


def in_progress(engine: ExecutionEngine) -> set[Request]:
    """Requests that the engine has in hand, from robots.txt and transfer to callback and pipelines."""
    assert engine._slot is not None, "the scheduler is asked while the spider is open"
    return engine._slot.inprogress


def wake_up(engine: ExecutionEngine) -> Callable[[], None]:
    """A function that makes the engine ask the scheduler soon."""
    assert engine._slot is not None, "the scheduler is asked while the spider is open"
    return engine._slot.nextcall.schedule


class CaptureDownloader(Downloader):
    """The downloader of a capture. The frontier decides when a host may be asked, so requests do not queue here."""

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:  # noqa: ARG002
        """Download a request through the middlewares."""
        self.active.add(request)
        answer = deferred_from_coro(self.middleware.download_async(self._answered, request))
        return answer.addBoth(self._over, request)

    def _over(self, answer: Any, request: Request) -> Any:
        self.active.remove(request)
        return answer

    async def _answered(self, request: Request) -> Response:
        self._tell(signals.request_reached_downloader, request=request)
        try:
            response = await self.handlers.download_request_async(request)
            self._tell(signals.response_downloaded, request=request, response=response)
            return response
        finally:
            self._tell(signals.request_left_downloader, request=request)

    def _tell(self, signal: object, **about: Any) -> None:
        """Send a signal, if anybody listens."""
        if getReceivers(self.signals.sender, signal):
            self.signals.send_catch_log(signal, spider=self.crawler.spider, **about)


def spare_callbacks(scraper: Scraper) -> None:
    """Do not call callbacks that do nothing, unless a middleware looks: they cost three tasks a page."""
    if not any(scraper.spidermw.methods.values()):
        scraper.enqueue_scrape = lambda *_: None  # type: ignore[assignment,method-assign]


def tap_pool(handler: HTTP11DownloadHandler, tapped: Callable[[HTTPConnectionPool], Any]) -> None:
    """Have the handler's connections come from this pool."""
    handler._pool = tapped(handler._pool)


def contexts(handler: HTTP11DownloadHandler) -> IPolicyForHTTPS:
    """The factory of a handler's TLS contexts."""
    return handler._contextFactory


def refuse_nameless_certificates() -> None:
    """Have Twisted refuse a certificate without names when it verifies; it would accept it with a traceback."""
    _sslverify.VerificationError = (VerificationError, CertificateError)  # type: ignore[assignment,attr-defined]


def missing() -> Iterator[str]:
    """Names on this list that the installed Scrapy and Twisted lack."""
    for owner, names in _SET_BY_INIT.items():
        set_there = owner.__init__.__code__.co_names  # type: ignore[misc]
        yield from (f"{owner.__name__}.{name}" for name in names if name not in set_there)
    for owner, name in ((Downloader, "get_slot_key"), (Scraper, "enqueue_scrape")):
        if not hasattr(owner, name):
            yield f"{owner.__name__}.{name}"
    if not hasattr(_sslverify, "VerificationError"):
        yield "twisted.internet._sslverify.VerificationError"


#: attributes that these classes set in ``__init__``
_SET_BY_INIT: dict[type, tuple[str, ...]] = {
    ExecutionEngine: ("_slot", "scraper"),
    Scraper: ("spidermw",),
    HTTP11DownloadHandler: ("_pool", "_contextFactory"),
    Downloader: ("slots", "total_concurrency", "active", "middleware", "handlers"),
}
