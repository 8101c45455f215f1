"""Instant crawl: discovery delay with learned intervals against even polling with as many requests.

    python benchmarks/bench_instant.py [--seeds 10] [--json FILE]      # virtual time
    python benchmarks/bench_instant.py --found [--seeds 10]            # hubs that are not seeds
    python benchmarks/bench_instant.py --failing 0.15 [--seeds 10]     # of all answers, 503 and 429 by turns
    python benchmarks/bench_instant.py --live [--minutes 5]            # once, with the real command, against loopback

Virtual time: two hours on the living site's newsroom (60 articles an hour over 12 sections), hubs polled every five
minutes on average. Worlds differ in which hubs there are (the sections alone, each with articles of its own; with the
front page, which lists all; with feed and news sitemap) and in how unlike the sections' rates are (Zipf's exponent).
The even crawl polls each hub as often as any other, taking turns; its interval is shortened until it makes at least as
many requests as the learned one. Delay: from an article's publication to the start of its capture.

``--found``: six hours, skew 1, few hubs as seeds or all, with hubs found on new pages and without; the latter is polled
more often until it makes at least as many requests.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from benchmarks.instant_runs import crawl
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.instants import unix
from sharc_crawler.model import Kind, Result
from sharc_crawler.polling import polls
from sharc_crawler.polling.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sharc_crawler.demo.answers import Response

BASE = "http://news.example"
HUBS = ("sections", "front", "feeds")
FOUND = ("one section", "front alone", "sections", "front")
SKEWS = (0.0, 0.5, 1.0, 2.0)
FIRST_SEED = 101  #: worlds 1 to 10 were looked at while the method was made
POLITE = Politeness(delay=1.0)


class Failing:
    """The living site, which answers a share of all requests 503 or 429, by chance."""

    def __init__(self, site: LivingSite, share: float) -> None:
        self._site, self._share = site, share
        self.newsroom = site.newsroom

    def respond(self, method: str, target: str, headers: Mapping[str, str], now: float) -> Response:
        """The site's answer, or a refusal."""
        answer, chance = self._site.respond(method, target, headers, now), random.Random(f"{target} {now}")
        if target == "/robots.txt" or chance.random() >= self._share:
            return answer
        return replace(answer, status=chance.choice((429, 503)), body=b"")


def measure(site: LivingSite | Failing, hubs: str, terms: Terms, start: float) -> dict[str, float]:
    """One crawl: its requests, and the delays of what was published while it ran."""
    room = site.newsroom
    some = {"one section": room.sections[2:3], "front alone": ["/newsroom/"], "sections": room.sections}
    seeds = [BASE + path for path in some.get(hubs, ["/newsroom/", *room.sections])]
    state = crawl(site, seeds, terms, POLITE, start, sitemaps=hubs == "feeds")
    published = {BASE + a.path: a.published for a in room.articles(start, start + terms.duration)}
    delays = []
    for visit in state.visits:
        page = state.pages[visit.page]
        if page.kind is Kind.PAGE and visit.outcome.result is Result.OK:
            delays.append(visit.outcome.started - published[page.url])
    delays.sort()
    return {
        "requests": len(state.visits),
        "published": len(published),
        "captured": len(delays),
        "median": statistics.median(delays),
        "high": delays[min(len(delays) - 1, -(-len(delays) * 95 // 100) - 1)],
        "mean": statistics.fmean(delays),
    }


def pair(seed: int, hubs: str, skew: float, failing: float) -> tuple[dict[str, float], dict[str, float]]:
    """The learned crawl, and an even one with at least as many requests."""
    living = LivingSite(seed=seed, pages=50, scale=1.0, news=60.0, news_skew=skew, news_feeds=hubs == "feeds")
    site = Failing(living, failing)
    start = 1.8e9 + 1e6 * seed
    terms = Terms(every=300.0, duration=7200.0)
    learned = measure(site, hubs, terms, start)
    return learned, at_least(learned["requests"], site, hubs, replace(terms, adaptive=False), start)


def at_least(requests: float, site: LivingSite | Failing, hubs: str, terms: Terms, start: float) -> dict[str, float]:
    """A crawl that polls as often as it takes to make so many requests."""
    while (made := measure(site, hubs, terms, start))["requests"] < requests:
        terms = replace(terms, every=terms.every * 0.995 * made["requests"] / requests)
    return made


def found(seeds: int) -> list[dict[str, object]]:
    """With hubs found on new pages, and without; that is no option of the crawl, so their number is turned."""
    rows: list[dict[str, object]] = []
    print("| seeds | requests | captured, found hubs | without | median delay | without | ratio |")
    print("|---|---|---|---|---|---|---|")
    for hubs in FOUND:
        pairs = []
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            site = LivingSite(seed=seed, pages=50, scale=1.0, news=60.0, news_skew=1.0, news_feeds=False)
            terms, start = Terms(every=300.0, duration=6 * 3600.0), 1.8e9 + 1e6 * seed
            trying = measure(site, hubs, terms, start)
            with patch.object(polls, "MOST", 0):
                pairs.append((trying, at_least(trying["requests"], site, hubs, terms, start)))
        ratios = [a["median"] / b["median"] for a, b in pairs]
        share = ([100 * p[i]["captured"] / p[i]["published"] for p in pairs] for i in (0, 1))
        cells = [
            f"{statistics.median(a['requests'] for a, _ in pairs):.0f}",
            *(f"{statistics.median(one):.0f} %" for one in share),
            *(spread([p[i]["median"] for p in pairs]) for i in (0, 1)),
            f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})",
        ]
        print(f"| {hubs} | {' | '.join(cells)} |", flush=True)
        rows.append({"hubs": hubs, "pairs": pairs})
    return rows


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.0f} ({min(values):.0f}–{max(values):.0f})"


