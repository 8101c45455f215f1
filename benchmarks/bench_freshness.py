"""Keeping pages fresh with signals that may be wrong: the literature's policies on replayed histories.

    python benchmarks/bench_freshness.py FOLDER [--only emacswiki-2013] [--days 30] [--rates history]

FOLDER holds the change histories, as for ``bench_real_histories.py``. All pages known when the window begins are
downloaded then; from then on each of ROUNDS a day downloads as many of them as make one download of each page in
``--days`` on average. Fresh: the share of the time, over all pages, in which the last download is the page as it is.

Signals are lastmods that a sitemap shows each round: of each change with probability *recall*, and of nothing so often
that *precision* of them are true, alike for all pages; one that dates before the last download counts for nothing.
Recall and false signals are learned from the year before (or as many days), as if each page had been looked at each 30
days. Policies:

* even: the page that was not downloaded for the longest time
* told: a page that signals say has changed, longest told first; then as *even*
* azar: the page of the highest crawl value without signals (Azar et al., as Cho and Garcia-Molina's frequencies)
* harmonic: Kolobov et al.'s frequencies without signals (LambdaCrawl's closed form), the longest overdue first
* believed: the crawl value as if signals were never wrong (GREEDY-CIS)
* noisy: the crawl value with recall and false signals as learned (GREEDY-NCIS)

``--looks``: second looks instead. In each month of the window all pages are visited once, in an order drawn by lot, for
15 days; then those chosen are visited again, a tenth at most, at the same pace; T is when that ends. Counted are pages
whose last download is not the page of T. *sharc*: as a crawl chooses them, by ``frontier/modes/before_reference.py``;
*noisy*: where the page is likely to have changed, by age, signals, and how good these are, and to be still until T.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
from freshness import NO_SIGNALS, Signals, crawl_value, learn, staleness
from real_histories import NAMED
from scipy.optimize import brentq

from sharc_crawler.frontier.modes.before_reference import SecondLooks
from sharc_crawler.frontier.modes.hints import PageHints
from sharc_crawler.lab.rates import believe
from sharc_crawler.model import Phase
from sharc_crawler.state.spec import HINTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sharc_crawler.lab.site import Site

    Column = NDArray[np.float64]

DAY = 86_400.0
ROUNDS = 4  #: a day
LOOK = 30 * DAY  #: between two looks at a page, in the past that is learned from
CASES = {  # recall, precision, seconds late
    "honest": (1.0, 1.0, 0.0),
    "a day late": (1.0, 1.0, DAY),
    "half": (0.5, 1.0, 0.0),
    "30 % true": (1.0, 0.3, 0.0),
    "half, 30 % true": (0.5, 0.3, 0.0),
    "half, 5 % true": (0.5, 0.05, 0.0),
}


@dataclass
class Told:
    """Signals, in the order of their arrival."""

    pages: NDArray[np.int64]
    arrive: Column
    dated: Column


def told_of(rows: list[Column], case: tuple[float, float, float], span: tuple[float, float], seed: int) -> Told:
    """What the site tells of these changes."""
    recall, precision, late = case
    rng = np.random.default_rng(seed)
    pages = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    times = np.concatenate(rows)
    kept = rng.random(len(times)) < recall
    false = rng.poisson(kept.sum() * (1 - precision) / precision)
    pages = np.concatenate([pages[kept], rng.integers(0, len(rows), false)])
    dated = np.concatenate([times[kept], rng.uniform(*span, false)])
    order = np.argsort(dated, kind="stable")
    return Told(pages[order], dated[order] + late, dated[order])


class Copies:
    """The copies of all pages: how old they are, what was told of them since, and for how long they were fresh."""

    def __init__(self, rows: list[Column], start: float) -> None:
        self.times = np.concatenate([*rows, [np.inf]])
        self.ends = np.cumsum([len(row) for row in rows])
        self.next = np.concatenate([[0], self.ends[:-1]])  # the first change after each copy
        self.made = np.full(len(rows), start)
        self.told = np.zeros(len(rows))
        self.since = np.full(len(rows), np.inf)  # the first signal that counts
        self.fresh = 0.0

    def hear(self, told: Told, part: slice) -> None:
        pages, dated = told.pages[part], told.dated[part]
        counts = dated > self.made[pages]
        np.add.at(self.told, pages[counts], 1.0)
        np.minimum.at(self.since, pages[counts], told.arrive[part][counts])

    def stale_from(self, pages: NDArray[np.int64]) -> Column:
        return np.where(self.next[pages] < self.ends[pages], self.times[self.next[pages]], np.inf)

    def download(self, pages: NDArray[np.int64], now: float) -> None:
        self.count(pages, now)
        for page in pages[self.stale_from(pages) <= now].tolist():
            self.next[page] += np.searchsorted(self.times[self.next[page] : self.ends[page]], now, "right")
        self.made[pages], self.told[pages], self.since[pages] = now, 0.0, np.inf

    def count(self, pages: NDArray[np.int64], now: float) -> None:
        self.fresh += float((np.minimum(self.stale_from(pages), now) - self.made[pages]).sum())


def policies(rates: Column, signals: Signals, budget: float) -> dict[str, Callable[[Copies, float], Column]]:
    """Of each policy, what it downloads first: the highest."""
    wanted = harmonic(rates, budget)

    def even(copies: Copies, now: float) -> Column:
        return now - copies.made

    def told(copies: Copies, now: float) -> Column:
        return np.where(np.isfinite(copies.since), 1e12 + now - copies.since, now - copies.made)

    def overdue(copies: Copies, now: float) -> Column:
        return wanted * (now - copies.made)

    def valued(known: Signals, copies: Copies, now: float) -> Column:
        heard = copies.told if known.recall else np.zeros(len(rates))
        return crawl_value(rates, staleness(rates, now - copies.made, heard, known), known)

    values = {"azar": NO_SIGNALS, "believed": Signals(1.0, 0.0), "noisy": signals}
    by_value = {name: lambda copies, now, known=known: valued(known, copies, now) for name, known in values.items()}
    return {"even": even, "told": told, "harmonic": overdue, **by_value}


def harmonic(rates: Column, budget: float) -> Column:
    """Downloads per second of each page: (sqrt(Δ² + 4Δ/price) - Δ)/2, for all the budget."""

    def spent(price: float) -> float:
        return float((np.sqrt(rates**2 + 4 * rates / np.exp(price)) - rates).sum() / 2)

    price = np.exp(brentq(lambda one: spent(one) - budget, -60, 60))
    found: Column = (np.sqrt(rates**2 + 4 * rates / price) - rates) / 2
    return found


def crawl(
    rows: list[Column], told: Told, span: tuple[float, float], days: float, first: Callable[[Copies, float], Column]
) -> float:
    """Share of the time in which copies are fresh."""
    start, end = span
    copies = Copies(rows, start)
    every, owed, heard = DAY / ROUNDS, 0.0, 0
    for now in np.arange(start + every, end, every):
        until = int(np.searchsorted(told.arrive, now, "right"))
        copies.hear(told, slice(heard, until))
        heard = until
        owed += len(rows) * every / (days * DAY)
        most, owed = int(owed), owed % 1
        worth = first(copies, now) + 1e-9 * (now - copies.made) / (end - start)
        copies.download(np.argpartition(worth, -most)[-most:], now)
    copies.count(np.arange(len(rows)), end)
    return copies.fresh / (len(rows) * (end - start))


def second_looks(
    site: Site, rates: Column, case: tuple[float, float, float], known: Signals, start: float
) -> dict[str, int]:
    """Pages that are not captured as they are at T, by who chose the second looks."""
    rng = np.random.default_rng(round(start))
    size, half = len(site.known), 15 * DAY
    step = half / size
    visited = start + step * rng.permutation(size)
    rows = [site.changes.rows[page] for page in site.known]
    told = told_of(rows, case, (site.start, site.end), seed=0)
    counts = (told.arrive <= start + half) & (told.dated > visited[told.pages])
    heard = np.bincount(told.pages[counts], minlength=size).astype(float)
    chosen = {
        "none": [],
        "sharc": as_crawled(rows, rates, visited, heard > 0, step, start + half),
        "noisy": by_probability(rates, start + half - visited, heard, known, step),
        "all told": np.flatnonzero(heard > 0)[: size // 10].tolist(),
    }
    return {name: lost(rows, visited, pages, step, start + half) for name, pages in chosen.items()}


def lost(rows: list[Column], visited: Column, again: list[int], step: float, now: float) -> int:
    """After these second looks, one after the other."""
    last, end = visited.copy(), now + step * len(again)
    last[again] = now + step * np.arange(len(again))
    return sum(bool(((row > seen) & (row <= end)).any()) for row, seen in zip(rows, last, strict=True))


def as_crawled(
    rows: list[Column], rates: Column, visited: Column, stale: NDArray[np.bool_], step: float, now: float
) -> list[int]:
    """By the code of a crawl: batch after batch, as long as the signals prove true."""
    size = len(rows)
    budget, counts = SimpleNamespace(spare=lambda _: math.inf), SimpleNamespace(visits=size)
    capture = SimpleNamespace(counts=counts, spec=SimpleNamespace(hints=HINTS), phase=Phase.VISIT, budget=budget)
    looks = SecondLooks(capture)  # type: ignore[arg-type]
    looks.due(SimpleNamespace(first_visits_left=1, first_visits_waiting=1), 1, now, hinted=True)  # type: ignore[arg-type]
    looks.asked(1)
    ones, never = np.ones(size), np.zeros(size, np.bool_)
    said = PageHints(list(range(size)), rates, rates, ones, ones * math.inf, visited, stale, ~stale, never, never)
    looks.choose(said, 1, step, now)
    found: list[int] = []
    while pages := looks.take():
        for page in pages:
            looks.looked(page, rates[page], bool(((rows[page] > visited[page]) & (rows[page] <= now)).any()))
        found += pages
    return found


def by_probability(rates: Column, ages: Column, heard: Column, known: Signals, step: float) -> list[int]:
    """Where a look is expected to win more than the wait costs all others; those that are stillest first."""
    stale = -np.expm1(-staleness(rates, ages, heard, known))
    most = len(rates) // 10
    gain = stale * np.exp(-rates * step * most / 2)
    cost = float(((1 - stale) * -np.expm1(-rates * step)).sum())
    best = np.argsort(-gain, kind="stable")[:most]
    best = best[gain[best] > cost]
    return best[np.argsort(rates[best], kind="stable")].tolist()


def learned(site: Site, rates: Column, case: tuple[float, float, float]) -> Signals:
    """What looks at the past teach of the signals."""
    span = (site.start - 365 * DAY, site.start)
    rows = [site.past.rows[page] for page in site.known]
    told = told_of(rows, case, span, seed=1)
    looks = np.arange(span[0], span[1] + 1, LOOK)
    place = np.searchsorted(looks, told.arrive) - 1
    counts = np.zeros((len(rows), len(looks)))
    good = (place >= 0) & (place < len(looks) - 1) & (told.dated > looks[np.clip(place, 0, len(looks) - 1)])
    np.add.at(counts, (told.pages[good], place[good]), 1.0)
    changed = np.array([np.histogram(row, looks)[0] > 0 for row in rows])
    size = changed.size
    ages = np.full(size, LOOK)
    return learn(np.repeat(rates, changed.shape[1]), ages, counts[:, :-1].ravel(), changed.ravel())


def main() -> None:
    options = read_options()
    for name in options.only or NAMED:
        site = NAMED[name].spec(options.folder).build()
        span = (site.start, site.end)
        held = believe(site, options.rates).rates[site.known]
        rows = [site.changes.rows[page] for page in site.known]
        budget = len(rows) / (options.days * DAY)
        print(f"## {name}: {len(rows):,} pages, rates: {options.rates}, each downloaded every {options.days:g} days")
        for label, case in CASES.items():
            known = learned(site, held, case)
            quality = f"{label:16} recall {known.recall:.2f}, false a year {known.false * 365 * DAY:.2f}"
            if options.looks:
                starts = np.arange(site.start, site.end - 20 * DAY, 30 * DAY)[:: options.every]
                by_month = [second_looks(site, held, case, known, start) for start in starts]
                cells = ", ".join(f"{name} {np.mean([one[name] for one in by_month]):.1f}" for name in by_month[0])
                print(f"{quality}: {cells}", flush=True)
                continue
            told = told_of(rows, case, span, seed=0)
            found = {
                policy: crawl(rows, told, span, options.days, first)
                for policy, first in policies(held, known, budget).items()
                if label == "honest" or policy not in ("even", "azar", "harmonic")
            }
            cells = ", ".join(f"{policy} {100 * share:.2f}" for policy, share in found.items())
            print(f"{quality}: {cells}", flush=True)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--days", type=float, default=30.0)
    parser.add_argument("--rates", default="history")
    parser.add_argument("--looks", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="--looks: every so manieth month")
    return parser.parse_args()


if __name__ == "__main__":
    main()
