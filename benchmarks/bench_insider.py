"""What better learning could win: rates by one who knows the capture's own month from all pages but those asked about.

    python benchmarks/bench_insider.py FOLDER [--only emacswiki-2012]

The pages are dealt into five parts. What the features say of a part is learned as ever, and from what the other four
parts do in the very month of the capture, four times over. So nobody who goes by these features from the past can be
expected to do better. Per month: pages lost (regret) by learned rates and by the insider's, without second looks and
with sitemaps an hour late. FOLDER holds the change histories, as for ``bench_hints.py``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
from real_histories import NAMED

from sharc_crawler.lab import experiment
from sharc_crawler.lab.experiment import RunSpec, build, run
from sharc_crawler.rates import evidence, learned
from sharc_crawler.rates.counted import counted_rates
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.history import CHANGED, UNCHANGED
from sharc_crawler.rates.regression import LogLinear
from sharc_crawler.rates.trees import Boosted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.lab.history import HistorySpec
    from sharc_crawler.rates.history import SiteHistory
    from sharc_crawler.rates.surroundings import Surroundings

PARTS = 5
TIMES = 4  #: that the month's own examples are counted: it is one, the cuts of the past are ten
HOUR = 3600.0
LEARNED = learned.learned_rates
USUAL = "emacswiki-2012", "emacswiki-2013", "trackawesome-2024b"


class Insider:
    """In the place of :func:`~sharc_crawler.rates.learned.learned_rates`; ``changes``: what each page does, by URL."""

    def __init__(self, changes: dict[str, NDArray[np.float64]]) -> None:
        self._changes = changes

    def rates(self, history: SiteHistory, now: float, horizon: float, surroundings: Surroundings) -> Estimates:
        usual = LEARNED(history, now, horizon, surroundings)
        cuts, after = learned._cuts(history, now, horizon)
        most, rng = learned.EXAMPLES // len(cuts), np.random.default_rng(0)
        past = [learned._examples(history, cut, after, surroundings, most, rng)[:3] for cut in cuts]
        present = learned._features(history.before(now), now, surroundings)
        own = np.where([self._moves(url, now, now + horizon) for url in history.urls], CHANGED, UNCHANGED)
        parts, told = rng.integers(0, PARTS, len(own)), np.empty((2, len(own)))
        for part in range(PARTS):
            others = np.flatnonzero(parts != part)
            month = present[others], own[others].astype(np.int8), np.full(len(others), horizon)
            known = [np.concatenate(column) for column in zip(*past, *[month] * TIMES, strict=True)]
            models: list[LogLinear | Boosted] = [LogLinear(), Boosted(learned._directions(surroundings))]
            for row, model in enumerate(models):
                told[row, parts == part] = model.fit(*known).rate(present[parts == part])
        rate = learned._combined(counted_rates(history).rate, *told)
        return Estimates(rate, rate / np.sqrt(usual.shape), usual.shape, usual.observations)

    def _moves(self, url: str, begin: float, end: float) -> bool:
        times = self._changes[url]
        return bool(((times > begin) & (times <= end)).any())


def lost(
    spec: HistorySpec, rates: str = "captures", strategy: str = "sharc-selective", late: float | None = None
) -> float:
    """Incoherent pages; sitemaps are so many seconds late, or not read."""
    order = RunSpec(spec, strategy, rates, "known", sitemap=late is not None, late=late or 0.0)
    return float(run(order).facts["incoherent"])


def month(spec: HistorySpec) -> tuple[str, list[float]]:
    """A line of the table, and the regrets in it."""
    site, bfs, oracle = build(spec), lost(spec, "oracle", "bfs"), lost(spec, "oracle")
    insider = Insider(dict(zip(site.urls, site.changes.rows, strict=True)))
    found = []
    for rates in (LEARNED, insider.rates):
        experiment._believed.cache_clear()
        with patch.object(evidence, "learned_rates", rates):
            found += [lost(spec), lost(spec, late=HOUR)]
    experiment._believed.cache_clear()
    regrets = [(one - oracle) / (bfs - oracle) for one in found]
    cells = [f"{one:.0f} ({regret:.2f})" for one, regret in zip(found, regrets, strict=True)]
    return " | ".join([f"{bfs:.0f}", f"{oracle:.0f}", *cells]), regrets


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", choices=NAMED)
    given = parser.parse_args()
    print("| month | bfs | oracle | learned | 1 h late | insider | 1 h late |\n|---|--:|--:|--:|--:|--:|--:|")
    for name in given.only or USUAL:
        rows = []
        for number, window in enumerate(NAMED[name].months(), 1):
            line, regrets = month(NAMED[name].spec(given.folder, window))
            rows.append(regrets)
            print(f"| {name}, {number} | {line} |", flush=True)
        means = [f"{fmean(column):.2f} ± {stdev(column):.2f}" for column in zip(*rows, strict=True)]
        print(f"| {name}, regret | | | {' | '.join(means)} |", flush=True)


if __name__ == "__main__":
    main()
