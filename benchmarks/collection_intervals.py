"""`every: auto` on replayed histories: the share of pages that the archive has as they are, over time, by intervals.

    python benchmarks/collection_intervals.py FOLDER [--only year] [--seeds 3] [--days 8] [--each 6]

FOLDER holds the change histories, as for ``bench_real_histories.py``. Sites are split into ten members each, blocks of
neighbouring names of sizes that the seed draws; the small one is a member whole. `year`: both years of the wiki and the
documentation, 21 members over 365 days. `mixed`: these and both published sites, 41 members over 100 days, of the
longer histories those that the seed draws. Of all pages each sixth is taken, for the sake of time (--each).

A capture sees all pages of its member at one instant, and costs the requests that `sharc keep` reckons with. What it
saw (changed since the last one or not; no lastmod) is all that rates are learned from, by what `sharc keep` calls:
`planning.site_load`, then `allocation.intervals`, for a budget of one capture of each member in so many --days. It is
planned anew each week, as captures have taught; `sharc keep` does so after each capture. Every crawl begins with two
captures a day apart, of all members. `proportional` makes a site's captures as frequent as its pages' learned mean rate
says, within the same bounds; `even` takes equal intervals; `told` is `auto` that knows each page's true mean rate. All
have budgets that make as many requests as `auto` made.
Fresh: of the time that pages exist or are gone, that in which the last capture saw them as they are. A deletion is a
change; a page that no capture has seen is not fresh.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from bench_hints import DATA, whole

from sharc_crawler.collection.allocation import DAY, LONGEST, SHORTEST, SiteLoad, intervals
from sharc_crawler.collection.planning import AGAIN, UNKNOWN, site_load
from sharc_crawler.lab.history import HistorySpec, lifetimes, read_history
from sharc_crawler.model import Url
from sharc_crawler.rates.history import CHANGED, UNCHANGED, SiteHistory
from sharc_crawler.rates.history import UNKNOWN as UNSEEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Policy = Callable[[list["Member"], float, float], list[float]]

WEEK = 7 * DAY
BLOCKS = 10
SMALL = 100  #: pages; a site with fewer is not split
FAR = 1e9  #: seconds, longer than any window: what keeps pages apart in one sorted column
DOCUMENTATION = ("scrapydocs-2019", "2019-01-01")
COLLECTIONS = {
    "year": (365, ("emacswiki-2012", "emacswiki-2013", "scrapydocs-2019")),
    "mixed": (100, ("emacswiki-2012", "emacswiki-2013", "scrapydocs-2019", "trackawesome-2023", "trackawesome-2024b")),
}


class Times(NamedTuple):
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
    loaded: int = 0  #: captures that the load was learned from

    def capture(self, now: float) -> None:
        seen = np.searchsorted(self.events, np.arange(len(self.born)) * FAR + now, "right")
        self.captured.append(now)
        self.versions.append(np.where(self.born <= now, seen - self.offsets[:-1], -1))
        self.requests += AGAIN * np.count_nonzero(self.born <= now)

    def count_fresh(self, end: float) -> None:
        """From the last capture on, until the next one: each page until it changes."""
        if not self.captured:
            return
        begun, there = self.captured[-1], self.versions[-1] >= 0
        at = (self.versions[-1] + self.offsets[:-1])[there]
        more = at < self.offsets[1:][there]
        until = np.full(len(at), end)
        until[more] = self.events[at[more]] - np.flatnonzero(there)[more] * FAR
        self.fresh += float((np.minimum(until, end) - begun).sum())

    def existed(self, end: float) -> float:
        """Seconds, over all pages."""
        return float(np.maximum(end - np.maximum(self.born, 0.0), 0.0).sum())

    def histories(self, site: str, _kind: object = None) -> SiteHistory:
        """As the store of observations tells it."""
        seen = np.array(self.versions).T
        known = (seen >= 0).any(1)
        there = seen[known] >= 0
        changed = np.where(np.diff(seen[known], axis=1, prepend=-1) > 0, CHANGED, UNCHANGED).astype(np.int8)
        changed[np.diff(there, axis=1, prepend=False)] = UNSEEN
        nothing = np.full(int(there.sum()), np.nan)
        return SiteHistory(
            site,
            [Url(f"https://{site}/{self.names[page].lstrip('/')}") for page in np.flatnonzero(known)],
            np.concatenate([[0], np.cumsum(there.sum(1))]).astype(np.int64),
            np.broadcast_to(self.captured, there.shape)[there],
            changed[there],
            nothing,
            np.zeros_like(nothing),
            nothing,
        )

    def links(self, _site: str) -> list[tuple[Url, Url]]:
        return []

    def learned(self, now: float) -> SiteLoad | None:
        """As `sharc keep` learns it; once for each capture."""
        if self.loaded < len(self.captured):
            self.load, self.loaded = site_load(self, self.name, now), len(self.captured)  # type: ignore[arg-type]
        return self.load


def read(spec: HistorySpec) -> Times:
    """A history, as pages, births and changes; deletions count as changes."""
    lives = read_history(Path(spec.history))
    there = lifetimes(lives)
    gone = {page: turns[1::2] for page, turns in there.turns.items()}
    events = [
        np.unique([*(time for time in life.changes if time > there.born[page]), *gone.get(page, ())]) - spec.start
        for page, life in enumerate(lives)
    ]
    return Times([life.page for life in lives], there.born - spec.start, events)


def members(times: dict[str, Times], which: Sequence[str], days: int, each: int, seed: int) -> list[Member]:
    """The sites of a collection over a window."""
    dice, found = np.random.default_rng(seed), []
    for name in which:
        names, born, events = times[name]
        length = 365 if name.startswith(("emacs", "scrapy")) else 100
        start = dice.uniform(0, (length - days) * DAY)
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


def crawl(sites: list[Member], end: float, policy: Policy, per_day: float) -> tuple[float, float]:
    """The share of fresh pages, and the requests."""
    for now in (0.0, UNKNOWN):
        for one in sites:
            one.count_fresh(now)
            one.capture(now)
    now = UNKNOWN
    while now < end:
        every = policy(sites, now, per_day)
        for one, interval in zip(sites, every, strict=True):
            while (due := max(one.captured[-1] + interval, now)) < min(now + WEEK, end):
                one.count_fresh(due)
                one.capture(due)
        now += WEEK
    for one in sites:
        one.count_fresh(end)
    share = sum(one.fresh for one in sites) / sum(one.existed(end) for one in sites)
    return share, sum(one.requests for one in sites)


def auto(sites: list[Member], now: float, per_day: float) -> list[float]:
    loads = {one.name: load for one in sites if (load := one.learned(now))}
    planned = dict(zip(loads, intervals(list(loads.values()), per_day), strict=True))
    return [planned.get(one.name, UNKNOWN) for one in sites]


def told(sites: list[Member], _now: float, per_day: float) -> list[float]:
    return intervals([one.truth for one in sites], per_day)


def proportional(sites: list[Member], now: float, per_day: float) -> list[float]:
    loads = [one.learned(now) for one in sites]
    rates = np.array([load.rates.mean() if load else 0.0 for load in loads])
    return _within(np.maximum(rates, 1e-12), _costs(sites), per_day)


def even(sites: list[Member], _now: float, per_day: float) -> list[float]:
    return _within(np.ones(len(sites)), _costs(sites), per_day)


def _costs(sites: list[Member]) -> NDArray[np.float64]:
    return np.array([AGAIN * max(np.count_nonzero(one.versions[-1] >= 0), 1) for one in sites])


def _within(often: NDArray[np.float64], costs: NDArray[np.float64], per_day: float) -> list[float]:
    """Intervals whose frequencies are as these, within the bounds and the budget."""
    low, high = -60.0, 60.0
    for _ in range(60):
        middle = (low + high) / 2
        every = np.clip(np.exp(middle) / often, SHORTEST, LONGEST)
        low, high = (middle, high) if (costs / every).sum() > per_day / DAY else (low, middle)
    return [float(one) for one in np.clip(math.exp(high) / often, SHORTEST, LONGEST)]


def compare(make: Callable[[], list[Member]], end: float, days: float) -> Iterator[tuple[str, float, float]]:
    """Each way's share of fresh pages, and its requests beside those of auto."""
    sites = make()
    per_day = sum(AGAIN * np.count_nonzero(one.born <= 0.0) for one in sites) / days
    share, asked = crawl(sites, end, auto, per_day)
    print(f"auto: {share:.4f}", file=sys.stderr, flush=True)
    yield "auto", share, 1.0
    for name, policy in (("even", even), ("proportional", proportional), ("told", told)):
        budget = per_day
        for _ in range(4):
            share, made = crawl(make(), end, policy, budget)
            if abs(made / asked - 1) < 0.02:
                break
            budget *= asked / made
        print(f"{name}: {share:.4f}, requests {made / asked:.3f}", file=sys.stderr, flush=True)
        yield name, share, made / asked


