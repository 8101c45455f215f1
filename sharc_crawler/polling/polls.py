"""Plan of an instant crawl's polls, over all its sites."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.bucket import TokenBucket
from sharc_crawler.model import Instant, Seconds
from sharc_crawler.polling.novelty import Novelty
from sharc_crawler.polling.terms import Terms

HOUR = 3600.0
FORGOTTEN = 100.0  #: half-life of a poll's weight, in mean intervals
LEAST_SHARE = 0.1  #: minimum share of the budget for polls
UNDER_WAY = math.inf
NEVER = 1e-12  #: rate of hubs to be polled as rarely as possible


def budget_of(hourly: float) -> TokenBucket:
    """Make a bucket of so many requests per hour that holds a minute's requests, at least 10.

    >>> budget = budget_of(60)
    >>> for _ in range(10): budget.spend(0.0)
    >>> budget.ready(0.0), budget.ready(0.0, spare=5)
    (60.0, 360.0)
    """
    return TokenBucket(hourly / HOUR, burst=max(10.0, hourly / 60))


class Polls:
    """The hubs, when each is due, and when the crawl ends. Callers choose the keys of hubs, hosts and sites.

    Every poll may change the intervals of all hubs; a hub's next poll is its interval after its last one. A new page
    counts for the hub that showed it first.
    """

    def __init__(self, terms: Terms | None = None) -> None:
        self.terms = terms or Terms()
        self.budget = budget_of(self.terms.requests)
        self.ends: Instant = math.inf  #: the crawl's end
        self.made = 0  #: answered polls
        self.found = 0  #: new pages found
        self._novelty = Novelty(FORGOTTEN * self.terms.every)
        self._hubs: list[Hashable] = []
        self._numbers: dict[Hashable, int] = {}
        self._hosts: dict[Hashable, list[int]] = {}  #: host → hubs
        self._sites: dict[Hashable, int] = {}  #: site → hubs
        self._kept: list[bool] = []  #: by hub: it is not dropped
        self._seen: list[Instant | None] = []  #: start of the last answered poll
        self._tried: list[Instant] = []  #: start of the last poll
        self._polls: list[int] = []
        self._due = np.empty(0)
        self._trials = Trials()
        self._pending: dict[Hashable, int] = {}  #: new pages of the current answer
        self._spent = 0  #: requests made

    def __len__(self) -> int:
        return sum(self._kept)

    def begin(self, now: Instant, interrupted: Seconds = 0.0) -> None:
        """Begin the crawl at ``now``; the time in which it stood still does not count."""
        self.ends = now + self.terms.duration + interrupted

    def add(self, page: Hashable, host: Hashable, site: Hashable, trial: bool = False) -> None:
        """Add a hub, to be polled at once; on ``trial`` then rarely, until it shows pages that no other shows."""
        number = self._novelty.add()
        self._hubs.append(page)
        self._numbers[page] = number
        self._hosts.setdefault(host, []).append(number)
        self._sites[site] = self._sites.get(site, 0) + 1
        self._kept.append(True)
        self._seen.append(None)
        self._tried.append(-math.inf)
        self._polls.append(0)
        self._due = np.append(self._due, 0.0)
        if trial:
            self._trials.begin(number)

    def drop(self, page: Hashable, host: Hashable, site: Hashable) -> None:
        """Drop a hub."""
        number = self._numbers[page]
        self._hosts[host].remove(number)
        self._sites[site] -= 1
        self._kept[number] = False
        self._trials.end(number)
        self._plan()

    @property
    def room(self) -> int:
        """How many more hubs may be added on trial."""
        return self._trials.room(len(self)) if self.terms.adaptive else 0

    def on_trial(self, page: Hashable) -> bool:
        """Is this hub on trial?"""
        return self._numbers.get(page) in self._trials.under_way

    def barren(self, page: Hashable) -> bool:
        """Has this hub, added on trial, shown nothing alone for long?"""
        return self._trials.barren(self._numbers[page], self.found)

    # -- decisions -----------------------------------------------------------------------------------------------

    def open(self, site: Hashable, now: Instant) -> bool:
        """Has a site hubs still to be polled?"""
        return now < self.ends and self._sites.get(site, 0) > 0

    def due(self, host: Hashable, now: Instant) -> Instant:
        """Return when a hub of the host is due, or the crawl ends; inf: never."""
        hubs = self._hosts.get(host)
        if not hubs or now >= self.ends:
            return math.inf
        first = max(float(self._due[hubs].min()), self.budget.ready(now, self._spare))
        return min(first, self.ends)

    def take(self, host: Hashable, now: Instant) -> Hashable | None:
        """Return the hub of this host that is due first, and mark it as under way; ``None`` if none is due."""
        if self.due(host, now) > now or now >= self.ends:
            return None
        hubs = self._hosts[host]
        number = hubs[int(self._due[hubs].argmin())]
        self._due[number] = UNDER_WAY
        return self._hubs[number]

    def spend(self, now: Instant) -> None:
        """Count a request of any kind."""
        self._spent += 1
        self.budget.spend(now)

    @property
    def _spare(self) -> float:
        """Tokens that polls leave for the pages they find: half of the bucket."""
        return self.budget.burst // 2

    # -- outcomes ------------------------------------------------------------------------------------------------

    def last(self, page: Hashable) -> Instant | None:
        """Return the start of the last answered poll; ``None`` if there was none."""
        return self._seen[self._numbers[page]] if page in self._numbers else None

    def news(self, page: Hashable) -> None:
        """Count a new page in the current answer."""
        self.found += 1
        self._pending[page] = self._pending.get(page, 0) + 1

    def polled(self, page: Hashable, started: Instant, alone: bool = False) -> None:
        """Enter an answered poll, after its :meth:`news`; ``alone``: no other hub shows its new pages."""
        number = self._numbers[page]
        before, new = self._seen[number], self._pending.pop(page, 0)
        if before is not None:
            self._novelty.looked(number, max(started - before, 0.0), new)
        self._trials.polled(number, alone, self.found)
        self._seen[number] = started
        self.made += 1
        self.missed(page, started)

    def missed(self, page: Hashable, started: Instant) -> None:
        """Enter the end of a poll, perhaps without an answer."""
        number = self._numbers[page]
        self._tried[number] = started
        self._polls[number] += 1
        self._due[number] = 0.0
        self._plan()

    def _plan(self) -> None:
        """Compute all due times anew; polls under way stay so."""
        kept = np.flatnonzero(self._kept)
        if not len(kept):
            return
        terms, rates = self.terms, self._novelty.rates()
        if not terms.adaptive:
            rates = np.ones(len(rates))
        trial = np.isin(kept, list(self._trials.under_way))
        rates = np.where(trial, NEVER, rates[kept])
        shares = intervals(rates, self.pace, terms.shortest, terms.longest)
        shares[trial] *= self._trials.stretch
        # All were first polled together: stagger the second polls.
        turns = np.where(np.array(self._polls)[kept] > 1, 1.0, np.arange(1, len(kept) + 1) / len(kept))
        due = np.array(self._tried)[kept] + shares * turns
        self._due[kept] = np.where(self._due[kept] == UNDER_WAY, UNDER_WAY, due)

    @property
    def pace(self) -> float:
        """Polls per second: one of each hub in ``every`` seconds, less if new pages need the budget.

        Hubs on trial share this pace.
        """
        wanted = (len(self) - len(self._trials.under_way)) / self.terms.every
        if self.budget.rate == math.inf:
            return wanted
        allowed = self.budget.rate
        for_news = self._novelty.total * max(1.0, (self._spent - self.made) / max(self.found, 1))
        return min(wanted, max(allowed - for_news, LEAST_SHARE * allowed))


# -- intervals between polls, so that new pages wait as briefly as possible --------------------------------------------


def intervals(rates: NDArray[np.float64], pace: float, shortest: Seconds, longest: Seconds) -> NDArray[np.float64]:
    """Return the seconds between two polls of each hub, at ``pace`` polls per second in all.

    A new page of hub i waits 1/(2fᵢ) on average, if the hub is polled with frequency fᵢ. Σ λᵢ/(2fᵢ) under Σ fᵢ = F is
    least for fᵢ ∝ √λᵢ (Lagrange). Here fᵢ is also kept between 1/longest and 1/shortest, and the factor is found by
    bisection. If the pace does not even allow the longest intervals, all hubs get the same one.

    >>> intervals(np.array([4.0, 1.0, 1.0]), 0.04, 10.0, 1000.0).round(1).tolist()
    [50.0, 100.0, 100.0]
    >>> intervals(np.array([4.0, 1.0]), 1.0, 10.0, 1000.0).tolist()  # more than is needed
    [10.0, 10.0]
    >>> intervals(np.array([4.0, 1.0]), 0.001, 10.0, 1000.0).tolist()  # less
    [2000.0, 2000.0]
    """
    least, most = 1 / longest, 1 / shortest
    hubs = len(rates)
    if pace >= hubs * most:
        return np.full(hubs, shortest)
    if pace <= hubs * least:
        return np.full(hubs, hubs / pace)
    roots = np.sqrt(rates)
    low, high = least / roots.max(), most / roots.min()
    for _ in range(60):
        middle = np.sqrt(low * high)
        if np.clip(middle * roots, least, most).sum() < pace:
            low = middle
        else:
            high = middle
    shares: NDArray[np.float64] = 1 / np.clip(high * roots, least, most)
    return shares


# -- hubs found on new pages: on trial until they show pages that no other hub shows -----------------------------------


MOST = 100  #: maximum of such hubs at a time
PATIENCE = 50  #: new pages of all hubs without one that such a hub shows alone, after which it is dropped
MOST_DOUBLED = 4  #: maximum of doublings of a trial's interval


class Trials:
    """The hubs on trial, by number.

    >>> trials = Trials()
    >>> trials.begin(7); trials.polled(7, alone=False, new_pages=0)
    >>> trials.barren(7, new_pages=49), trials.barren(7, new_pages=50)
    (False, True)
    >>> trials.polled(7, alone=True, new_pages=50)
    >>> trials.barren(7, new_pages=60), trials.under_way
    (False, set())
    """

    def __init__(self) -> None:
        self.under_way: set[int] = set()
        self._marks: dict[int, float] = {}  #: hub → number of all new pages at its first poll or last success
        self._vain = 0  #: failed trials in a row

    def begin(self, hub: int) -> None:
        """Begin a hub's trial."""
        self.under_way.add(hub)
        self._marks[hub] = math.inf

    def polled(self, hub: int, alone: bool, new_pages: int) -> None:
        """Enter a poll; ``new_pages``: of all hubs so far; ``alone``: most of its new pages no other hub showed."""
        if hub in self._marks and (alone or self._marks[hub] == math.inf):
            self._marks[hub] = new_pages
        if alone and hub in self.under_way:
            self.under_way.remove(hub)
            self._vain = 0

    def barren(self, hub: int, new_pages: int) -> bool:
        """Has a hub shown nothing alone for long?"""
        return new_pages - self._marks.get(hub, math.inf) >= PATIENCE

    def end(self, hub: int) -> None:
        """End a dropped hub's trial."""
        if self._marks.pop(hub, None) is not None and hub in self.under_way:
            self.under_way.remove(hub)
            self._vain += 1

    def room(self, hubs: int) -> int:
        """Return how many more may be tried: one per four other hubs (a fortieth of the polls), at least one."""
        others = hubs - len(self.under_way)
        return max(0, min(max(others // 4, 1) - len(self.under_way), MOST - len(self._marks)))

    @property
    def stretch(self) -> float:
        """Factor of the interval of hubs on trial: each failed trial doubles it."""
        return 2.0 ** min(self._vain, MOST_DOUBLED)
