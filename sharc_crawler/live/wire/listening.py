"""Listens to the connections of Twisted's HTTP client, through its public interfaces.

Scrapy's handler asks a pool for a connection, and sends one request over it. This pool wraps that one: it decides which
address is connected to, and puts a listener between the connection and Twisted's protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from OpenSSL import SSL
from twisted.internet.interfaces import IStreamClientEndpoint
from twisted.internet.protocol import Protocol
from twisted.protocols.policies import ProtocolWrapper, WrappingFactory
from twisted.python.failure import Failure
from twisted.web.client import HTTPConnectionPool, ResponseDone
from twisted.web.iweb import UNKNOWN_LENGTH, IResponse
from zope.interface import implementer  # type: ignore[import-untyped]

from sharc_crawler.bodies.spool import LARGE
from sharc_crawler.live.private import tap_pool
from sharc_crawler.live.wire.framing import INTERIM, LONGEST_HEAD, SWITCHED, Framing
from sharc_crawler.live.wire.tap import Tap, WithheldError
from sharc_crawler.live.wire.tls_trust import take_unreadable_names

if TYPE_CHECKING:
    from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
    from twisted.internet.defer import Deferred


class Connections:
    """Counts open connections; if there are too many, those kept for reuse are closed."""

    def __init__(self, pool: HTTPConnectionPool, most: int) -> None:
        self._pool, self._most = pool, most
        self._open = 0

    def made(self) -> None:
        """Count one more open connection."""
        self._open += 1
        if self._open > self._most:
            self._pool.closeCachedConnections()

    def lost(self) -> None:
        """Count one open connection less."""
        self._open -= 1


class _Listener(ProtocolWrapper):
    """Copies what arrives to the tap of the request in flight; Twisted's protocol sees it as the transport."""

    wrappedProtocol: Any  # noqa: N815 - Twisted's name
    factory: _ListeningFactory
    transport: Any
    _request: TappedRequest | None = None

    def makeConnection(self, transport: Any) -> None:  # noqa: N802 - Twisted's name
        self.factory.connections.made()
        super().makeConnection(transport)

    def connectionLost(self, reason: Failure) -> None:  # type: ignore[override]  # noqa: N802
        self.factory.connections.lost()
        request, self._request = self._request, None
        if request is not None and (held := request.framing.cut()):
            self.wrappedProtocol.dataReceived(held)
        super().connectionLost(reason)

    @property
    def listening(self) -> bool:
        """Whether an answer is awaited or arriving."""
        return self._request is not None

    def listen(self, request: TappedRequest) -> None:
        """A request is being sent."""
        self._request = request
        handle = self.transport.getHandle()
        tls = handle if isinstance(handle, SSL.Connection) else None
        request.begin(getattr(self.transport.getPeer(), "host", None), tls)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        request = self._request
        if request is None:  # an answer without a request
            self.transport.abortConnection()
            return
        tap, framing = request.tap, request.framing
        if blank := framing.blank(data):
            tap.surplus += data[:blank]
            data = data[blank:]
        try:
            tap.receive(data)
        except OSError:
            self._request = None
            self.transport.abortConnection()
            return
        clean, surplus = framing.feed(data)
        if framing.ended:
            self._request = None
        if framing.ended and framing.code == SWITCHED:
            request.persistent = False
        if surplus:
            # A server that sends more than it announced cannot be trusted with the next answer.
            tap.forget(len(surplus))
            request.persistent = False
        if clean:
            super().dataReceived(clean)
        if tap.enough or (framing.in_head and (tap.size > LONGEST_HEAD or framing.interim > INTERIM)):
            self.transport.abortConnection()  # closing a TLS connection would wait for the server


class _ListeningFactory(WrappingFactory):
    protocol = _Listener
    noisy = False

    def __init__(self, factory: Any, connections: Connections) -> None:
        super().__init__(factory)
        self.connections = connections


@implementer(IStreamClientEndpoint)
class ListeningEndpoint:
    """Puts a listener on an endpoint's connections; made on connecting, as most requests reuse a connection."""

    def __init__(self, endpoint: Callable[[], Any], connections: Connections) -> None:
        self._endpoint, self._connections = endpoint, connections

    def connect(self, factory: Any) -> Deferred[Any]:
        """Twisted's protocol, behind the listener."""
        made = self._endpoint().connect(_ListeningFactory(factory, self._connections))
        return made.addCallback(lambda listener: listener.wrappedProtocol)  # type: ignore[no-any-return]


