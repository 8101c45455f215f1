"""How often the sites of a collection are captured, on replayed histories: how many pages are as archived.

A capture sees all pages of its site at one instant, and costs the requests that ``sharc keep`` reckons with. What it
saw is all that rates are learned from, by what ``sharc keep`` calls. It is planned anew each week, as captures have
taught. Every crawl begins with two captures a day apart, of all sites. Fresh: of the time that pages exist or are gone,
that in which the last capture saw them as they are. A deletion is a change; a page that no capture saw is not fresh.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sharc_crawler.collection.allocation import DAY, Foretold, SiteLoad, intervals, trust, within
from sharc_crawler.collection.planning import AGAIN, UNKNOWN, foretold, site_load
from sharc_crawler.lab.history import lifetimes, read_history
from sharc_crawler.model import Url
from sharc_crawler.rates.history import CHANGED, UNCHANGED, SiteHistory
from sharc_crawler.rates.history import UNKNOWN as UNSEEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from sharc_crawler.model import Seconds

    Policy = Callable[[list["Member"], float], list[Seconds]]

WEEK = 7 * DAY
BLOCKS = 10  #: members that a large site is split into
SMALL = 100  #: pages; a site with fewer is not split
FAR = 1e9  #: seconds, longer than any window: what keeps pages apart in one sorted column


class PageTimes(NamedTuple):
    """Pages, when each came to be, and when each changed; seconds since the window began."""

    names: list[str]
    born: NDArray[np.float64]
    events: list[NDArray[np.float64]]


@dataclass
class Member:
    """A site of the collection, and what its captures have seen."""

    name: str
    names: list[str]
    born: NDArray[np.float64]
    events: NDArray[np.float64]  #: page × FAR + time, sorted
    offsets: NDArray[np.int64]
    truth: SiteLoad  #: mean rates over the window
    captured: list[float] = field(default_factory=list)
    versions: list[NDArray[np.int64]] = field(default_factory=list)  #: by capture; -1: not there yet
    requests: float = 0.0
    fresh: float = 0.0  #: seconds, over all pages
    load: SiteLoad | None = None
    test: Foretold | None = None
    loaded: int = 0  #: captures that both were learned from

    def capture(self, now: float) -> None:
        """Capture all pages that are there."""
        seen = np.searchsorted(self.events, np.arange(len(self.born)) * FAR + now, "right")
        self.captured.append(now)
        self.versions.append(np.where(self.born <= now, seen - self.offsets[:-1], -1))
        self.requests += AGAIN * np.count_nonzero(self.born <= now)

    def count_fresh(self, end: float) -> None:
        """Count for how long each page stays as the last capture has it, up to the next one."""
        if not self.captured:
            return
        begun, there = self.captured[-1], self.versions[-1] >= 0
        at = (self.versions[-1] + self.offsets[:-1])[there]
        more = at < self.offsets[1:][there]
        until = np.full(len(at), end)
        until[more] = self.events[at[more]] - np.flatnonzero(there)[more] * FAR
        self.fresh += float((np.minimum(until, end) - begun).sum())

    def existed(self, end: float) -> float:
        """How long pages existed, in seconds, summed over all pages."""
        return float(np.maximum(end - np.maximum(self.born, 0.0), 0.0).sum())

    def history(self) -> SiteHistory:
        """The site's history, as the store of observations tells it."""
        seen = np.array(self.versions).T
        known = (seen >= 0).any(1)
        there = seen[known] >= 0
        changed = np.where(np.diff(seen[known], axis=1, prepend=-1) > 0, CHANGED, UNCHANGED).astype(np.int8)
        changed[np.diff(there, axis=1, prepend=False)] = UNSEEN
        nothing = np.full(int(there.sum()), np.nan)
        return SiteHistory(
            self.name,
            [Url(f"https://{self.name}/{self.names[page].lstrip('/')}") for page in np.flatnonzero(known)],
            np.concatenate([[0], np.cumsum(there.sum(1))]).astype(np.int64),
            np.broadcast_to(self.captured, there.shape)[there],
            changed[there],
            nothing,
            np.zeros_like(nothing),
            nothing,
        )

    def learned(self) -> SiteLoad | None:
        """The site's load as `sharc keep` learns it, once for each capture."""
        if self.loaded < len(self.captured):
            known = self.history()
            self.load, self.test, self.loaded = site_load(known), foretold(known), len(self.captured)
        return self.load


def read(path: Path) -> PageTimes:
    """A history, as pages, births and changes since its first one; deletions count as changes."""
    lives = read_history(path)
    there = lifetimes(lives)
    start = min((life.changes[0] for life in lives if life.changes), default=0.0)
    gone = {page: turns[1::2] for page, turns in there.turns.items()}
    events = [
        np.unique([*(time for time in life.changes if time > there.born[page]), *gone.get(page, ())]) - start
        for page, life in enumerate(lives)
    ]
    return PageTimes([life.page for life in lives], there.born - start, events)


