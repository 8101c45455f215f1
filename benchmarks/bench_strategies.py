"""What plans and decisions of the strategies cost as sites grow, beside the direct test and the exact assignment.

    OMP_NUM_THREADS=1 python benchmarks/bench_strategies.py [offline] [optimal] [online] [--pages 1000000]

*offline*: the plan of sharc-selective, all pages known, by rate class, and the direct test of Definition 6 (a sum over
all pages for each page, vectorised) up to --direct pages. *loss*: of expected coherence, by binning rates to 1 % or
more, against the split with a class for every rate, up to --direct pages.
*optimal*: the best layout found, its gap to the bound (the bound is computed too), and
scipy.optimize.linear_sum_assignment on pages x intervals up to --assign pages.
*online*: the strategy as a crawl drives it: one seed, three more pages found by every captured visit (the first of them
is told a wrong rate and repriced when the next are found); add, reprice, next and finished of all visits and revisits,
each crawl in a process of its own. *below_offline*: share of the coherence expected of sharc-selective with all pages
known at the start that is lost.

Rates: zipf (1/i^1.2, shuffled), log-normal (their logarithms spread by 2.5), sitemap (seven classes, hourly to never),
all with 1 s between two downloads. CPU seconds on one core; seeds are fixed.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.optimum import optimum
from sharc_crawler.evidence.survival import expected_coherence
from sharc_crawler.model import Slot
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.classes import Classes
from sharc_crawler.strategies.layout import lay_out
from sharc_crawler.strategies.make import make_strategy
from sharc_crawler.strategies.selective import selective, split

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS = ("offline", "optimal", "online")
SIZES = (1_000, 10_000, 100_000, 1_000_000)
STRATEGIES = ("sharc-selective", "sharc-optimal", "sharc-attested", "sharc-online", "bfs")
LINKS = 3
HOUR = 3600.0
SITEMAP = 1 / np.array([HOUR, 6 * HOUR, 24 * HOUR, 168 * HOUR, 720 * HOUR, 8760 * HOUR, 87600 * HOUR])


def zipf(pages: int) -> np.ndarray:
    return np.random.default_rng(5).permutation(1 / np.arange(1, pages + 1) ** 1.2)


def log_normal(pages: int) -> np.ndarray:
    return np.random.default_rng(0).lognormal(math.log(5 / pages), 2.5, pages)


def sitemap(pages: int) -> np.ndarray:
    return np.random.default_rng(1).choice(SITEMAP, pages) * (1_000_000 / pages)


RATES: dict[str, Callable[[int], np.ndarray]] = {"zipf": zipf, "log-normal": log_normal, "sitemap": sitemap}


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def direct(rates: np.ndarray, width: float) -> int:
    """How many pages are hopeless, by two sums for each page (where rates are high they tie)."""
    theta = np.sort(rates)[::-1] * width
    shortest, longest, hopeless = 1, len(rates) - 1, 0
    for page in range(1, len(rates)):
        rest = theta[page + 1 :]
        slots = np.arange(shortest, longest)
        keep = math.exp(-theta[page] * shortest) + np.exp(-rest * (slots + 1)).sum()
        drop = np.exp(-rest * slots).sum() + math.exp(-theta[page] * longest)
        if keep >= drop:
            shortest += 1
        else:
            longest -= 1
            hopeless += 1
    return hopeless


def exact_split(pages: Candidates, width: float) -> float:
    """Expected coherence of the split with a class of its own for every rate."""
    rates, counts = np.unique(pages.rates, return_counts=True)
    classes = Classes(rates[::-1], counts[::-1], np.ones(len(rates)))
    lost = split(classes, width)
    kept = np.repeat(classes.rates, classes.counts - lost)
    order = np.concatenate((kept, np.repeat(classes.rates, lost)[::-1]))
    return expected_coherence(order, width * np.arange(len(order)))


def offline(kind: str, size: int, args: argparse.Namespace) -> dict[str, float]:
    pages = Candidates.of(np.arange(size), RATES[kind](size))
    layout, seconds = timed(lambda: lay_out(pages, 1.0, selective))
    figures = {"seconds": seconds, "coherence": expected_coherence(pages.rates, layout.intervals) / size}
    if size <= args.direct:
        _, peer = timed(lambda: direct(pages.rates, 2.0))
        figures |= {"direct": peer, "times": peer / seconds}
        figures["loss"] = 1 - figures["coherence"] * size / exact_split(pages, 2.0)
    return figures


def optimal(kind: str, size: int, args: argparse.Namespace) -> dict[str, float]:
    pages = Candidates.of(np.arange(size), RATES[kind](size))
    best, seconds = timed(lambda: optimum(pages, 1.0))
    figures = {"seconds": seconds, "coherence": best.coherence / size, "gap": best.gap}
    if size <= args.assign:
        exact, figures["assignment"] = timed(lambda: assigned(pages.rates))
        figures["below_exact"] = 1 - best.coherence / exact
    return figures


def assigned(rates: np.ndarray) -> float:
    values = np.exp(-np.outer(rates, 2.0 * np.arange(len(rates))))
    return float(values[linear_sum_assignment(values, maximize=True)].sum())


def online(kind: str, size: int, name: str) -> dict[str, float]:
    """A whole crawl, in a process of its own."""
    rates = RATES[kind](size)
    planned = expected_coherence(rates, lay_out(Candidates.of(np.arange(size), rates), 1.0, selective).intervals)
    intervals = np.full(size, math.nan)
    decisions, seconds = timed(lambda: drive(name, rates, intervals))
    figures = {"decisions": decisions, "microseconds": seconds / decisions * 1e6, "peak_mb": peak_mb()}
    if name in ("sharc-selective", "sharc-optimal"):
        figures["below_offline"] = 1 - expected_coherence(rates, intervals) / planned
    return figures


def peak_mb() -> float:
    """Of this process (what getrusage says includes the one that started it)."""
    with open("/proc/self/status") as file:  # noqa: PTH123 - not a file on disk
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024 / 1e6


def drive(name: str, rates: np.ndarray, intervals: np.ndarray) -> int:
    strategy = make_strategy(name, Setting(size=len(rates)))
    strategy.add(Candidates.of([0], rates[:1]))
    known, decisions = 1, 0
    while visit := strategy.next(float(decisions)):
        page = visit.page
        if visit.slot is Slot.SECOND:
            intervals[page] += decisions
        else:
            intervals[page] = -decisions if visit.slot is Slot.FIRST else 0
        strategy.finished(visit, captured=True)
        decisions += 1
        if known < len(rates) and visit.slot is not Slot.SECOND:
            strategy.reprice(max(0, known - LINKS), float(rates[max(0, known - LINKS)]))
            found = np.arange(known, min(known + LINKS, len(rates)))
            told = rates[found]
            told[0] *= 3
            strategy.add(Candidates.of(found, told))
            known += len(found)
    return decisions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="offline|optimal|online", help="which parts; all by default")
    parser.add_argument("--pages", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rates", choices=RATES, nargs="+", default=[*RATES])
    parser.add_argument("--strategy", nargs="+", default=STRATEGIES, help="of online")
    parser.add_argument("--direct", type=int, default=10_000, help="largest site for the direct test")
    parser.add_argument("--assign", type=int, default=2_000, help="largest site for the exact assignment")
    args = parser.parse_args()
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"{', '.join(unknown)}: the parts are {', '.join(PARTS)}")
    for part in args.parts or PARTS:
        for kind in args.rates:
            for size in args.pages:
                measure(part, kind, size, args)


def measure(part: str, kind: str, size: int, args: argparse.Namespace) -> None:
    if part != "online":
        show(part, kind, size, {"offline": offline, "optimal": optimal}[part](kind, size, args))
        return
    for name in args.strategy:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            show(name, kind, size, pool.apply(online, (kind, size, name)))


def show(what: str, kind: str, size: int, figures: dict[str, float]) -> None:
    rounded = {name: float(f"{value:.4g}") for name, value in figures.items()}
    print(json.dumps({"what": what, "rates": kind, "pages": size} | rounded), flush=True)


if __name__ == "__main__":
    main()
