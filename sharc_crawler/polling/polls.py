"""Which hub is polled when: the plan of an instant crawl, over all its sites."""

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
FORGOTTEN = 100.0  #: mean intervals after which a poll counts half
LEAST_SHARE = 0.1  #: of the budget that is left to polls, however much there is to fetch
UNDER_WAY = math.inf
NEVER = 1e-12  #: new pages a second: polled as rarely as any


def budget_of(hourly: float) -> TokenBucket:
    """A bucket of requests, so many an hour, that holds a minute's requests, or 10 if that is more.

    >>> budget = budget_of(60)
    >>> for _ in range(10): budget.spend(0.0)
    >>> budget.ready(0.0), budget.ready(0.0, spare=5)
    (60.0, 360.0)
    """
    return TokenBucket(hourly / HOUR, burst=max(10.0, hourly / 60))


class Polls:
    """The hubs, when each is due, and when the crawl is over. Hubs, hosts and sites have names of their owners' choice.

    Every poll may change the shares of all hubs; a hub's next poll is its share after its last one. New pages that two
    hubs name count for the one that showed them first: a hub is worth what the others do not bring sooner.
    """

    def __init__(self, terms: Terms | None = None) -> None:
        self.terms = terms or Terms()
        self.budget = budget_of(self.terms.requests)
        self.ends: Instant = math.inf  #: of the crawl; nothing is polled after it
        self.made = 0  #: polls that brought an answer
        self.found = 0  #: new pages
        self._novelty = Novelty(FORGOTTEN * self.terms.every)
        self._hubs: list[Hashable] = []
        self._numbers: dict[Hashable, int] = {}
        self._hosts: dict[Hashable, list[int]] = {}  #: host → hubs
        self._sites: dict[Hashable, int] = {}  #: site → hubs
        self._kept: list[bool] = []  #: it has not been dropped
        self._seen: list[Instant | None] = []  #: start of the last poll that brought an answer
        self._tried: list[Instant] = []  #: of the last poll
        self._polls: list[int] = []
        self._due = np.empty(0)
        self._trials = Trials()
        self._pending: dict[Hashable, int] = {}  #: new pages of the answer that is being read
        self._spent = 0  #: requests

    def __len__(self) -> int:
        return sum(self._kept)

    def begin(self, now: Instant, interrupted: Seconds = 0.0) -> None:
        """The crawl began at ``now``; the time in which it stood still does not count."""
        self.ends = now + self.terms.duration + interrupted

    def add(self, page: Hashable, host: Hashable, site: Hashable, trial: bool = False) -> None:
        """One more hub, to be polled at once; on ``trial``, then rarely, until it shows what no other has shown."""
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
        """A page turned out to be no hub."""
        number = self._numbers[page]
        self._hosts[host].remove(number)
        self._sites[site] -= 1
        self._kept[number] = False
        self._trials.end(number)
        self._plan()

    @property
    def room(self) -> int:
        """How many more hubs may be tried."""
        return self._trials.room(len(self)) if self.terms.adaptive else 0

    def on_trial(self, page: Hashable) -> bool:
        """Is this a hub found on a new page that has yet to show what no other shows?"""
        return self._numbers.get(page) in self._trials.under_way

    def barren(self, page: Hashable) -> bool:
        """Is this a hub found on a new page that shows nothing which the others do not show?"""
        return self._trials.barren(self._numbers[page], self.found)

    # -- what comes next -----------------------------------------------------------------------------------------

    def open(self, site: Hashable, now: Instant) -> bool:
        """Does a site have hubs that are still to be polled?"""
        return now < self.ends and self._sites.get(site, 0) > 0

    def due(self, host: Hashable, now: Instant) -> Instant:
        """When a hub of the host is to be polled, or the crawl ends; inf: never."""
        hubs = self._hosts.get(host)
        if not hubs or now >= self.ends:
            return math.inf
        first = max(float(self._due[hubs].min()), self.budget.ready(now, self._spare))
        return min(first, self.ends)

    def take(self, host: Hashable, now: Instant) -> Hashable | None:
        """The hub of this host that has waited longest for its poll, from now on under way; ``None``: none is due."""
        if self.due(host, now) > now or now >= self.ends:
            return None
        hubs = self._hosts[host]
        number = hubs[int(self._due[hubs].argmin())]
        self._due[number] = UNDER_WAY
        return self._hubs[number]

    def spend(self, now: Instant) -> None:
        """A request of any kind is sent."""
        self._spent += 1
        self.budget.spend(now)

    @property
    def _spare(self) -> float:
        """Polls leave half of the bucket to what they find."""
        return self.budget.burst // 2

    # -- what came of it -----------------------------------------------------------------------------------------

    def last(self, page: Hashable) -> Instant | None:
        """Start of the last poll that brought an answer; ``None``: there was none."""
        return self._seen[self._numbers[page]] if page in self._numbers else None

    def news(self, page: Hashable) -> None:
        """The answer that is being read names a page that was not known."""
        self.found += 1
        self._pending[page] = self._pending.get(page, 0) + 1

    def polled(self, page: Hashable, started: Instant, alone: bool = False) -> None:
        """A poll brought an answer, after all its :meth:`news`; ``alone``: what is new there, no other hub shows."""
        number = self._numbers[page]
        before, new = self._seen[number], self._pending.pop(page, 0)
        if before is not None:
            self._novelty.looked(number, max(started - before, 0.0), new)
        self._trials.polled(number, alone, self.found)
        self._seen[number] = started
        self.made += 1
        self.missed(page, started)

    def missed(self, page: Hashable, started: Instant) -> None:
        """A poll has ended; what had happened meanwhile is not known where it brought no answer."""
        number = self._numbers[page]
        self._tried[number] = started
        self._polls[number] += 1
        self._due[number] = 0.0
        self._plan()

    def _plan(self) -> None:
        """Share out the polls anew; those under way stay so."""
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
        # All were first polled at once: the second time they take turns.
        turns = np.where(np.array(self._polls)[kept] > 1, 1.0, np.arange(1, len(kept) + 1) / len(kept))
        due = np.array(self._tried)[kept] + shares * turns
        self._due[kept] = np.where(self._due[kept] == UNDER_WAY, UNDER_WAY, due)

    @property
    def pace(self) -> float:
        """Polls a second: one of each hub in ``every`` seconds, less where the budget has to last for what is new.

        Hubs on trial are polled out of the same.
        """
        wanted = (len(self) - len(self._trials.under_way)) / self.terms.every
        if self.budget.rate == math.inf:
            return wanted
        allowed = self.budget.rate
        for_news = self._novelty.total * max(1.0, (self._spent - self.made) / max(self.found, 1))
        return min(wanted, max(allowed - for_news, LEAST_SHARE * allowed))


