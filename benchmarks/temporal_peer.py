"""Curves and classes against ``curve_fit``'s best of several starts, on synthetic logs of many kinds and on real views.

    python benchmarks/temporal_peer.py [--sample 100] [--views daily-views.csv.gz]

For each kind of log: how often our sum of squares is no worse, by more than 0.1 %, than the best of all 31 starts; the
pages that we call unknown; and of the others how often the class is that of ``curve_fit``'s best of 3, 7 and 31 starts,
and of 5 with bounds (births from 60 days before the window's start, σ from 0.05 to 5), by the same rule of classes;
*bare*: by Φ(3) of its best of 31 alone, where it covers the page's views.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from bench_temporal import best_curves, fitted, starts
from scipy.special import ndtr
from synthetic_views import SyntheticLog, generate

from sharc_crawler.seeds.temporal.classify import COVERED, Threshold
from sharc_crawler.seeds.temporal.fit import fit
from sharc_crawler.seeds.temporal.views import LogOptions, read_views

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = {
    "as assumed": SyntheticLog(),
    "noise 0": SyntheticLog(noise=0.0),
    "noise 0.8": SyntheticLog(noise=0.8),
    "bots 1": SyntheticLog(bots=1.0),
    "second_peak 0.3": SyntheticLog(second_peak=0.3),
    "median_days 0.3": SyntheticLog(median_days=0.3),
    "median_days 1.5": SyntheticLog(median_days=1.5),
    "30 days": SyntheticLog(days=30),
}
COLUMNS = "log | pages | no worse | unknown | 3 starts | 7 | 31 | 5 with bounds | bare"
BOUNDS = np.array([[0, -60, -5, 0.05], [np.inf, 60, 8, 5]])


def many(x, y):
    """Seven starts by rules of thumb, and a grid over modes, times before them, and widths."""
    yield from starts(x, y)
    total = y.sum()
    for mode in (x[y.argmax()], x[np.searchsorted(np.cumsum(y), total / 2)]):
        for lead in (0.5, 3.0, 15.0, 80.0):
            for width in (0.5, 3.0, 15.0):
                sigma = min(max(width / lead, 0.1), 2.5)
                yield total, mode - lead, np.log(lead) + sigma**2, sigma


def measure(views: np.ndarray) -> list[float]:
    ours = fit(views)
    x, counts = np.arange(1.0, views.shape[1] + 1), views.astype(float)
    free = np.array([[fitted(y, start, maxfev=2000) for start in many(x, y)] for y in counts])
    bounded = np.array([[_bounded(y, start) for start in list(many(x, y))[:5]] for y in counts])
    called = Threshold().temporal(ours)

    def same(fits: np.ndarray) -> float:
        theirs = best_curves(fits, views, ours)
        return float((called == Threshold().temporal(theirs))[ours.known & theirs.known].mean())

    best = best_curves(free, views, ours)
    floor = 1e-9 * (counts**2).sum(axis=1)  # exact fits of both are equal
    bare = (best.covered > COVERED) & (ndtr((np.log(3) - best.mu) / best.sigma) > 0.7)
    return [
        float((ours.squares <= 1.001 * best.squares + floor).mean()),
        float(1 - ours.known.mean()),
        *(same(free[:, :starts]) for starts in (3, 7, 31)),
        same(bounded),
        float((called == bare)[ours.known & best.known].mean()),
    ]


def _bounded(y: np.ndarray, start: Sequence[float]) -> tuple[float, ...]:
    return fitted(y, np.clip(start, BOUNDS[0] + 1e-3, BOUNDS[1] - 1e-3), bounds=BOUNDS, max_nfev=200)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=100, help="pages of each kind")
    parser.add_argument("--views", type=Path, help="a table of real daily views, as sharc temporal reads it")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logs = {name: generate(replace(world, pages=20_000), 77).views for name, world in KINDS.items()}
    if options.views:
        logs["real views"] = read_views([options.views], LogOptions(host="https://pages.example")).views
    print(f"| {COLUMNS} |\n|{'---|' * 9}")
    rows = []
    for name, views in logs.items():
        count = min(options.sample, len(views))
        chosen = np.random.default_rng(5).choice(len(views), count, replace=False)
        rows.append(measure(views[chosen]))
        print(f"| {name} | {count} | " + " | ".join(f"{100 * share:.1f} %" for share in rows[-1]) + " |", flush=True)
    print("| mean | | " + " | ".join(f"{100 * share:.2f} %" for share in np.mean(rows, axis=0)) + " |")


if __name__ == "__main__":
    main()