class TappedRequest:
    """A request of Twisted's client: copies what it writes, and has its answer listened to."""

    framing: Framing

    def __init__(self, request: Any, tap: Tap) -> None:
        self._request = request
        self.tap = tap
        self.persistent = request.persistent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._request, name)

    def begin(self, peer: str | None, tls: SSL.Connection | None) -> None:
        """The request is sent, perhaps again after an idle connection turned out to be closed."""
        self.tap.begin(peer, tls)
        self.framing = Framing(self._request.method)

    def writeTo(self, transport: Any) -> Deferred[None]:  # noqa: N802 - Twisted's name
        """Write the request, if it may still be sent: connecting may have taken long."""
        transport.listen(self)
        if not self.tap.may_send():
            self.tap.withheld = True
            raise WithheldError
        from twisted.internet import reactor  # here, as Scrapy installs it first

        turn: Any = reactor.callLater
        turn(0, turn, 0, self.tap.leave)  # TCP writes in the reactor's next turn, TLS in the one after
        return self._request.writeTo(_TappedTransport(transport, self.tap.sent))  # type: ignore[no-any-return]


class _TappedTransport:
    def __init__(self, transport: Any, sent: list[bytes]) -> None:
        self._transport = transport
        self._sent = sent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        self._sent.append(data)
        self._transport.write(data)

    def writeSequence(self, parts: list[bytes]) -> None:  # noqa: N802 - Twisted's name
        self.write(b"".join(parts))


class TappedPool:
    """A connection pool for Scrapy's handler that taps each connection for its request."""

    def __init__(self, pool: HTTPConnectionPool, most: int, turn: Callable[[], RequestContext]) -> None:
        self._pool = pool
        self._connections = Connections(pool, most)
        self._turn = turn
        self.persistent = pool.persistent

    def getConnection(self, key: Any, endpoint: Any) -> Deferred[_TappedConnection]:  # noqa: N802 - Twisted's name
        """A connection from the pool, or a new one."""
        turn = self._turn()
        listening = ListeningEndpoint(partial(turn.endpoint, key, endpoint), self._connections)
        return self._pool.getConnection(key, listening).addCallback(_TappedConnection, turn)  # type: ignore[arg-type]

    def closeCachedConnections(self) -> Deferred[None]:  # noqa: N802 - Twisted's name
        """Close connections that wait for requests."""
        return self._pool.closeCachedConnections()  # type: ignore[no-any-return]


class RequestContext:
    """What a request's connection needs: its tap, its endpoint, and how much of the body is wanted."""

    def __init__(self, tap: Tap, endpoint: Callable[[Any, Any], Any], *, whole: bool, most: int | None = None) -> None:
        self.tap = tap
        self.endpoint = endpoint  #: from a pool's key and Scrapy's own endpoint
        self.whole = whole  #: the spider gets bodies of any size
        self.most = most  #: bytes of a body, after which the rest is not waited for


_turn: ContextVar[RequestContext] = ContextVar("turn")  #: of the request that wants a connection


def listened(handler: HTTP11DownloadHandler, most: int) -> Callable[..., None]:
    """Listen to a handler's connections from now on; returns a function to announce each request."""
    take_unreadable_names()  # Scrapy itself connects through a proxy
    tap_pool(handler, partial(TappedPool, most=most, turn=_turn.get))
    return lambda *about, **more: _turn.set(RequestContext(*about, **more)) and None


class _TappedConnection:
    def __init__(self, connection: Any, turn: RequestContext) -> None:
        self._connection = connection
        self._turn = turn

    def request(self, request: Any) -> Deferred[IResponse]:
        tapped = TappedRequest(request, self._turn.tap)
        return self._connection.request(tapped).addCallback(self._answered, tapped)  # type: ignore[no-any-return]

    def _answered(self, response: Any, request: TappedRequest) -> Any:
        for name, value in request.framing.long:
            response.headers.addRawHeader(name, value)
        if request.framing.code == SWITCHED:
            response.code = SWITCHED
        if not self._turn.whole:
            if self._turn.most:
                response.length = UNKNOWN_LENGTH if response.length else 0  # so that Scrapy does not refuse a large one
            deliver = response.deliverBody
            response.deliverBody = lambda reader: deliver(_Front(reader, self._turn))
        return response


class _Front(Protocol):
    """Passes on the first part of a large body: our own spider does not read it."""

    transport: Any

    def __init__(self, reader: Any, turn: RequestContext) -> None:
        self._reader, self._turn = reader, turn
        self._length = 0

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        self._reader.makeConnection(self.transport)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        if self._turn.tap.enough:
            return
        self._length += len(data)
        self._reader.dataReceived(data if self._length <= LARGE else _Passed(len(data)))
        if self._turn.most and self._length > self._turn.most:
            self._turn.tap.enough = True
            self.transport.stopProducing()
            self.transport.loseConnection()
            self._reader.connectionLost(Failure(ResponseDone()))

    def connectionLost(self, reason: Failure) -> None:  # type: ignore[override]  # noqa: N802
        if not self._turn.tap.enough:
            self._reader.connectionLost(reason)


class _Passed(bytes):
    """Stands for bytes that count but take no memory."""

    length: int

    def __new__(cls, length: int) -> _Passed:
        made = super().__new__(cls)
        made.length = length
        return made

    def __len__(self) -> int:
        return self.length
