"""One host's politeness: when it may be asked again, how often at once, what it allows.

Hosts that are nearly always one machine (``www.x`` and ``x``) share their pace; robots.txt is each one's own.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from sharc_crawler.links.robots import Rules
from sharc_crawler.model import Instant, Outcome, PageId, Plan, Result, Seconds, Slot

TOO_MANY = {429, 503}  #: what a host says that is asked too often
TAKEN = 0  #: attempts at what no server was asked for: a former capture has it


@dataclass(frozen=True, slots=True)
class Politeness:
    """How hosts are treated; one value for all, with exceptions by host name."""

    delay: Seconds = 1.0  #: between the starts of two requests to one host
    concurrency: int = 1  #: requests in flight per host
    attempts: int = 3  #: of one fetch, in all
    back_off: Seconds = 5.0  #: before the second attempt; doubled for each further one
    longest_pause: Seconds = 3600.0  #: a server's Retry-After is honoured up to this
    #: a host whose robots.txt asks for more between two requests is left out, where Heritrix stops obeying it
    #: (respectCrawlDelayUpToSeconds): nothing is asked sooner than it wants. 288 pages a day
    max_delay: Seconds = 300.0
    obey_robots: bool = True
    agent: str = "sharc-crawler"  #: product token that robots.txt is read for
    hosts: Mapping[str, Seconds] | None = None  #: delays of single hosts
    at_once: Mapping[str, int] | None = None  #: requests in flight of single hosts
    apart: bool = True  #: two downloads of a page are in two seconds

    def delay_of(self, host: str) -> Seconds:
        """The delay between two requests to a host."""
        return (self.hosts or {}).get(host, self.delay)

    def concurrency_of(self, host: str) -> int:
        """The requests in flight to a host, at most."""
        return (self.at_once or {}).get(host, self.concurrency)


class Task(NamedTuple):
    """A download that a host owes: which URL, in which slot, for the how-manieth time."""

    page: PageId
    slot: Slot = Slot.ONLY
    plan: Plan = Plan.HOPEFUL
    attempt: int = 1


class Pace:
    """When a machine may be asked again, whichever of its names is used, for whichever site."""

    __slots__ = ("_waiting", "busy", "due", "last", "paused")

    def __init__(self) -> None:
        self.due = self.paused = 0.0  #: instants: `paused` until, whatever the delay
        self.last: tuple[Instant, Host | None] = 0.0, None  #: request, and to which of its hosts
        self.busy = 0  #: requests in flight
        self._waiting: dict[tuple[HostRing, int], None] = {}  # hosts that found it busy, next to be asked first

    def pause(self, until: Instant) -> None:
        """Nothing more is sent before ``until``."""
        self.paused = max(self.paused, until)
        self.due = max(self.due, until)

    def asked(self, host: Host, at: Instant) -> None:
        """A host of its was sent a request: the next one waits for that host's delay."""
        self.last = (at, host) if at >= self.last[0] else self.last
        self.due = max(self.due, at + host.delay)

    def free(self, now: Instant, host: Host) -> Instant:  # noqa: ARG002 - for whoever shares it with others
        """From when on it may be asked what a host of its has to ask."""
        return self.due

    def wait(self, ring: HostRing, host: int) -> None:
        """A host has found it busy."""
        self._waiting[ring, host] = None

    def leave(self, ring: HostRing) -> None:
        """No host of this ring waits any more."""
        self._waiting = {one: None for one in self._waiting if one[0] is not ring}

    def offer(self) -> None:
        """It may be asked again, as far as is known: the host that has waited longest is woken, and no other."""
        if self._waiting:
            ring, host = next(iter(self._waiting))
            del self._waiting[ring, host]
            ring.wake(host)


