"""Temporal pages and sites against the truth of synthetic logs, one assumption of the generator varied at a time.

    python benchmarks/temporal_truth.py [--pages 6000] [--seeds 2]

Prints, for each world: precision, recall and F of temporal pages whose life lies in the window (and F of all pages),
the share of unknown pages, and F of the best tenth of the sites ranked by curves, by the truth, and by views.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from datetime import date

import numpy as np
from synthetic_views import SyntheticLog, generate

from sharc_crawler.seeds.temporal.analysis import analyse
from sharc_crawler.seeds.temporal.rank import rank, worth
from sharc_crawler.seeds.temporal.views import PageViews

CHANGES = {
    "noise": (0.0, 0.4, 0.8, 1.2),
    "median_views": (60.0, 1000.0),
    "weekend": (0.3,),
    "bots": (0.3, 1.0, 3.0),
    "evergreen_tail": (0.1, 0.3, 0.5),
    "second_peak": (0.2, 0.4),
    "median_days": (0.3, 1.5),
}


def measure(world: SyntheticLog, seed: int) -> list[float]:
    log = generate(world, seed)
    found = analyse(PageViews(log.pages, log.sites, log.views, date(2022, 1, 1), len(log.pages), 0, {}))

    def rates(where: np.ndarray) -> tuple[float, float, float]:
        called, true = found.temporal[where], log.temporal[where]
        both = (called & true).sum()
        return both / max(called.sum(), 1), both / max(true.sum(), 1), 2 * both / max(called.sum() + true.sum(), 1)

    count = max(1, len(found.ranked) // 10)
    by_truth = rank(log.sites, log.views.sum(axis=1), log.temporal, found.curves.known)
    choices = (found.ranked, by_truth, sorted(found.ranked, key=lambda one: -one.views))
    sites = [worth(choice[:count], log.sites, log.temporal).f for choice in choices]
    return [*rates(log.inside), rates(log.inside | True)[2], (~found.curves.known).mean(), *sites]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=6000)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    base = SyntheticLog(pages=options.pages)
    worlds = {"as assumed": base}
    worlds |= {
        f"{name} {value:g}": replace(base, **{name: value}) for name, values in CHANGES.items() for value in values
    }
    print("| world | P | R | F inside | F all | unknown | sites | by truth | by views |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, world in worlds.items():
        means = np.mean([measure(world, seed) for seed in range(options.seeds)], axis=0)
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in means) + " |", flush=True)


if __name__ == "__main__":
    main()
