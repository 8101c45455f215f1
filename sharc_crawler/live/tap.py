"""Listening to one request's way through a connection, by Twisted's public interfaces only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from OpenSSL import SSL
    from twisted.internet.defer import Deferred
    from twisted.web.client import HTTPConnectionPool
    from twisted.web.iweb import IResponse


class Tap:
    """What passes over a connection for one request."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.begin(None)

    def begin(self, peer: str | None, tls: SSL.Connection | None = None) -> None:
        """The request goes out now; again, where an idle connection turned out to be closed."""
        self.started = self.clock()
        self.peer = peer
        self.tls = tls
        self.sent: list[bytes] = []
        self.received: list[bytes] = []
        self.size = 0  #: bytes received
        self.surplus = b""

    def receive(self, data: bytes) -> None:
        """Bytes arrived."""
        self.received.append(data)
        self.size += len(data)

    def forget(self, surplus: int) -> None:
        """The last bytes that arrived are not part of the response."""
        whole = b"".join(self.received)
        self.received = [whole[: len(whole) - surplus]]
        self.surplus = whole[len(whole) - surplus :]


class TappedRequest:
    """A request of Twisted's client that copies what it writes."""

    def __init__(self, request: Any, tap: Tap) -> None:
        self._request = request
        self.tap = tap
        self.persistent = request.persistent

    def __getattr__(self, name: str) -> Any:
        return getattr(self._request, name)

    def writeTo(self, transport: Any) -> Deferred[None]:  # noqa: N802 - Twisted's name
        """Write the request."""
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
    """The shared connection pool as one request sees it: whatever connection it is given is tapped for it."""

    def __init__(self, pool: HTTPConnectionPool, tap: Tap) -> None:
        self._pool = pool
        self._tap = tap
        self.persistent = pool.persistent

    def getConnection(self, key: Any, endpoint: Any) -> Deferred[_TappedConnection]:  # noqa: N802 - Twisted's name
        """A connection from the shared pool, or a new one."""
        return self._pool.getConnection(key, endpoint).addCallback(_TappedConnection, self._tap)


class _TappedConnection:
    def __init__(self, connection: Any, tap: Tap) -> None:
        self._connection = connection
        self._tap = tap

    def request(self, request: Any) -> Deferred[IResponse]:
        return self._connection.request(TappedRequest(request, self._tap))  # type: ignore[no-any-return]
