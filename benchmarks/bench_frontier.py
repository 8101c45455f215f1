"""What a decision of the frontier costs, and what a URL that waits weighs: whole crawls in virtual time.

    python benchmarks/bench_frontier.py [--strategy sharc-online] [--pages 1000000] [--links 10] [--split]
    python benchmarks/bench_frontier.py --guessed 300 [--strategy sharc-selective] [--pages 10000]
    python benchmarks/bench_frontier.py --waiting 10000000 [--visited]

Each crawl is online: it begins with one seed and the number of pages, and finds the rest in links, through the scope
and the canonical form of a live crawl. Half the links of a page are those that every page names, two lead to pages
that nobody else names, the others to pages spread over those known before. Rates are log-normal, each page has its own.
With `--guessed` they are posteriors of so many classes, and the number of pages is not told.
Microseconds are CPU time per decision, first visits and revisits alike: `next`, and `finished` with all links (a
revisit that finds equal bytes names none, as in a live crawl). A second crawl tells the frontier a text of each page's
own, too, as a live crawl does: the rules for endless sites look at it. Time is read twice a crawl: on a busy machine a
reading takes 0.2 ms. Each crawl has a process of its own; *peak* is that of the second's. `--split` says in one more
crawl (of at most 100,000 pages) where the time goes. Bytes per URL that waits are measured apart: all URLs enter at
once, and memory in use is compared, the URLs' text of 60 characters counted in.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from sharc_crawler.addresses.urls import canonical
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.opening import Parts, named_strategy
from sharc_crawler.model import (
    Document,
    Done,
    Fetch,
    Kind,
    LinkColumns,
    Outcome,
    RateEstimate,
    Result,
    Sighting,
    Slot,
    Validators,
    Wait,
)
from sharc_crawler.state.spec import CaptureSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sharc_crawler.strategies.base import Setting, Strategy

STRATEGIES = ("sharc-selective", "sharc-online")
SIZES = (10_000, 100_000, 1_000_000)
STEP = 0.05  #: seconds of virtual time per download
SPLIT_AT_MOST = 100_000
SHAPE = 0.3  #: of the rates that are guessed


class OwnRates:
    """One rate per page, from a table; or one of so many that are guessed."""

    def __init__(self, rates: array[float], guessed: int) -> None:
        self._rates, self._guessed = rates, guessed

    def rates(self, sightings: list[Sighting], _: float) -> list[RateEstimate]:
        numbers = [int(sighting.url[-8:]) for sighting in sightings]
        if self._guessed:
            return [RateEstimate(self._rates[number % self._guessed], "prior", SHAPE) for number in numbers]
        return [RateEstimate(self._rates[number], "history") for number in numbers]

    def weight(self, _: Sighting) -> float:
        return 1.0

    def swings(self) -> None:
        """No history tells of any."""


class Stopwatch:
    """Seconds of the clock by part; a call that is timed costs some 0.2 µs more."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def timed(self, part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: object, **named: object) -> Any:
            start = time.perf_counter()
            result = call(*arguments, **named)
            self.seconds[part] += time.perf_counter() - start
            return result

        return timed

    def strategy(self, spec: CaptureSpec, setting: Setting) -> Strategy:
        made = named_strategy(spec, setting)
        for verb in ("add", "next", "finished"):
            setattr(made, verb, self.timed("strategy", getattr(made, verb)))
        return made


def url(number: int) -> str:
    return f"http://www.example.org/archive/2009/department/page-{number:08}"


