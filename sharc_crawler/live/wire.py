"""A download handler that keeps the bytes of both directions of every exchange, and connects to public addresses only.

Scrapy hands on headers re-ordered and bodies without their transfer coding: fit for scraping, not for an archive. Here
the HTTP/1.1 client's connections are listened to, so that an archive gets what was on the wire, TLS removed. All
private names of Scrapy and Twisted that this takes are used in this module alone.

Set for both schemes::

    DOWNLOAD_HANDLERS = {
        "http": "sharc_crawler.live.wire.WireTapHandler",
        "https": "sharc_crawler.live.wire.WireTapHandler",
    }

Through a proxy (``request.meta["proxy"]``) the bytes are those between us and the proxy, without the proxy's
credentials. The proxy looks names up itself, so it must refuse inner addresses, too: here a name is refused that our
own look-up finds to be private; one that is not found goes to the proxy.
"""

from __future__ import annotations

import logging
import re
from functools import lru_cache, partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

from OpenSSL import SSL
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, DownloadTimeoutError, StopDownload
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from service_identity import CertificateError, VerificationError
from twisted.internet import _sslverify
from twisted.web._newclient import HEADER, STATUS
from twisted.web.http import _ChunkedTransferDecoder

from sharc_crawler.archive.open_files import limit, share
from sharc_crawler.live.addresses import SETTING, AddressRules, Target
from sharc_crawler.live.clock import clock_of
from sharc_crawler.live.guard import GuardedReactor
from sharc_crawler.live.memory import memory_of
from sharc_crawler.live.moved import ClientFactory, ClientProtocol, ScrapyAgent
from sharc_crawler.live.names import addresses_of
from sharc_crawler.live.operator import DEFAULT_PORTS
from sharc_crawler.live.problems import inner
from sharc_crawler.live.requests import META_KEY
from sharc_crawler.live.tap import Tap, TappedPool
from sharc_crawler.live.tls_trust import TlsTrust
from sharc_crawler.model import Exchange
from sharc_crawler.spool import LARGE

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IAddress
    from twisted.python.failure import Failure
    from twisted.web.client import URI, Agent, HTTPConnectionPool
    from twisted.web.iweb import IResponse

    from sharc_crawler.live.tap import TappedRequest

logger = logging.getLogger(__name__)

WITHHELD_KEY = "sharc_withheld"  #: in ``meta``: it was not sent
EXCHANGE_KEY = "sharc_exchange"  #: in ``request.meta``: the `Exchange`, set whether the download succeeded or failed

PROXIED = (
    "Requests go through a proxy, which looks names up itself: names that are private by our own look-up are refused,"
    " and the guard against private addresses ends there. Let the proxy refuse its own network's, too."
)
_LONGEST_HEAD = 1 << 20  #: bytes; a server that sends more without ending its headers is hung up on
_PROXY_CREDENTIALS = re.compile(rb"\r\nProxy-Authorization:[^\r\n]*", re.IGNORECASE)


class _LenientChunks(_ChunkedTransferDecoder):
    """Chunks whose sizes blanks may follow: before an extension (RFC 9112, 7.1.1), or as old servers pad them."""

    def _dataReceived_CHUNK_LENGTH(self) -> bool:  # noqa: N802 - Twisted's name
        end = self._buffer.find(b"\r\n", self._start)
        size = self._buffer[: max(end, 0)].partition(b";")[0]
        if size.endswith((b" ", b"\t")):
            self._buffer[: len(size)] = size.rstrip(b" \t")
            self._start = 0
        return super()._dataReceived_CHUNK_LENGTH()