def spread(values: list[float]) -> str:
    return f"{100 * fmean(values):.1f} ({100 * min(values):.1f}–{100 * max(values):.1f})"


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=COLLECTIONS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--days", type=float, nargs="+", default=[8.0])
    parser.add_argument("--each", type=int, default=6, help="of the pages each so manieth, of sites that are split")
    given = parser.parse_args()
    small = HistorySpec(str(given.folder / "scrapydocs-2019.csv.gz"), "index.html", 1546300800.0, 1577836800.0)
    times = {name: read(whole(given.folder, name)) for name in DATA} | {"scrapydocs-2019": read(small)}
    print(
        "| collection | a capture in | auto | even | proportional | told | auto − even | their requests beside auto |"
    )
    print("|" + "---|" * 8)
    for collection in [given.only] if given.only else COLLECTIONS:
        length, which = COLLECTIONS[collection]
        for days in given.days:
            made = [
                list(compare(partial(members, times, which, length, given.each, seed), length * DAY, days))
                for seed in range(given.seeds)
            ]
            by_way = [spread([one[way][1] for one in made]) for way in range(4)]
            gain = spread([one[0][1] - one[1][1] for one in made])
            asked = ", ".join(f"{fmean(one[way][2] for one in made):.2f}" for way in (1, 2, 3))
            cells = [collection, f"{days:g} days", *by_way, gain, asked]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
