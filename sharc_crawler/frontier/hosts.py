"""Politeness by host: when it may be asked again, how many requests at once, what robots.txt allows.

Hosts that are nearly always one machine (``www.x`` and ``x``) share a pace; each has its own robots.txt.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sharc_crawler.links.robots import Rules
from sharc_crawler.model import Instant, Outcome, PageId, Plan, Result, Seconds, Slot

TOO_MANY = {429, 503}  #: statuses that mean: too many requests
TAKEN = 0  #: attempt number of a visit that a former capture's answer stands for: no request is made


@dataclass(frozen=True, slots=True)
class Politeness:
    """How hosts are treated, with exceptions by host name."""

    delay: Seconds = 1.0  #: between the starts of two requests to one host
    concurrency: int = 1  #: requests in flight per host
    attempts: int = 3  #: in all, at one fetch
    back_off: Seconds = 5.0  #: before the second attempt; doubled for each further one
    longest_pause: Seconds = 3600.0  #: a server's Retry-After is honoured up to this
    #: a host whose robots.txt asks for a longer delay is left out. (Heritrix asks it sooner than it wants:
    #: respectCrawlDelayUpToSeconds.) 300 s allow 288 pages a day
    max_delay: Seconds = 300.0
    obey_robots: bool = True
    agent: str = "sharc-crawler"  #: product token that robots.txt is read for
    hosts: Mapping[str, Seconds] | None = None  #: delays by host
    at_once: Mapping[str, int] | None = None  #: requests in flight by host
    apart: bool = True  #: two downloads of a page start in different seconds

    def delay_of(self, host: str) -> Seconds:
        """Return the delay between two requests to a host."""
        return (self.hosts or {}).get(host, self.delay)

    def concurrency_of(self, host: str) -> int:
        """Return how many requests to a host may be in flight."""
        return (self.at_once or {}).get(host, self.concurrency)


class Task(NamedTuple):
    """A download that a host owes: the page, its slot, the number of the attempt."""

    page: PageId
    slot: Slot = Slot.ONLY
    plan: Plan = Plan.HOPEFUL
    attempt: int = 1


class Pace:
    """When a machine may be asked again, shared by all its host names and all sites."""

    __slots__ = ("_waiting", "busy", "due", "last", "paused")

    def __init__(self) -> None:
        self.due = self.paused = 0.0  #: when the next request may start; end of the pause, whatever the delay
        self.last: tuple[Instant, Host | None] = 0.0, None  #: start of the last request, and its host
        self.busy = 0  #: requests in flight
        self._waiting: dict[tuple[HostRing, int], None] = {}  # hosts that found it busy, the longest first

    def pause(self, until: Instant) -> None:
        """Send no request before ``until``."""
        self.paused = max(self.paused, until)
        self.due = max(self.due, until)

    def asked(self, host: Host, at: Instant) -> None:
        """Note a request to one of its hosts: the next waits for that host's delay."""
        self.last = (at, host) if at >= self.last[0] else self.last
        self.due = max(self.due, at + host.delay)

    def free(self, now: Instant, host: Host) -> Instant:  # noqa: ARG002 - for subclasses
        """Return when this host may be asked next."""
        return self.due

    def wait(self, ring: HostRing, host: int) -> None:
        """Queue a host that found the machine busy."""
        self._waiting[ring, host] = None

    def leave(self, ring: HostRing) -> None:
        """Remove all hosts of this ring from the queue."""
        self._waiting = {waiting: None for waiting in self._waiting if waiting[0] is not ring}

    def offer(self) -> None:
        """The machine may be free: wake the host that has waited longest."""
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
        self.own = politeness.delay_of(name)  #: delay as configured
        self.at_once = politeness.concurrency_of(name)  #: requests in flight
        self.asked: Seconds = 0.0  #: delay that robots.txt asks for
        self.slowed, self.slowed_at = 0.0, 0.0  #: delay set after refusals; when the last refusal was
        self.slowest, self.row = 1e9, 0  #: upper bound of `slowed`; answers in a row, or refusals (negative)
        self.read: Instant = 0.0  #: when robots.txt was last read
        self.pace = pace or Pace()
        self.rules: Rules | None = None
        self.missing = ""  #: why robots.txt could not be read, if that forbids all fetches
        self.too_slow = ""  #: why it is left out, if it asks for too long a delay
        self.away = 0  #: URLs in a row with a Retry-After longer than the longest pause
        self.lost = 0  #: fetches in a row that failed at all attempts
        self.silence: Instant = 0.0  #: start of the first of these
        self.waits = politeness.obey_robots  #: robots.txt must be read first
        self.robots: Task | None = None  #: the fetch of robots.txt, until it is leased
        self.has_pages = False  #: it may have pages of the capture
        self.urgent: deque[Task] = deque()  #: sitemaps and resources, due before the next page
        self.held: deque[Task] = deque()  #: pages chosen while the host was not free
        self.retries: list[tuple[Instant, PageId, Task]] = []  #: heap by due time

    @property
    def delay(self) -> Seconds:
        """The delay between the starts of two requests."""
        return max(self.own, self.asked, self.slowed)

    @property
    def owes(self) -> bool:
        """May there be something to fetch?"""
        return bool(self.has_pages or self.urgent or self.held or self.retries or self.robots)

    def obey(self, rules: Rules, longest: Seconds) -> None:
        """Set the rules; a host that asks for more than the ``longest`` delay is left out."""
        self.rules = rules
        asks = f"asks for {rules.delay:.15g} s between two requests: more than SHARC_MAX_DELAY={longest:.15g}"
        self.too_slow = asks if rules.delay > longest else ""
        self.asked = 0.0 if self.too_slow else rules.delay  # no need to wait if nothing is fetched

    def over(self, outcome: Outcome) -> None:
        """Note the end of a fetch, after its last attempt."""
        self.silence = self.silence if self.lost else outcome.started
        self.lost = self.lost + 1 if outcome.result is _FAILED else 0

    def allows(self, url: str) -> bool:
        """May the URL be fetched by the rules known?"""
        return not self.too_slow and (self.rules is None or self.rules.allows(url))

    def retry(self, task: Task, due: Instant) -> None:
        """Queue a task for ``due``."""
        heapq.heappush(self.retries, (due, task.page, task))

    def owed(self, now: Instant) -> Task | None:
        """Return the next task that needs no decision of the strategy."""
        if self.retries and self.retries[0][0] <= now:
            return heapq.heappop(self.retries)[2]
        if self.waits:
            task, self.robots = self.robots, None
            return task
        queue = self.urgent or self.held
        return queue.popleft() if queue else None