class _TappedProtocol(ClientProtocol):
    """A connection that tells the tap of the request in flight what arrives."""

    transport: Any
    _currentRequest: Any  # noqa: N815 - Twisted's name
    _tap: Tap | None = None
    connections: _Connections

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        self.connections.made()
        super().connectionMade()

    def connectionLost(self, reason: Failure) -> None:  # type: ignore[override]  # noqa: N802
        self.connections.lost()
        super().connectionLost(reason)

    def request(self, request: TappedRequest) -> Deferred[IResponse]:  # type: ignore[override]
        self._tap = request.tap
        handle = self.transport.getHandle()
        tls = handle if isinstance(handle, SSL.Connection) else None
        self._tap.begin(getattr(self.transport.getPeer(), "host", None), tls)
        answer = super().request(request)  # type: ignore[arg-type]
        if self._parser:
            self._parser.MAX_LENGTH = _LONGEST_HEAD  # of a line: Twisted hangs up on one of more than 16 KiB
            self._parser._transferDecoders = {b"chunked": _LenientChunks}
        return answer

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        tap = self._tap
        if tap is not None:
            try:
                tap.receive(data)
            except OSError:
                self._tap = None
                self.transport.abortConnection()
                return
        super().dataReceived(data)
        if tap is not None and tap.size > _LONGEST_HEAD and self._parser and self._parser.state in {STATUS, HEADER}:
            self.transport.abortConnection()

    def _finishResponse(self, rest: bytes) -> None:  # noqa: N802 - Twisted's name
        tap, self._tap = self._tap, None
        if tap is not None and rest:
            # A server that sends more than it announced is not to be believed in what it says next.
            logger.warning("%d bytes after the end of a response of %s are kept beside it", len(rest), tap.peer)
            tap.forget(len(rest))
            self._currentRequest.persistent = False
        super()._finishResponse(rest)


class _Connections:
    """How many are open. Those kept for reuse are closed when there are too many: each host has some of its own."""

    def __init__(self, pool: HTTPConnectionPool, most: int) -> None:
        self._pool, self._most = pool, most
        self._open = 0

    def made(self) -> None:
        """One more."""
        self._open += 1
        if self._open > self._most:
            self._pool.closeCachedConnections()

    def lost(self) -> None:
        """One less."""
        self._open -= 1


class _TappedFactory(ClientFactory):
    def __init__(self, connections: _Connections, *args: Any) -> None:
        super().__init__(*args)
        self._connections = connections

    def buildProtocol(self, addr: IAddress | None) -> _TappedProtocol:  # noqa: ARG002, N802 - Twisted's name
        protocol = _TappedProtocol(self._quiescentCallback)
        protocol.connections = self._connections
        return protocol


class _Front(BytesIO):
    """A body for our own spider, which reads none of it: of a large one nothing is kept."""

    def write(self, data: bytes) -> int:  # type: ignore[override]
        if self.tell() > LARGE:
            return len(data)
        super().write(data)
        if self.tell() > LARGE:
            self.seek(0)
            self.truncate()
            self.seek(LARGE + 1)
        return len(data)


class _LateEndpoint:
    """An endpoint that is made when it is connected to: most requests go over a connection that is open."""

    def __init__(self, factory: Any, uri: URI) -> None:
        self._factory, self._uri = factory, uri

    def connect(self, protocol: Any) -> Deferred[Any]:
        """Make it, and connect."""
        return self._factory.endpointForURI(self._uri).connect(protocol)  # type: ignore[no-any-return]


class _TappedAgent(ScrapyAgent):
    """Scrapy's agent, connecting directly only to addresses that the rules allow."""

    def __init__(self, rules: AddressRules, *, whole: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._rules = rules
        self._whole = whole  # the spider is given bodies of any size

    def _cb_bodyready(self, txresponse: Any, request: Request) -> Any:
        if not self._whole:
            deliver = txresponse.deliverBody

            def deliver_front(reader: Any) -> None:
                reader._bodybuf = _Front()
                deliver(reader)

            txresponse.deliverBody = deliver_front
        return super()._cb_bodyready(txresponse, request)

    def _get_agent(self, request: Request, timeout: float) -> Agent:
        from twisted.internet import reactor

        target = target_of(request)
        self._rules.check_literal(target)  # here, as a connection that another site may use is used again
        agent = super()._get_agent(request, timeout)
        if request.meta.get("proxy"):
            return agent
        if not _is_name(target.host):
            raise CannotResolveHostError(f"{target.host!r} is no host's name")
        agent._endpointFactory._reactor = GuardedReactor(reactor, self._rules, target)
        agent._getEndpoint = partial(_LateEndpoint, agent._endpointFactory)  # type: ignore[method-assign]
        return agent


def target_of(request: Request) -> Target:
    """Whom a request is for, in which site capture."""
    parts = urlparse_cached(request)
    fetch = request.meta.get(META_KEY)
    return Target(parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme, 0), fetch.site if fetch else "")


@lru_cache(maxsize=1024)
def _is_name(host: str) -> bool:
    """Can it be looked up at all? Twisted would wait for the answer of a look-up that never began."""
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return True


