"""How many pages sites without an end cost, and which of their true pages are lost, in virtual time.

python benchmarks/bench_traps.py --families sessions,beside,soft,calendar --seeds 300
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from functools import partial
from http.server import BaseHTTPRequestHandler
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import honest_sites, trap_sites
from benchmarks.site_crawl import captured
from sharc_crawler.addresses.unlikely import looked_at
from sharc_crawler.changes.content import ContentDetector
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.live.reading.document import read
from sharc_crawler.live.reading.readings import Order, Wants
from sharc_crawler.model import Done, Kind, Outcome, Result, Slot, Wait
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.live.serving import Answering, serving

ROOT = "http://h.example/"
MOST = 2_000  #: requests, until a site is said to have no end
TIMES = 3  #: as many visits as true pages, at most
_DETECTOR = ContentDetector()


class Live:
    """One site captured once, over loopback, by the command."""

    def __init__(self, site: trap_sites.Site, strategy: str) -> None:
        with serving(partial(_Handler, site)) as url, tempfile.TemporaryDirectory() as folder:
            given = {"url": url, "delay": 0, "sitemap": "off", "strategy": strategy, "limit": MOST}
            capture = captured(Path(folder), given, "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8")
            log = [json.loads(line) for line in (Path(folder) / "c" / "crawl.jsonl").read_text().splitlines()]
        self.visited = [page["url"] for page in capture["pages"] if page["visit"] and page["kind"] == "page"]
        self.probes = sum(one.get("kind") == "probe" for one in log)
        self.lost = site.lost


class _Handler(Answering, BaseHTTPRequestHandler):
    def __init__(self, site: trap_sites.Site, *given: Any) -> None:
        self._site = site
        super().__init__(*given)

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            return self.answer(b"", status=404)
        found = self._site.answer(self.path)
        return self.answer(found.html, "text/html; charset=utf-8", found.status)


class Run:
    """One site captured once, in virtual time.

    ``every``: after so many requests the crawl is cut off, and another one restores its state; 0: it is not.
    """

    def __init__(
        self, site: trap_sites.Site, strategy: str, *, traps: bool = True, delay: float = 0.0, every: int = 0
    ) -> None:
        self.site, self.requests = site, 0
        self.visited: list[str] = []
        self.probes = 0
        politeness, store = Politeness(delay=delay), MemoryStore() if every else None
        frontier = Frontier(politeness, store)
        spec = CaptureSpec("h.example", (ROOT,), strategy=strategy, sitemaps=(), traps=traps)
        frontier.open(spec, now := 1000.0)
        while self.requests < MOST and not isinstance(decision := frontier.next(now), Done):
            if isinstance(decision, Wait):
                now = decision.until
                continue
            frontier.finished(decision, *self._answered(decision, now))
            self.requests += 1
            now += 0.01
            if store and self.requests % every == 0:
                frontier = Frontier(politeness, store)
                frontier.restore(store.load(), now)
        self.reasons = dict(frontier.capture.left_out.reasons)
        self.ended = self.requests < MOST
        self.lost = site.lost

    def _answered(self, fetch, now):
        if fetch.kind is not Kind.PAGE and fetch.kind is not Kind.PROBE:
            found = Result.OK if fetch.kind is Kind.RESOURCE else Result.GONE
            return Outcome(found, now, now + 0.01, 200 if found is Result.OK else 404, digest="sha1:" + fetch.url), ()
        if fetch.slot is not Slot.SECOND:
            if fetch.kind is Kind.PROBE:
                self.probes += 1
            else:
                self.visited.append(fetch.url)
        answer = self.site.answer("/" + fetch.url.removeprefix(ROOT).partition("#")[0])
        if answer.status != 200:
            return Outcome(Result.GONE, now, now + 0.01, answer.status), ()
        raw = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + answer.html
        reading = read(
            raw, Order(fetch.url, Wants.DOCUMENT, compared=True, words=True, says=bool(looked_at(fetch.url))), _DETECTOR
        )
        payload = reading.payload
        outcome = Outcome(
            Result.OK, now, now + 0.01, 200, payload.digest, fingerprint=payload.fingerprint, document=reading.document
        )
        return outcome, [one for one in reading.links if one.kind is Kind.PAGE]


def main() -> None:
    """Print a table by family, size and strategy, and the sites that cost most."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", default="sessions,beside,soft,calendar")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--sizes", default="5,8,12,30")
    parser.add_argument("--strategies", default="sharc-selective,bfs,dfs")
    parser.add_argument("--show", type=int, default=12, help="of those that cost more than three times")
    parser.add_argument("--live", action="store_true")
    given = parser.parse_args()
    if given.families == "honest":
        _honest(given.strategies.split(","), given.seeds)
        return
    print("| sites | pages | strategy | sites | over 3 n | most | median | over 3 n with what is asked again | lost |")
    print("|---|---|---|---|---|---|---|---|---|")
    worst: list[tuple[float, str]] = []
    for family, size, strategy in product(
        given.families.split(","), map(int, given.sizes.split(",")), given.strategies.split(",")
    ):
        runs = [
            _run(family, seed * 1_000 + size, size, strategy, live=given.live)
            for seed in range(given.first, given.first + given.seeds)
        ]
        ratios = sorted(len(run.visited) / size for run, _ in runs)
        over = sum(ratio > TIMES for ratio in ratios)
        asked = sum(len(run.visited) + run.probes > TIMES * size for run, _ in runs)
        lost = sum(bool(run.lost) for run, _ in runs)
        row = (family, size, strategy, len(runs), over, f"{ratios[-1]:.2f}", f"{median(ratios):.2f}", asked, lost)
        print("|", " | ".join(map(str, row)), "|", flush=True)
        worst += [
            (len(run.visited) / size + 100 * bool(run.lost), f"{told}: {len(run.visited)} + {run.probes}, {run.lost}")
            for run, told in runs
            if run.lost or len(run.visited) > TIMES * size
        ]
    for _, what in sorted(worst, reverse=True)[: given.show]:
        print(what)


def _run(family: str, seed: int, size: int, strategy: str, *, live: bool) -> tuple[Run | Live, str]:
    told, site = trap_sites.drawn(family, seed, size)
    return (Live if live else Run)(site, strategy), f"{family} {size} {strategy} seed={seed} {told}"


def _honest(strategies: list[str], seeds: int) -> None:
    print("| honest site | strategy | sites | pages | visits | contents lost | copies left |")
    print("|---|---|---|---|---|---|---|")
    for (name, kind), strategy in product(honest_sites.KINDS.items(), strategies):
        sites = [kind(seed) for seed in range(seeds)]
        visits = sum(len(Run(site, strategy).visited) for site in sites)
        pages = sum(len(site.true) for site in sites)
        lost, left = sum(len(site.lost) for site in sites), sum(len(site.true - site.shown) for site in sites)
        print(f"| {name} | {strategy} | {seeds} | {pages} | {visits} | {lost} | {left - lost} |", flush=True)


if __name__ == "__main__":
    main()
