"""What each way of knowing rates is worth on a real history: regret of the selective strategy.

    python benchmarks/bench_rates.py FOLDER/emacswiki-2012 --root SiteMap [--months] [--only lastmod,captures]

Regret = (incoherent - selective with oracle) / (bfs with LIFO revisits - selective with oracle): 0 is as good as
knowing the future, 1 as bad as planning nothing. A rate source is given what a crawler would have had when the window
begins: captures of the 52 weeks before (changed or not, the sitemap's lastmods then), the sitemap now, and, where it
says so, the links. Visit and revisit of every page, judged by bytes; the graph is known.

The window is a calendar year and, with --months, each month of it: their mean, and the spread over the twelve starts.
The spread of the year's figure is that of a bootstrap over pages.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import time
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from rich.progress import track

from sharc_crawler.model import Hints, Sighting, Url
from sharc_crawler.rates.chain import Chain
from sharc_crawler.rates.estimators.bias_reduced import BiasReduced
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.rates.estimators.irregular import IrregularMle
from sharc_crawler.rates.estimators.per_time import PerTime
from sharc_crawler.rates.estimators.recency import Recency
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory
from sharc_crawler.rates.sources import HistoryRates
from sharc_crawler.rates.trust import classes
from sharc_crawler.sim.belief import Belief
from sharc_crawler.sim.driver import crawl
from sharc_crawler.sim.history import HistorySpec
from sharc_crawler.sim.rates import believe, utilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from sharc_crawler.rates.estimators.base import Estimator
    from sharc_crawler.sim.site import Site

DAY = 86_400.0
WEEK = 7 * DAY


def weekly_captures(site: Site, weeks: int = 52) -> SiteHistory:
    """Captures of the pages known at the start, in the order of their discovery, the last one a week before."""
    times = site.start - WEEK * np.arange(weeks, 0.0, -1.0)
    known = np.array(site.known)
    versions = np.stack([site.past.within(-np.inf, t).counts()[known] for t in times], axis=1)
    lastmods = np.stack([site.past.within(-np.inf, t).latest(site.created)[known] for t in times], axis=1)
    there = site.created[known][:, None] <= times
    bits = np.where(np.diff(versions, axis=1, prepend=0) > 0, CHANGED, UNCHANGED)
    first = there & ~np.concatenate([np.zeros((len(known), 1), np.bool_), there[:, :-1]], axis=1)
    bits[first] = UNKNOWN
    nothing = np.full(int(there.sum()), np.nan)
    return SiteHistory(
        site.name,
        [Url(site.urls[page]) for page in known],
        np.concatenate([[0], np.cumsum(there.sum(1))]).astype(np.int64),
        np.broadcast_to(times, there.shape)[there],
        bits[there].astype(np.int8),
        lastmods[there],
        np.zeros_like(nothing),
        nothing,
    )


def sitemap(site: Site, lastmods: bool = True) -> list[Sighting]:
    """The pages known at the start, as a sitemap lists them; then those that nobody knows yet."""
    last = site.past.latest(site.created)
    known = set(site.known)
    order = [*site.known, *(page for page in range(len(site.urls)) if page not in known)]
    return [
        Sighting(site.urls[page], hints=Hints(float(last[page])) if lastmods and page in known else None)
        for page in order
    ]


def links(site: Site) -> list[tuple[str, str]]:
    """Every link between pages known at the start."""
    return [(site.urls[a], site.urls[b]) for a in site.known for b in site.graph.links(a, site.start)]


def asked(source: HistoryRates, site: Site, lastmods: bool = True) -> np.ndarray:
    sightings = sitemap(site, lastmods)
    estimates = Chain([source]).rates(sightings, site.start)
    found = {sighting.url: estimate.rate for sighting, estimate in zip(sightings, estimates, strict=True)}
    return np.array([found[url] for url in site.urls])


def estimated(make: Callable[[Site], Estimator]) -> Callable[[Site], np.ndarray]:
    """An estimator on the captures alone, each page for itself (or with its class)."""

    def rates(site: Site) -> np.ndarray:
        history = weekly_captures(site)
        intervals, labels = history.histories(), classes(history.urls)[0]
        rate = make(site).fit(intervals, labels).estimate(intervals, labels).rate
        mean = np.nanmean(rate)
        known = dict(zip(history.urls, np.where(np.isnan(rate), mean, rate), strict=True))
        return np.array([known.get(url, mean) for url in site.urls])

    return rates


def naive_age(site: Site) -> np.ndarray:
    return 1.0 / (DAY + np.maximum(site.start - site.past.latest(site.created), 0.0))


def window(site: Site) -> float:
    return site.end - site.start


METHODS: dict[str, Callable[[Site], np.ndarray]] = {
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


def incoherent(site: Site, belief: Belief, strategy: str) -> np.ndarray:
    """Per page known at the start: did it change between visit and revisit?"""
    schedule = crawl(site, belief, strategy, "known", lambda _: None).schedule
    pages, times = site.changes.pages, site.changes.times
    bad = np.zeros(len(site.urls), np.bool_)
    bad[pages[(times > schedule.visits[pages]) & (times <= schedule.revisits[pages])]] = True
    return bad[site.known]


def evaluate(spec: HistorySpec, methods: list[str]) -> dict[str, np.ndarray]:
    site = spec.build()
    oracle = believe(site, "oracle")
    found = {"bfs": incoherent(site, oracle, "bfs"), "oracle": incoherent(site, oracle, "sharc-selective")}
    nobody = np.zeros(len(site.urls), np.bool_)
    for name in methods:
        rates = METHODS[name](site)
        belief = Belief(name, rates, np.full(len(rates), np.inf), utilities(site), nobody)
        found[name] = incoherent(site, belief, "sharc-selective")
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
    parser.add_argument("--only", help=f"comma-separated, of: {', '.join(METHODS)}")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    methods = args.only.split(",") if args.only else list(METHODS)

    def spec(first: dt.date, last: dt.date) -> HistorySpec:
        start, end = (dt.datetime(d.year, d.month, 1, tzinfo=dt.UTC).timestamp() for d in (first, last))
        name = args.history
        return HistorySpec(
            f"{name}.csv.gz", args.root, start, end, f"{name}.start.links.jsonl.gz", f"{name}.linkevents.jsonl.gz"
        )

    began = time.perf_counter()
    firsts = [dt.date(args.year, m, 1) for m in range(1, 13)] + [dt.date(args.year + 1, 1, 1)]
    windows = [(firsts[0], firsts[-1])] + ([*pairwise(firsts)] if args.months else [])
    runs = [evaluate(spec(*w), methods) for w in track(windows, "windows", disable=args.json)]
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