class WireTapHandler(HTTP11DownloadHandler):
    """Scrapy's HTTP/1.1 handler that leaves an `Exchange` in ``request.meta["sharc_exchange"]``, also on failure."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        # Twisted takes a certificate without any name for valid, logging a traceback
        _sslverify.VerificationError = (VerificationError, CertificateError)  # type: ignore[assignment,attr-defined]
        most = share(limit()) // 2
        self._pool._factory = partial(_TappedFactory, _Connections(self._pool, most))  # type: ignore[assignment]
        openings = getattr(crawler.spider, "openings", None)
        self._rules = AddressRules.of(crawler.settings.getlist(SETTING), openings() if openings else ())
        self._proxied = False
        self._clock = clock_of(crawler).now
        self._memory = memory_of(crawler)
        self._may_send = getattr(crawler.spider, "may_send", lambda _: True)
        self._reads_for_itself = not hasattr(crawler.spider, "capture_specs")
        self._trust = TlsTrust()

    async def download_request(self, request: Request) -> Response:
        """Download; raises what Scrapy's handler raises, and `AddressRefusedError`."""
        tap = Tap(self._clock, self._memory, partial(self._may_send, request))
        request.meta.pop(EXCHANGE_KEY, None)
        try:
            with wrap_twisted_exceptions():
                if request.meta.get("proxy"):
                    await self._check_proxied(request)
                response = await maybe_deferred_to_future(self._agent(tap).download_request(request))
        except Exception as error:
            if tap.withheld:
                request.meta[WITHHELD_KEY] = True
                raise
            said = f"{type(error).__name__}: {inner(error)}"
            request.meta[EXCHANGE_KEY] = _exchange(request, tap, _truncation(error, tap), said)
            raise
        cut = next((_FLAGS[flag] for flag in response.flags if flag in _FLAGS), None)
        untrusted = self._trust.fault(tap.tls, urlparse_cached(request).hostname or "") if tap.tls else ""
        request.meta[EXCHANGE_KEY] = _exchange(request, tap, cut, untrusted=untrusted)
        return response

    async def _check_proxied(self, request: Request) -> None:
        """A proxy looks names up itself. What is private by our own look-up is refused; what it finds is its affair."""
        if not self._proxied:
            self._proxied = True
            logger.warning(PROXIED)
        target = target_of(request)
        self._rules.check_literal(target)
        for address in await addresses_of(target.host) if _is_name(target.host) else ():
            self._rules.check(target, address)

    def _agent(self, tap: Tap) -> _TappedAgent:
        spider = self._crawler.spider
        return _TappedAgent(
            self._rules,
            whole=self._reads_for_itself,
            contextFactory=self._contextFactory,
            bindAddress=self._bind_address,
            pool=TappedPool(self._pool, tap),
            maxsize=getattr(spider, "download_maxsize", self._default_maxsize),
            warnsize=getattr(spider, "download_warnsize", self._default_warnsize),
            fail_on_dataloss=self._fail_on_dataloss,
            crawler=self._crawler,
            tls_verbose_logging=self._tls_verbose_logging,
        )


#: what Scrapy says of a response that it handed on in spite of its being cut short
_FLAGS = {"dataloss": "disconnect", "download_stopped": "unspecified"}

_TRUNCATIONS = {DownloadCancelledError: "length", DownloadTimeoutError: "time", StopDownload: "unspecified"}


def _truncation(error: Exception, tap: Tap) -> str | None:
    """Why what was received is not all of it, in the words of WARC-Truncated."""
    if tap.fault:
        return "unspecified"
    return _TRUNCATIONS.get(type(error), "disconnect") if tap.size else None


def _exchange(
    request: Request, tap: Tap, truncated: str | None, error: str | None = None, untrusted: str = ""
) -> Exchange:
    proxied = bool(request.meta.get("proxy"))
    sent = b"".join(tap.sent)
    kept = _PROXY_CREDENTIALS.sub(b"", sent) if proxied else sent
    return Exchange(
        url=request.url.partition("#")[0],
        started=tap.started,
        ended=tap.clock(),
        request=kept,
        response=tap.response(),
        ip=None if proxied else tap.peer,
        truncated=truncated,
        normalised=kept != sent,
        error=error,
        surplus=tap.surplus,
        untrusted=untrusted,
    )