def links(page: int, pages: int, count: int) -> LinkColumns:
    """The navigation, two pages below this one, and some known before it."""
    below = range(2 * page + 1, min(2 * page + 3, pages))
    stride = page // (count // 2 - 2) + 1
    numbers = (*range(count // 2), *below, *range(page % stride, page, stride))
    urls = list(map(url, numbers))
    return LinkColumns(url(page), urls, [Kind.PAGE] * len(urls))


def opened(strategy: str, pages: int, watch: Stopwatch | None = None, guessed: int = 0) -> Frontier:
    duration = 2 * pages * STEP
    rates = array("d", np.random.default_rng(1).lognormal(0.0, 1.5, pages) / duration)
    parts = Parts(
        rates=lambda _: OwnRates(rates, guessed),
        strategy=watch.strategy if watch else named_strategy,
        canonical=watch.timed("canonical URL", canonical) if watch else canonical,
    )
    frontier = Frontier(Politeness(delay=0.0, obey_robots=False), parts=parts)
    spec = CaptureSpec("site", (url(0),), strategy, sitemaps=(), size=0 if guessed else pages, resources=False)
    capture = frontier.open(spec, 0.0)
    if watch:
        capture.seen.find = watch.timed("seen", capture.seen.find)  # type: ignore[method-assign]
    return frontier


def answer(
    page: int, again: bool, now: float, pages: int, count: int, texts: bool = False
) -> tuple[Outcome, Sequence[Sighting]]:
    """What the site says of a page; that looked at again names nothing."""
    document = Document(3, 0, count, words=f"text {page}") if texts else None
    told = f"fingerprint {page}" if texts else None
    outcome = Outcome(Result.OK, now, now + STEP, 200, digest=f"sha1:{page:032}", fingerprint=told, document=document)
    return outcome, [] if again else links(page, pages, count)


def crawl(
    strategy: str, pages: int, count: int, watch: Stopwatch | None = None, guessed: int = 0, texts: bool = False
) -> dict[str, float]:
    """One crawl; its figures. What the site's part takes is told by a second making of it, and taken off."""
    frontier = opened(strategy, pages, watch, guessed)
    clock = time.perf_counter if watch else time.process_time
    now, asked = 0.0, list[tuple[int, bool]]()
    began = clock()
    while not isinstance(fetch := frontier.next(now), Done):
        if isinstance(fetch, Wait):
            now = fetch.until
            continue
        if fetch.kind is Kind.PROBE:  # what nobody names
            frontier.finished(fetch, Outcome(Result.GONE, now, now + STEP, 404))
            continue
        asked.append((int(fetch.url[-8:]), fetch.slot is Slot.SECOND))
        frontier.finished(fetch, *answer(*asked[-1], now, pages, count, texts))
        now += STEP
    seconds = clock() - began
    began = clock()
    for page, again in asked:
        answer(page, again, now, pages, count, texts)
    seconds -= clock() - began
    decisions = len(asked)
    assert frontier.done, f"{decisions} decisions for {pages} pages"
    assert (found := frontier.capture.counts.pages) == pages, f"{found} of {pages} pages"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"decisions": decisions, "microseconds": seconds / decisions * 1e6, "peak_mb": peak / 1e6}


def split(strategy: str, pages: int, count: int) -> dict[str, float]:
    """Shares of the time of one crawl."""
    watch = Stopwatch()
    figures = crawl(strategy, pages, count, watch)
    total = figures["decisions"] * figures["microseconds"] / 1e6
    shares = {part: seconds / total for part, seconds in watch.seconds.items()}
    return {**shares, "rest": 1 - sum(shares.values())}


def waiting(strategy: str, pages: int) -> float:
    """Bytes per URL that waits."""
    return weighed(strategy, pages, until="waiting")["waiting"]


def weighed(strategy: str, pages: int, until: str) -> dict[str, float]:
    """Bytes per URL that waits, per page that was visited (what its revisit needs counted in), per page judged."""
    frontier = opened(strategy, pages)
    fetch = frontier.next(0.0)  # the strategy is made
    before = resident()
    for start in range(0, pages, 1000):
        frontier.schedule([Sighting(url(n)) for n in range(start, min(start + 1000, pages))], 0.0)
    figures = {"waiting": (resident() - before) / pages}
    now = 0.0
    while until != "waiting" and isinstance(fetch, Fetch):
        if fetch.slot is Slot.SECOND and "visited" not in figures:
            figures["visited"] = (resident() - before) / pages
        page = int(fetch.url[-8:])
        validators = Validators(f'"{page:x}-{page:08x}"', "Sun, 22 Nov 2026 04:08:30 GMT")
        digest, length = f"sha1:{page:032}", 20_000 + page
        frontier.finished(fetch, Outcome(Result.OK, now, now, 200, digest=digest, validators=validators, length=length))
        now += STEP
        fetch = frontier.next(now)
    return figures if until == "waiting" else {**figures, "judged": (resident() - before) / pages}


def resident() -> int:
    """Bytes of memory in use."""
    with open("/proc/self/statm") as file:  # noqa: PTH123 - not a file on disk
        return int(file.read().split()[1]) * resource.getpagesize()


def apart(call: Callable[..., Any], *arguments: object) -> Any:
    """The result of a call in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(call, arguments)


def measure(strategy: str, pages: int, args: argparse.Namespace) -> dict[str, Any]:
    figures: dict[str, Any] = {"strategy": strategy, "pages": pages, "links": args.links}
    bare = apart(crawl, strategy, pages, args.links, None, args.guessed)
    figures |= {"microseconds_without_texts": bare["microseconds"]}
    figures |= apart(crawl, strategy, pages, args.links, None, args.guessed, True)  # noqa: FBT003 - sent to a process
    figures["bytes_per_url"] = apart(waiting, strategy, pages)
    if args.split:
        figures["split"] = apart(split, strategy, min(pages, SPLIT_AT_MOST), args.links)
    return figures


def show(figures: dict[str, Any]) -> None:
    print(
        f"{figures['strategy']:16} {figures['pages']:9,} pages, {figures['links']} links"
        f" {figures['microseconds']:7.1f} µs per decision ({figures['microseconds_without_texts']:.1f} without texts)"
        f" {figures['peak_mb']:6.0f} MB peak {figures['bytes_per_url']:5.0f} bytes per URL",
        flush=True,
    )
    for part, share in figures.get("split", {}).items():
        print(f"{'':18}{part:16} {share:6.1%}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strategy", action="append", help=f"default: {' and '.join(STRATEGIES)}")
    parser.add_argument("--pages", action="append", type=int, help=f"default: {', '.join(map(str, SIZES))}")
    parser.add_argument("--links", type=int, default=50, help="that a page names (an even number, at least 6)")
    parser.add_argument("--guessed", type=int, default=0, help="classes of rates that are guessed, not known")
    parser.add_argument("--split", action="store_true", help="where the time goes")
    parser.add_argument("--waiting", type=int, help="nothing but bytes per URL, with so many URLs that wait")
    parser.add_argument("--visited", action="store_true", help="with --waiting: the same, visited and revisited")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    for strategy in args.strategy or STRATEGIES:
        if args.waiting:
            each = apart(weighed, strategy, args.waiting, "judged" if args.visited else "waiting")
            words = ", ".join(f"{name} {size:.0f} bytes each" for name, size in each.items())
            print(f"{strategy:16} {args.waiting:11,} URLs: {words}", flush=True)
            continue
        for pages in args.pages or SIZES:
            figures = measure(strategy, pages, args)
            print(json.dumps(figures), flush=True) if args.json else show(figures)


if __name__ == "__main__":
    main()