# -- how polls are shared out among hubs, so that what is new waits as short as can be ---------------------------------


def intervals(rates: NDArray[np.float64], pace: float, shortest: Seconds, longest: Seconds) -> NDArray[np.float64]:
    """Seconds between two polls of each hub, ``pace`` polls a second in all.

    A page that hub i brings waits 1/(2fᵢ) on average, where fᵢ is how often the hub is polled. Σ λᵢ/(2fᵢ) under
    Σ fᵢ = F is least where fᵢ ∝ √λᵢ (Lagrange): the method here, with fᵢ held between 1/longest and 1/shortest and the
    factor found by bisection. Where even the longest intervals are more than the pace allows, all hubs share alike.

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


# -- hubs found on new pages: on trial until they show what no other hub shows -----------------------------------------


MOST = 100  #: such hubs at a time
PATIENCE = 50  #: new pages that all hubs show while such a hub shows none alone
MOST_DOUBLED = 4  #: times


class Trials:
    """Which hubs, by number, are on trial, and how patient the crawl is with those that it found.

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
        self._marks: dict[int, float] = {}  #: found hub → all new pages when first polled, or last worth it
        self._vain = 0  #: trials in a row that came to nothing

    def begin(self, hub: int) -> None:
        """A hub is found."""
        self.under_way.add(hub)
        self._marks[hub] = math.inf

    def polled(self, hub: int, alone: bool, new_pages: int) -> None:
        """A hub answered, when all had shown so many new pages; ``alone``: no other showed most that is new there."""
        if hub in self._marks and (alone or self._marks[hub] == math.inf):
            self._marks[hub] = new_pages
        if alone and hub in self.under_way:
            self.under_way.remove(hub)
            self._vain = 0

    def barren(self, hub: int, new_pages: int) -> bool:
        """Is this a found hub that has shown nothing alone for long?"""
        return new_pages - self._marks.get(hub, math.inf) >= PATIENCE

    def end(self, hub: int) -> None:
        """The hub is dropped."""
        if self._marks.pop(hub, None) is not None and hub in self.under_way:
            self.under_way.remove(hub)
            self._vain += 1

    def room(self, hubs: int) -> int:
        """How many more may be tried: one for four others (a fortieth of the polls), or for a single one (a tenth)."""
        others = hubs - len(self.under_way)
        return max(0, min(max(others // 4, 1) - len(self.under_way), MOST - len(self._marks)))

    @property
    def stretch(self) -> float:
        """How much more rarely than any other a hub on trial is polled: each trial in vain doubles it."""
        return 2.0 ** min(self._vain, MOST_DOUBLED)
