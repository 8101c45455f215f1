"""What a decision of the frontier costs, and what a URL that waits weighs: whole crawls in virtual time.

    python benchmarks/bench_frontier.py [--strategy sharc-selective --strategy sharc-online] [--pages 1000000]

Each crawl is online: it begins with one seed and the number of pages, and finds the rest in links. A page names 50: 25
that every page names, two that nobody else does, and others spread over the pages known before it. Rates are
log-normal, each page has its own. Microseconds are CPU time per decision, first visits and revisits alike: `next`, and
`finished` with all links (a revisit that finds equal bytes names none, as in a live crawl). Each crawl has a process of
its own; *peak* is that of the process. Bytes per URL that waits are measured apart: all URLs enter at once, and memory
in use is compared, the URLs' text of 60 characters counted in.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from array import array

import numpy as np

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.parts import Parts
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.model import Fetch, Outcome, RateEstimate, Result, Sighting, Slot

STRATEGIES = ("sharc-selective", "sharc-online")
SIZES = (10_000, 100_000, 1_000_000)
STEP = 0.05  #: seconds of virtual time per download


class Everything:
    """A scope that takes all."""

    def why_not(self, _: str) -> None:
        return None


class OwnRates:
    """One rate per page, from a table."""

    def __init__(self, rates: array[float]) -> None:
        self._rates = rates

    def rates(self, sightings: list[Sighting], _: float) -> list[RateEstimate]:
        return [RateEstimate(self._rates[int(sighting.url[-7:])], "history") for sighting in sightings]

    def weight(self, _: Sighting) -> float:
        return 1.0


def url(number: int) -> str:
    return f"http://www.example.org/archive/2009/department/page-{number:07}"


def links(page: int, pages: int) -> list[Sighting]:
    """The navigation, two pages below this one, and some known before it."""
    below = range(2 * page + 1, min(2 * page + 3, pages))
    stride = page // 23 + 1
    return [Sighting(url(number)) for number in (*range(25), *below, *range(page % stride, page, stride))]


def opened(strategy: str, pages: int) -> Frontier:
    duration = 2 * pages * STEP
    rates = array("d", np.random.default_rng(1).lognormal(0.0, 1.5, pages) / duration)
    parts = Parts(
        scope=lambda _: Everything(),
        rates=lambda _: OwnRates(rates),
        canonical=str,
        host_of=lambda _: "www.example.org",
    )
    frontier = Frontier(Politeness(delay=0.0, obey_robots=False), parts=parts)
    frontier.open(CaptureSpec("site", (url(0),), strategy, sitemaps=(), size=pages, resources=False), 0.0)
    return frontier


def crawl(strategy: str, pages: int) -> dict[str, float]:
    """One crawl; its figures."""
    frontier = opened(strategy, pages)
    now, decisions, seconds = 0.0, 0, 0.0
    while True:
        seconds -= time.thread_time()
        fetch = frontier.next(now)
        seconds += time.thread_time()
        if not isinstance(fetch, Fetch):
            break
        page = int(fetch.url[-7:])
        outcome = Outcome(Result.OK, now, now + STEP, 200, digest=f"sha1:{page:032}")
        found = links(page, pages) if fetch.slot is not Slot.SECOND else []
        seconds -= time.thread_time()
        frontier.finished(fetch, outcome, found)
        seconds += time.thread_time()
        now += STEP
        decisions += 1
    assert frontier.done, f"{decisions} decisions for {pages} pages"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"decisions": decisions, "microseconds": seconds / decisions * 1e6, "peak_mb": peak / 1e6}


def queued(strategy: str, pages: int) -> float:
    """Bytes per URL that waits."""
    frontier = opened(strategy, pages)
    frontier.next(0.0)  # the strategy is made
    before = resident()
    (capture,) = frontier.captures
    for start in range(0, pages, 1000):
        frontier.schedule_into(capture, [Sighting(url(n)) for n in range(start, min(start + 1000, pages))], 0.0)
    return (resident() - before) / pages


def resident() -> int:
    """Bytes of memory in use."""
    with open("/proc/self/statm") as file:  # noqa: PTH123 - not a file on disk
        return int(file.read().split()[1]) * resource.getpagesize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strategy", action="append")
    parser.add_argument("--pages", action="append", type=int)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    for strategy in args.strategy or STRATEGIES:
        for pages in args.pages or SIZES:
            with context.Pool(1) as pool:
                figures = pool.apply(crawl, (strategy, pages))
            with context.Pool(1) as pool:
                figures["bytes_per_url"] = pool.apply(queued, (strategy, pages))
            if args.json:
                print(json.dumps({"strategy": strategy, "pages": pages, **figures}), flush=True)
                continue
            print(
                f"{strategy:16} {pages:9,} pages {figures['microseconds']:7.1f} µs per decision"
                f" {figures['peak_mb']:6.0f} MB peak {figures['bytes_per_url']:5.0f} bytes per URL",
                flush=True,
            )


if __name__ == "__main__":
    main()
