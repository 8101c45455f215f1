"""| Records what passes over a connection for one request."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from sharc_crawler.bodies.spool import LARGE, Octets
from sharc_crawler.live.reading.memory import MemoryBudget
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from OpenSSL import SSL

    from sharc_crawler.bodies.spooling import Spooling

logger = logging.getLogger(__name__)


class WithheldError(Exception):
    """A request must not be sent any more."""


class Tap:
    """Records what passes over a connection for one request."""

    def __init__(
        self,
        clock: Callable[[], float],
        memory: MemoryBudget | None = None,
        may_send: Callable[[], bool] = lambda: True,
        url: str = "",
    ) -> None:
        self.clock = clock
        self.url = url
        self.may_send = may_send
        self.withheld = False  #: the request was not sent
        self.enough = False  #: the rest of the body was not waited for
        self.fault: OSError | None = None  #: why a large response could not be kept
        self._memory = memory or MemoryBudget()
        self._received: list[bytes] = []
        self._held = 0  # their size in bytes
        self._large: Spooling | None = None
        self.sent, self.before = list[bytes](), 0  #: times that it was sent before
        self.begin(None)

    def begin(self, peer: str | None, tls: SSL.Connection | None = None) -> None:
        """The request is being sent, perhaps again after an idle connection turned out to be closed."""
        self.started = self.clock()
        self.peer = peer
        self.tls = tls
        self.before += bool(self.sent)
        self.sent = []
        self.left = 0.0  #: by when the request had; 0: it has not yet
        self.size = 0  #: bytes received
        self.surplus = b""
        if self._large:
            self._large.discard()
            self._large = None
        self._let_go()

    def leave(self) -> None:
        """The request has left, which on a busy machine may be long after it was begun."""
        self.left = self.clock()

    def receive(self, data: bytes) -> None:
        """Bytes arrived. Raises :class:`OSError` where the disk has no room for a large response."""
        self.size += len(data)
        try:
            if self._large:
                self._large.write(data)
                return
            self._received.append(data)
            self._held += len(data)
            self._memory.taken += len(data)
            if self._held > LARGE:
                self._large = self._memory.spooling()
                self._memory.large.add(self)
                for piece in self._received:
                    self._large.write(piece)
                self._let_go()
        except OSError as error:
            self.fault = error
            raise

    def forget(self, surplus: int) -> None:
        """Take the last bytes out of the response, as surplus."""
        logger.warning("%s: %s after the end of the response, kept beside it", self.url, counted(surplus, "byte"))
        if self._large:
            self.surplus += self._large.cut(surplus)
            return
        whole = b"".join(self._received)
        self._received = [whole[: len(whole) - surplus]]
        self.surplus += whole[len(whole) - surplus :]

    def response(self) -> Octets:
        """The response; the tap keeps nothing of it."""
        large, self._large = self._large, None
        received = large.done() if large else b"".join(self._received)
        self._let_go()
        return received

    def _let_go(self) -> None:
        self._memory.taken -= self._held
        self._received, self._held = [], 0
        if not self._large:
            self._memory.large.discard(self)