_PARKED, _READY, _DELAYED = range(3)  # a host's place in its ring
_FAILED = Result.FAILED  # a local name is faster


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
        self._woken = woken  # called when the first host becomes ready
        self._places: list[int] = []
        self._ready: deque[int] = deque()
        self._delayed: list[tuple[Instant, int]] = []

    def add(self) -> int:
        """Add a host, parked, and return its number."""
        self._places.append(_PARKED)
        return len(self._places) - 1

    def wake(self, host: int) -> None:
        """Make a host ready: it may have work."""
        if self._places[host] != _READY:
            self._places[host] = _READY
            self._ready.append(host)
            if len(self._ready) == 1:
                self._woken()

    def wake_all(self, hosts: Sequence[int] | None = None) -> None:
        """Make all hosts ready, or these."""
        for host in range(len(self._places)) if hosts is None else hosts:
            self.wake(host)
        if self._delayed:  # a sorted list is a heap
            self._delayed = sorted({entry for entry in self._delayed if self._places[entry[1]] == _DELAYED})

    def head(self) -> int | None:
        """Return the next host to ask."""
        return self._ready[0] if self._ready else None

    def rotate(self) -> None:
        """Move the head to the end."""
        self._ready.rotate(-1)

    def park(self) -> None:
        """Park the head until it is woken."""
        self._places[self._ready.popleft()] = _PARKED

    def delay(self, until: Instant) -> None:
        """Delay the head until ``until``."""
        host = self._ready.popleft()
        self._places[host] = _DELAYED
        heapq.heappush(self._delayed, (until, host))

    def ripen(self, now: Instant) -> None:
        """Make delayed hosts ready whose time has come."""
        while self._delayed and self._delayed[0][0] <= now:
            self.wake(heapq.heappop(self._delayed)[1])

    def earliest(self) -> Instant | None:
        """Return when the first delayed host is due."""
        return self._delayed[0][0] if self._delayed else None
