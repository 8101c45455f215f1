"""Which host may be asked now: a ring of hosts that may have work, a heap of those that must wait, no scans."""

from __future__ import annotations

import heapq
from collections import deque
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharc_crawler.model import Instant


class _Place(IntEnum):
    PARKED = 0
    READY = 1
    DELAYED = 2


class HostRing:
    """Hosts by number, each parked (nothing to do, or busy), ready or delayed until an instant.

    >>> ring = HostRing()
    >>> ring.wake(ring.add()); ring.wake(ring.add()); ring.head()
    0
    >>> ring.rotate(); ring.head()
    1
    >>> ring.delay(5.0); ring.head(), ring.earliest()
    (0, 5.0)
    """

    def __init__(self) -> None:
        self._places: list[_Place] = []
        self._ready: deque[int] = deque()
        self._delayed: list[tuple[Instant, int]] = []

    def add(self) -> int:
        """A new host, parked; its number."""
        self._places.append(_Place.PARKED)
        return len(self._places) - 1

    def wake(self, host: int) -> None:
        """The host may have work: ask it soon."""
        if self._places[host] != _Place.READY:
            self._places[host] = _Place.READY
            self._ready.append(host)

    def head(self) -> int | None:
        """The host to ask next."""
        return self._ready[0] if self._ready else None

    def rotate(self) -> None:
        """The head has had its turn."""
        self._ready.rotate(-1)

    def park(self) -> None:
        """The head has nothing to do until it is woken."""
        self._places[self._ready.popleft()] = _Place.PARKED

    def delay(self, until: Instant) -> None:
        """The head has nothing to do before ``until``."""
        host = self._ready.popleft()
        self._places[host] = _Place.DELAYED
        heapq.heappush(self._delayed, (until, host))

    def ripen(self, now: Instant) -> None:
        """Delayed hosts whose time has come are ready."""
        while self._delayed and self._delayed[0][0] <= now:
            self.wake(heapq.heappop(self._delayed)[1])

    def earliest(self) -> Instant | None:
        """When the first delayed host ripens."""
        return self._delayed[0][0] if self._delayed else None