def virtual(seeds: int, which: Sequence[str], failing: float) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    print("| hubs | skew | requests | median delay, learned | even | ratio | 95 %, learned | even | won |")
    print("|---|---|---|---|---|---|---|---|---|")
    for hubs in which:
        for skew in SKEWS:
            pairs = [pair(seed, hubs, skew, failing) for seed in range(FIRST_SEED, FIRST_SEED + seeds)]
            learned, even = ([p[i] for p in pairs] for i in (0, 1))
            ratios = [a["median"] / b["median"] for a, b in pairs]
            cells = [
                f"{statistics.median(a['requests'] for a in learned):.0f}",
                spread([a["median"] for a in learned]),
                spread([b["median"] for b in even]),
                f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})",
                spread([a["high"] for a in learned]),
                spread([b["high"] for b in even]),
                f"{sum(ratio < 1 for ratio in ratios)}/{seeds}",
            ]
            print(f"| {hubs} | {skew:g} | {' | '.join(cells)} |", flush=True)
            rows.append({"hubs": hubs, "skew": skew, "learned": learned, "even": even})
    return rows


EVEN = """from sharc_crawler.polling.terms import Terms
Terms.__init__.__defaults__ = (*Terms.__init__.__defaults__[:-1], False)"""
SCRAPY = "import sys; from scrapy.cmdline import execute; execute(sys.argv)"


def command(url: str, site: LivingSite, output: Path, minutes: float) -> subprocess.Popen[bytes]:
    """The real command; an even crawl is no option of it, so its default is turned."""
    seeds = " ".join(f"{url[:-1]}{path}" for path in ("/newsroom/", *site.newsroom.sections))
    given = {"url": seeds, "mode": "instant", "every": "6s", "for": f"{minutes}m", "delay": "0.02", "output": output}
    arguments = [text for name, value in given.items() for text in ("-a", f"{name}={value}")]
    program = f"{EVEN if output.name == 'even' else ''}\n{SCRAPY}"
    return subprocess.Popen(
        [sys.executable, "-c", program, "crawl", "site", *arguments],
        env={**os.environ, "SCRAPY_SETTINGS_MODULE": "sharc_crawler.live.profile"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def live(minutes: float) -> list[dict[str, object]]:
    """Once with ``scrapy crawl site``, fifty times faster: hubs every 6 s, 3,000 articles an hour; both at once."""
    site = LivingSite(seed=1, pages=50, news=3000.0, news_feeds=False)
    rows: list[dict[str, object]] = []
    with serve(site) as server, tempfile.TemporaryDirectory() as folder:
        began = time.time()
        running = {way: command(server.url, site, Path(folder) / way, minutes) for way in ("learned", "even")}
        for way, process in running.items():
            process.wait()
            report = json.loads((Path(folder) / way / "report.json").read_text())
            room = site.newsroom
            truth = {server.url[:-1] + a.path: a.published for a in room.articles(began - 60, time.time())}
            delays = sorted(unix(p["captured"]) - truth[p["url"]] for p in report["pages"] if p["captured"])
            high = delays[min(len(delays) - 1, -(-len(delays) * 95 // 100) - 1)]
            facts = {"requests": report["requests"]["total"], "captured": len(delays)}
            rows.append({"way": way, **facts, "median": statistics.median(delays), "high": high})
            print(json.dumps(rows[-1]), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--hubs", nargs="+", choices=HUBS, default=HUBS)
    parser.add_argument("--found", action="store_true")
    parser.add_argument("--failing", type=float, default=0.0, help="share of all answers")
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--json", type=Path, help="write all figures here")
    options = parser.parse_args()
    if options.live:
        rows = live(options.minutes)
    else:
        rows = found(options.seeds) if options.found else virtual(options.seeds, options.hubs, options.failing)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