class Host:
    """Queues and due times of one host."""

    __slots__ = (
        "asked", "at_once", "away", "has_pages", "held", "lost", "missing", "name", "own", "pace", "read", "retries",
        "robots", "row", "rules", "silence", "slowed", "slowed_at", "slowest", "too_slow", "urgent", "waits"
    )  # fmt: skip

    def __init__(self, name: str, politeness: Politeness, pace: Pace | None = None) -> None:
        self.name = name
        self.own = politeness.delay_of(name)  #: between two requests, as we were told
        self.at_once = politeness.concurrency_of(name)  #: requests in flight
        self.asked: Seconds = 0.0  #: by robots.txt
        self.slowed, self.slowed_at = 0.0, 0.0  #: as it refused requests, and when it did last
        self.slowest, self.row = 1e9, 0  #: the longest of these delays; answers in a row, or refusals (below 0)
        self.read: Instant = 0.0  #: when robots.txt was had last
        self.pace = pace or Pace()
        self.rules: Rules | None = None
        self.missing = ""  #: why there is no robots.txt, where nothing may be fetched for that
        self.too_slow = ""  #: why it is left out, where it asks for a longer delay than we wait
        self.away = 0  #: URLs in a row that asked for a longer pause than is made
        self.lost = 0  #: fetches in a row, with all their attempts
        self.silence: Instant = 0.0  #: when the first of them was asked for last
        self.waits = politeness.obey_robots  #: nothing but robots.txt may be fetched before it is read
        self.robots: Task | None = None  #: the fetch of robots.txt, until it is leased
        self.has_pages = False  #: the capture's may lie here
        self.urgent: deque[Task] = deque()  #: sitemaps, resources: before the next page
        self.held: deque[Task] = deque()  #: pages chosen while the host was not free
        self.retries: list[tuple[Instant, PageId, Task]] = []  #: heap by due time

    @property
    def delay(self) -> Seconds:
        """Between the starts of two requests."""
        return max(self.own, self.asked, self.slowed)

    @property
    def owes(self) -> bool:
        """There may be something to ask it for."""
        return bool(self.has_pages or self.urgent or self.held or self.retries or self.robots)

    def obey(self, rules: Rules, longest: Seconds) -> None:
        """Its rules from now on; one that asks for more than the ``longest`` delay is left out."""
        self.rules = rules
        asks = f"asks for {rules.delay:.15g} s between two requests: more than SHARC_MAX_DELAY={longest:.15g}"
        self.too_slow = asks if rules.delay > longest else ""
        self.asked = 0.0 if self.too_slow else rules.delay  # what is never asked waits for nothing

    def over(self, outcome: Outcome) -> None:
        """A fetch ended, with all its attempts."""
        self.silence = self.silence if self.lost else outcome.started
        self.lost = self.lost + 1 if outcome.result is _FAILED else 0

    def allows(self, url: str) -> bool:
        """May the URL be fetched, as far as is known?"""
        return not self.too_slow and (self.rules is None or self.rules.allows(url))

    def retry(self, task: Task, due: Instant) -> None:
        """Try a task again at ``due``."""
        heapq.heappush(self.retries, (due, task.page, task))

    def owed(self, now: Instant) -> Task | None:
        """The next task that no strategy has to be asked for."""
        if self.retries and self.retries[0][0] <= now:
            return heapq.heappop(self.retries)[2]
        if self.waits:
            task, self.robots = self.robots, None
            return task
        queue = self.urgent or self.held
        return queue.popleft() if queue else None


class _Place(IntEnum):
    PARKED = 0
    READY = 1
    DELAYED = 2


_READY, _FAILED = _Place.READY, Result.FAILED  # looked up once


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

    def __init__(self, woken: Callable[[], None] = lambda: None) -> None:
        self._woken = woken  # called when there is a host to ask, and was none
        self._places: list[_Place] = []
        self._ready: deque[int] = deque()
        self._delayed: list[tuple[Instant, int]] = []

    def add(self) -> int:
        """A new host, parked; its number."""
        self._places.append(_Place.PARKED)
        return len(self._places) - 1

    def wake(self, host: int) -> None:
        """The host may have work: ask it soon."""
        if self._places[host] != _READY:
            self._places[host] = _READY
            self._ready.append(host)
            if len(self._ready) == 1:
                self._woken()

    def wake_all(self) -> None:
        """The capture may have work for all hosts."""
        self._delayed.clear()
        for host in range(len(self._places)) if len(self._ready) < len(self._places) else ():
            self.wake(host)

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