def members(times: Mapping[str, PageTimes], days: float, each: int, seed: int) -> list[Member]:
    """The sites of a collection over a window of so many days that the seed draws, of each history by itself.

    Large sites are split into blocks of neighbouring names, of sizes that the seed draws; of their pages each so
    ``each``-th is taken.
    """
    dice, found = np.random.default_rng(seed), []
    for name, (names, born, events) in times.items():
        start = dice.uniform(0, max(0.0, _length(events) - days * DAY))
        order = [page for page in np.argsort(names) if born[page] - start < days * DAY]
        order = order[::each] if len(order) >= SMALL else order
        shares = dice.dirichlet(np.full(BLOCKS, 2.0)) if len(order) >= SMALL else np.ones(1)
        for number, block in enumerate(np.split(order, (np.cumsum(shares)[:-1] * len(order)).astype(int))):
            later = [events[page][events[page] > start] - start for page in block]
            counts = [len(one) for one in later]
            lived = [days * DAY - max(born[page] - start, 0.0) for page in block]
            inside = [np.count_nonzero(one < days * DAY) for one in later]
            truth = SiteLoad(np.array(inside) / np.maximum(lived, DAY), AGAIN * max(len(block), 1))
            column = np.concatenate(later) + np.repeat(np.arange(len(block)), counts) * FAR
            offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
            site = f"{name}-{number}.example"
            found.append(Member(site, [names[page] for page in block], born[block] - start, column, offsets, truth))
    return found


def _length(events: Sequence[NDArray[np.float64]]) -> Seconds:
    return float(max((row[-1] for row in events if len(row)), default=0.0))


def longest(times: Mapping[str, PageTimes]) -> float:
    """Days that all histories span."""
    return min(_length(one.events) for one in times.values()) / DAY


def crawl(sites: list[Member], end: float, policy: Policy, per_day: float) -> tuple[float, float]:
    """The share of fresh pages, and the requests."""
    for now in (0.0, UNKNOWN):
        for one in sites:
            one.count_fresh(now)
            one.capture(now)
    now = UNKNOWN
    while now < end:
        every = policy(sites, per_day)
        for one, interval in zip(sites, every, strict=True):
            while (due := max(one.captured[-1] + interval, now)) < min(now + WEEK, end):
                one.count_fresh(due)
                one.capture(due)
        now += WEEK
    for one in sites:
        one.count_fresh(end)
    share = sum(one.fresh for one in sites) / sum(one.existed(end) for one in sites)
    return share, sum(one.requests for one in sites)


def auto(sites: list[Member], per_day: float) -> list[Seconds]:
    """As ``sharc keep`` plans ``every: auto``."""
    loads = {one.name: load for one in sites if (load := one.learned())}
    trusted = trust([one.test for one in sites if one.test])
    planned = dict(zip(loads, intervals(list(loads.values()), per_day, trusted), strict=True))
    return [planned.get(one.name, UNKNOWN) for one in sites]


def told(sites: list[Member], per_day: float) -> list[Seconds]:
    """The intervals of one who knows each page's true mean rate: what can be won at all."""
    return intervals([one.truth for one in sites], per_day)


def proportional(sites: list[Member], per_day: float) -> list[Seconds]:
    """As often as the pages' learned mean rate says."""
    loads = [one.learned() for one in sites]
    rates = [max(1e-12, load.rates.mean()) if load else 1e-12 for load in loads]
    return within(rates, _costs(sites), per_day / DAY)


def even(sites: list[Member], per_day: float) -> list[Seconds]:
    """Equal intervals for all sites."""
    return within([1.0] * len(sites), _costs(sites), per_day / DAY)


def _costs(sites: list[Member]) -> list[float]:
    return [AGAIN * max(int(np.count_nonzero(one.versions[-1] >= 0)), 1) for one in sites]


POLICIES: dict[str, Policy] = {"auto": auto, "even": even, "proportional": proportional, "told": told}
CLOSE = 0.01  #: of the requests, within which two policies are compared


def compare(make: Callable[[], list[Member]], end: float, days: float) -> Iterator[tuple[str, float, float]]:
    """Each policy's share of fresh pages, and its requests beside those of auto: a capture in so many days."""
    per_day = sum(AGAIN * float(np.count_nonzero(one.born <= 0.0)) for one in make()) / days
    share, asked = crawl(make(), end, auto, per_day)
    yield "auto", share, 1.0
    for name in ("even", "proportional", "told"):
        budget = per_day
        for _ in range(4):
            share, made = crawl(make(), end, POLICIES[name], budget)
            if abs(made / asked - 1) < CLOSE:
                break
            budget *= asked / made
        yield name, share, made / asked
