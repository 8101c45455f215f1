"""What each way of knowing rates is worth on a real history: regret of the selective strategy.

    python benchmarks/bench_rates.py FOLDER/emacswiki-2012 --root SiteMap [--months] [--only lastmod,captures]

Regret = (incoherent - order with oracle) / (bfs - order with oracle), the order sharc-selective, bfs with LIFO
revisits: 0 is as good as knowing the future, 1 as bad as planning nothing. A rate source is given what a crawler would
have had when the window begins: captures of the 52 weeks before (changed or not, the sitemap's lastmods then), the
sitemap now, and, where it says so, the links. With --evidence bytes every page is visited and revisited; with
attested, all lastmods are trusted, pages are visited once, those that the sitemap of T says have changed meanwhile once
more, and oracle and bfs (single visits) are those of that evidence. The graph is known.

The window is a calendar year and, with --months, each month of it: their mean, and the spread over the twelve starts.
The spread of the year's figure is that of a bootstrap over pages.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import time
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from rich.progress import track

from benchmarks.simple_estimators import BiasReduced, PerTime, Recency
from sharc_crawler.lab.driver import crawl
from sharc_crawler.lab.history import HistorySpec
from sharc_crawler.lab.published import links, sitemap, weekly_captures
from sharc_crawler.lab.rates import believe
from sharc_crawler.lab.score import PageFate, verdicts
from sharc_crawler.lab.web import Published
from sharc_crawler.rates.chain import Chain
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.rates.estimators.irregular import IrregularMle
from sharc_crawler.rates.sources import HistoryRates
from sharc_crawler.rates.trust import classes

if TYPE_CHECKING:
    from collections.abc import Callable

    from sharc_crawler.lab.belief import Belief
    from sharc_crawler.lab.site import Site
    from sharc_crawler.rates.estimators.base import Estimator

    Column = tuple[np.ndarray, np.ndarray]  # rates, and shapes of their posteriors

DAY = 86_400.0
WEEK = 7 * DAY


def asked(source: HistoryRates, site: Site) -> Column:
    """No changefreq: the one that a site that knows its history would publish says more than any real one."""
    listed = [one._replace(hints=one.hints and replace(one.hints, changefreq=None)) for one in sitemap(site)]
    estimates = Chain([source]).rates(listed, site.start)
    return np.array([estimate.rate for estimate in estimates]), np.array([estimate.shape for estimate in estimates])


def estimated(make: Callable[[Site], Estimator]) -> Callable[[Site], Column]:
    """An estimator on the captures alone, each page for itself (or with its class)."""

    def rates(site: Site) -> Column:
        history = weekly_captures(site)
        intervals, labels = history.histories(), classes(history.urls)[0]
        found = make(site).fit(intervals, labels).estimate(intervals, labels)
        mean = np.nanmean(found.rate)
        known = dict(zip(history.urls, zip(found.rate, found.shape, strict=True), strict=True))
        both = np.array([known.get(url, (mean, np.inf)) for url in site.urls])
        nothing = np.isnan(both[:, 0])
        return np.where(nothing, mean, both[:, 0]), np.where(nothing, np.inf, both[:, 1])

    return rates


def naive_age(site: Site) -> Column:
    rates = 1.0 / (DAY + np.maximum(site.start - site.past.latest(site.created), 0.0))
    return rates, np.full(len(rates), np.inf)


def window(site: Site) -> float:
    return site.end - site.start


METHODS: dict[str, Callable[[Site], Column]] = {
    "X/T": estimated(lambda _: PerTime()),
    "bias-reduced": estimated(lambda _: BiasReduced()),
    "irregular": estimated(lambda _: IrregularMle()),
    "gamma-poisson": estimated(lambda _: GammaPoisson()),
    "recency": estimated(lambda site: Recency(GammaPoisson(), 12 * WEEK, site.start)),
    "1/(day+age)": naive_age,
    "lastmod": lambda site: asked(HistoryRates(horizon=window(site)), site),
    "lastmod+links": lambda site: asked(HistoryRates(horizon=window(site), links=links(site)), site),
    "captures": lambda site: asked(HistoryRates(weekly_captures(site), window(site)), site),
    "captures+links": lambda site: asked(HistoryRates(weekly_captures(site), window(site), links(site)), site),
}
#: evidence → whether lastmods are trusted, the order to judge, the order that plans nothing
EVIDENCE = {
    "bytes": (False, "sharc-selective", "bfs"),
    "attested": (True, "sharc-attested", "bfs:revisits=none"),
}


def incoherent(site: Site, belief: Belief, strategy: str) -> np.ndarray:
    """Per page known at the start: did it change between its visit and its revisit (attested: T)?"""
    told = strategy == "sharc-attested"  # by a sitemap
    published = Published(belief.attested, np.zeros(len(belief.rates), np.bool_)) if told else None
    done = crawl(site, belief, strategy, "known", published=published)
    return (verdicts(site, done.schedule, belief.attested, done.judged) == PageFate.CHANGED)[site.known]


def evaluate(spec: HistorySpec, methods: list[str], evidence: str) -> dict[str, np.ndarray]:
    site = spec.build()
    attested, order, plain = EVIDENCE[evidence]
    oracle = replace(believe(site, "oracle"), attested=np.full(len(site.urls), attested))
    found = {"bfs": incoherent(site, oracle, plain), "oracle": incoherent(site, oracle, order)}
    for name in methods:
        rates, shapes = METHODS[name](site)
        found[name] = incoherent(site, replace(oracle, source=name, rates=rates, shapes=shapes), order)
    return found


def regret(found: dict[str, np.ndarray], name: str, pages: np.ndarray | slice = slice(None)) -> float:
    bad, bfs, oracle = (found[key][pages].sum() for key in (name, "bfs", "oracle"))
    return float((bad - oracle) / (bfs - oracle))


def bootstrapped(found: dict[str, np.ndarray], name: str) -> float:
    rng = np.random.default_rng(0)
    size = len(found["bfs"])
    return float(np.std([regret(found, name, rng.integers(0, size, size)) for _ in range(200)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("history", help="FOLDER/NAME of NAME.csv.gz, NAME.start.links.jsonl.gz…")
    parser.add_argument("--root", default="SiteMap")
    parser.add_argument("--year", type=int, default=2012)
    parser.add_argument("--months", action="store_true", help="also every month of the year")
    parser.add_argument("--evidence", choices=EVIDENCE, default="bytes")
    parser.add_argument("--only", help=f"comma-separated, of: {', '.join(METHODS)}")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    methods = args.only.split(",") if args.only else list(METHODS)

    def spec(first: dt.date, last: dt.date) -> HistorySpec:
        start, end = (dt.datetime(d.year, d.month, 1, tzinfo=dt.UTC).timestamp() for d in (first, last))
        return HistorySpec.beside(f"{args.history}.csv.gz", args.root, start, end)

    began = time.perf_counter()
    firsts = [dt.date(args.year, m, 1) for m in range(1, 13)] + [dt.date(args.year + 1, 1, 1)]
    windows = [(firsts[0], firsts[-1])] + ([*pairwise(firsts)] if args.months else [])
    runs = [evaluate(spec(*w), methods, args.evidence) for w in track(windows, "windows", disable=args.json)]
    result = {}
    for name in ["bfs", "oracle", *methods]:
        year, months = runs[0], runs[1:]
        row = {"year": int(year[name].sum()), "regret": regret(year, name), "bootstrap": bootstrapped(year, name)}
        if months:
            each = [regret(run, name) for run in months]
            mean = np.mean([run[name].sum() for run in months])
            row |= {"months": float(mean), "months_regret": float(np.mean(each)), "months_spread": float(np.std(each))}
        result[name] = row
    if args.json:
        print(json.dumps(result))
        return
    print(f"{'':16}{'year':>6}{'regret':>8}{'±':>7}" + (f"{'months':>9}{'regret':>8}{'sd':>7}" if args.months else ""))
    for name, row in result.items():
        line = f"{name:16}{row['year']:6d}{row['regret']:8.3f}{row['bootstrap']:7.3f}"
        if args.months:
            line += f"{row['months']:9.1f}{row['months_regret']:8.3f}{row['months_spread']:7.3f}"
        print(line)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
