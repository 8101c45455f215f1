"""The HTTP client of a capture: sends a request's bytes, and keeps those of the answer without parsing the body.

Scrapy's client makes objects of an answer as it comes: a quarter of a capture's processor time, for a spider that does
not look at them. Connections are Twisted's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING, Any

from OpenSSL import SSL
from scrapy import Request, exceptions
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet import error as errors
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

from sharc_crawler.live.wire.framing import INTERIM, LONGEST_HEAD, Framing
from sharc_crawler.live.wire.tap import Tap, WithheldError

if TYPE_CHECKING:
    Key = tuple[str, str, int]  # scheme, host, port

IDLE = 240.0  #: seconds after which an idle connection is not reused, as in Twisted
_SAFE = {b"GET", b"HEAD", b"OPTIONS"}  #: may be sent again if an idle connection turns out to be closed
_OURS = (b"Host", b"Content-Length")  #: headers written by this module
_TARGET = re.compile(r"[a-z]+://[^/?#]*+([^#]*+)")
_PLAIN = re.compile(rb"[\x21-\x7e]+")
#: Twisted's errors, and Scrapy's names for them
_CALLED = (
    (errors.ConnectionRefusedError, exceptions.DownloadConnectionRefusedError),
    (errors.DNSLookupError, exceptions.CannotResolveHostError),
    (ResponseFailed, exceptions.DownloadFailedError),
    (errors.TimeoutError, exceptions.DownloadTimeoutError),
)


@dataclass(slots=True)
class WireRequest:
    """A request, and the bounds on its answer."""

    tap: Tap
    method: bytes
    data: bytes  #: the whole request
    patience: float  #: seconds for connection and answer together
    maxsize: int = 0  #: bytes of a body, above which it is an error
    most: int = 0  #: bytes of a body, after which the rest is not waited for
    awaited: Deferred[Any] | None = None
    over: bool = False  #: its time has run out

    def give_up(self) -> None:
        """Cancel the request: its time has run out."""
        self.over = True
        if self.awaited is not None:
            self.awaited.cancel()

    async def wait_for(self, awaited: Deferred[Any]) -> Any:
        """Wait for a result; raises :class:`CancelledError` once the time has run out."""
        self.awaited = awaited
        found = await maybe_deferred_to_future(awaited)
        if self.over:  # the time ran out meanwhile
            if isinstance(found, WireConnection):
                found.leave()
            raise CancelledError
        return found


def request_bytes(request: Request, host: str) -> bytes:
    r"""The request as sent; each header value is put on one line.

    >>> from scrapy import Request
    >>> request_bytes(Request("http://h:8/a?b#c", headers={"D": "e\r\nF: g"}), "h:8")
    b'GET /a?b HTTP/1.1\r\nHost: h:8\r\nD: e F: g\r\n\r\n'
    """
    found = _TARGET.match(request.url)
    target = (found and found[1]) or "/"
    method, place = request.method.encode(), (target if target[0] == "/" else f"/{target}").encode()
    given = dict.items(request.headers)  # in Scrapy's own form
    fields = [(name, value) for name, values in given for value in values if name not in _OURS]
    fields.insert(0, (b"Host", request.headers.get(b"Host") or host.encode()))
    if odd := [word for word in (method, place, *(name for name, _ in fields)) if not _PLAIN.fullmatch(word)]:
        raise ValueError(f"no part of a request: {odd[0]!r}")
    lines = [b"%b: %b" % (name, b" ".join(value.splitlines())) for name, value in fields]
    if request.body or method in (b"POST", b"PUT", b"PATCH"):
        lines.append(b"Content-Length: %d" % len(request.body))
    return b"\r\n".join([b"%b %b HTTP/1.1" % (method, place), *lines, b"", request.body])


class WireConnection(Protocol):
    """A connection that carries one request at a time."""

    transport: Any

    def __init__(self, client: WireClient, key: Key) -> None:
        self._client, self._key = client, key
        self._asked: WireRequest | None = None
        self._answered: Deferred[None] | None = None
        self._framing = Framing(b"GET")
        self.since = 0.0  #: when it became idle

    def connectionMade(self) -> None:  # noqa: D102, N802 - Twisted's name
        self._client.made()

    def ask(self, asked: WireRequest) -> Deferred[None]:
        """Send a request; once this fires, the answer is in its tap."""
        tls = handle if isinstance(handle := self.transport.getHandle(), SSL.Connection) else None
        asked.tap.begin(getattr(self.transport.getPeer(), "host", None), tls)
        if not asked.tap.may_send():
            asked.tap.withheld = True
            self._client.keep(self._key, self)
            raise WithheldError
        self._asked, self._framing = asked, Framing(asked.method)
        self._answered = Deferred(lambda _: self.transport.abortConnection())
        asked.tap.sent.append(asked.data)
        if tls is None and self.transport.writeSomeData(asked.data) == len(asked.data):  # the usual case
            asked.tap.leave()
            return self._answered
        call_later(0, call_later, 0, asked.tap.leave)  # TCP writes in the reactor's next turn, TLS in the one after
        self.transport.write(asked.data)
        return self._answered

    def dataReceived(self, data: bytes) -> None:  # noqa: D102, N802 - Twisted's name
        asked, framing = self._asked, self._framing
        if asked is None:  # an answer without a request
            self.since = float("-inf")  # do not reuse it: the answer would precede its request
            self.leave()
            return
        tap = asked.tap
        if blank := framing.blank(data):
            tap.surplus += data[:blank]
            data = data[blank:]
        try:
            tap.receive(data)
        except OSError:
            self.transport.abortConnection()
            return
        _, surplus = framing.feed(data)
        if surplus:
            # A server that sends more than it announced cannot be trusted with the next answer.
            tap.forget(len(surplus))
            framing.persistent = False
        self._judge(asked, framing)

    def _judge(self, asked: WireRequest, framing: Framing) -> None:
        """End the request if its answer is complete or wrong."""
        if framing.wrong is not None:
            broken = isinstance(framing.wrong, EOFError)
            error = exceptions.ResponseDataLossError(str(framing.wrong))
            self._end(error if broken else ResponseFailed([Failure(framing.wrong)]))
        elif framing.in_head:
            if asked.tap.size > LONGEST_HEAD or framing.interim > INTERIM:
                self.transport.abortConnection()
        elif asked.most and framing.body > asked.most:
            asked.tap.enough, framing.persistent = True, False
            self._end()
        elif asked.maxsize and not asked.most and max(framing.body, framing.length or 0) > asked.maxsize:
            self._end(exceptions.DownloadCancelledError(f"larger than DOWNLOAD_MAXSIZE={asked.maxsize}"))
        elif framing.ended:
            self._end()

    def leave(self) -> None:
        """Close the connection; over TLS at once, as a clean end waits for the server."""
        (self.transport.abortConnection if self._key[0] == "https" else self.transport.loseConnection)()

    def _end(self, error: Exception | None = None) -> None:
        answered, self._answered, self._asked = self._answered, None, None
        if error:
            self.transport.abortConnection()
        elif self._framing.persistent:
            self._client.keep(self._key, self)
        else:
            self.leave()
        if answered is not None and not answered.called:
            answered.errback(Failure(error)) if error else answered.callback(None)

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: D102, N802 - Twisted's name
        self._client.lost(self._key, self)
        self._framing.persistent = False
        if self._asked is None:
            return
        answer = hash((self._asked.data, self._framing.body))
        whole = reason.check(errors.ConnectionDone) or answer in self._client.reset
        if self._framing.endless and whole:
            self._end()
        elif self._framing.in_head:
            self._end(ResponseFailed([reason]))
        else:
            self._client.reset.add(answer)
            self._end(exceptions.ResponseDataLossError(str(reason.value)))


class WireClient:
    """Sends requests; keeps at most ``idle`` connections per host for reuse, none while over ``most`` are open."""

    def __init__(self, idle: int, most: int) -> None:
        self.reset = set[int]()  #: answers without a clean end: one that ends the same way again is taken for whole
        self._most_idle, self._most = idle, most
        self._idle: defaultdict[Key, list[WireConnection]] = defaultdict(list)
        self._open = 0

    async def ask(self, asked: WireRequest, key: Key, endpoint: Callable[[], Any]) -> None:
        """Have a request answered; raises what Scrapy's handlers raise. ``endpoint`` makes a connection to the host."""
        from twisted.internet import reactor  # here, as Scrapy installs it first

        clock: Any = reactor
        timer = clock.callLater(asked.patience, asked.give_up)
        try:
            while not await self._is_answered(asked, key, endpoint):
                pass
        except CancelledError as error:
            raise exceptions.DownloadTimeoutError(f"no whole answer within {asked.patience} seconds") from error
        except Exception as error:
            for theirs, ours in _CALLED:
                if isinstance(error, theirs):
                    raise ours(str(error)) from error
            raise
        finally:
            if timer.active():
                timer.cancel()

    async def _is_answered(self, asked: WireRequest, key: Key, endpoint: Callable[[], Any]) -> bool:
        """Ask once; ``False``: an idle connection turned out to be closed."""
        waiting = self._waiting(key)
        connection = waiting or await asked.wait_for(endpoint().connect(_Factory(self, key)))
        try:
            await asked.wait_for(connection.ask(asked))
        except ResponseFailed:
            if not waiting or asked.tap.size or asked.method not in _SAFE:
                raise
            return False
        return True

    def made(self) -> None:
        """Count one more open connection."""
        self._open += 1
        if self._open > self._most:
            self.close()

    def lost(self, key: Key, connection: WireConnection) -> None:
        """Count one open connection less."""
        self._open -= 1
        self._idle[key] = [other for other in self._idle[key] if other is not connection]
        if not self._idle[key]:
            del self._idle[key]

    def keep(self, key: Key, connection: WireConnection) -> None:
        """Keep an idle connection for reuse."""
        connection.since = monotonic()
        if len(self._idle[key]) < self._most_idle and self._open <= self._most:
            self._idle[key].append(connection)
        else:
            connection.leave()

    def _waiting(self, key: Key) -> WireConnection | None:
        """An idle connection that was used recently: machines in between may have dropped an older one."""
        while self._idle[key]:
            connection = self._idle[key].pop()
            if monotonic() - connection.since < IDLE:
                return connection
            connection.leave()
        return None

    def close(self) -> None:
        """Close idle connections."""
        idle, self._idle = self._idle, defaultdict(list)
        for connection in chain.from_iterable(idle.values()):
            connection.leave()


class _Factory(Factory):
    noisy = False

    def __init__(self, client: WireClient, key: Key) -> None:
        self._made_for = client, key

    def buildProtocol(self, _: Any) -> WireConnection:  # noqa: N802 - Twisted's name
        return WireConnection(*self._made_for)
