"""Curves and classes against ``curve_fit``'s best of 31 starts, on synthetic logs of many kinds and on real views.

    python benchmarks/temporal_peer.py [--sample 100] [--views daily-views.csv.gz]

For each kind of log: how often our sum of squares is no worse by more than 0.1 %; the pages that we call unknown; those
of which ``curve_fit`` found no curve nearly as good (squares within 1 % of ours: the yardstick by which we call a page
unknown); and how often the classes are the same: wherever both say one, where ``curve_fit`` found such a curve, and
with our end as one more start of its own.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from bench_temporal import as_curves, peer, starts

from sharc_crawler.seeds.temporal.classify import Threshold
from sharc_crawler.seeds.temporal.fit import fit
from sharc_crawler.seeds.temporal.synthetic import World, generate
from sharc_crawler.seeds.temporal.views import Reading, read_views

KINDS = {
    "as assumed": World(),
    "noise 0": World(noise=0.0),
    "noise 0.8": World(noise=0.8),
    "bots 1": World(bots=1.0),
    "second_peak 0.3": World(second_peak=0.3),
    "median_days 0.3": World(median_days=0.3),
    "median_days 1.5": World(median_days=1.5),
    "30 days": World(days=30),
}
COLUMNS = "log | pages | no worse | unknown | curve_fit: none | same class | where it found one | with our end"


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
    x = np.arange(1.0, views.shape[1] + 1)
    fits = [peer(y, list(many(x, y))) for y in views.astype(float)]
    ends = zip(np.exp(np.minimum(ours.log_area, 600)), ours.birth, ours.mu, ours.sigma, strict=True)
    ours_on = [peer(y, [end]) for y, end in zip(views.astype(float), ends, strict=True)]
    theirs, both = (
        as_curves(fits, ours),
        as_curves([min(pair, key=lambda one: one[0]) for pair in zip(fits, ours_on, strict=True)], ours),
    )
    floor = 1e-9 * (views.astype(float) ** 2).sum(axis=1)  # exact fits of both are equal
    found = theirs.known & (theirs.squares <= 1.01 * ours.squares + floor)
    called, known = Threshold().temporal(ours), ours.known
    same, same_both = (called == Threshold().temporal(curves) for curves in (theirs, both))
    return [
        (ours.squares <= 1.001 * theirs.squares + floor).mean(),
        1 - known.mean(),
        1 - found.mean(),
        same[known & theirs.known].mean(),
        same[known & found].mean(),
        same_both[known & both.known].mean(),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=100, help="pages of each kind")
    parser.add_argument("--views", type=Path, help="a table of real daily views, as sharc temporal reads it")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logs = {name: generate(replace(world, pages=20_000), 77).views for name, world in KINDS.items()}
    if options.views:
        logs["real views"] = read_views([options.views], Reading(host="https://pages.example")).views
    print(f"| {COLUMNS} |\n|{'---|' * 8}")
    rows = []
    for name, views in logs.items():
        count = min(options.sample, len(views))
        chosen = np.random.default_rng(5).choice(len(views), count, replace=False)
        rows.append(measure(views[chosen]))
        print(f"| {name} | {count} | " + " | ".join(f"{100 * share:.1f} %" for share in rows[-1]) + " |", flush=True)
    print("| mean | | " + " | ".join(f"{100 * share:.2f} %" for share in np.mean(rows, axis=0)) + " |")


if __name__ == "__main__":
    main()
