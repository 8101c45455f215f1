"""Interest curves: the batched fit on synthetic logs of the published size, against ``curve_fit`` on a sample.

    python benchmarks/bench_temporal.py [--pages 975151] [--sample 200]

Says time, memory, and how sums of squares and classes compare with the peer's best of seven starts.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import warnings
from dataclasses import replace

import numpy as np
from scipy.optimize import curve_fit
from synthetic_views import SyntheticLog, generate

from sharc_crawler.seeds.temporal.classify import Threshold
from sharc_crawler.seeds.temporal.curve import Curves
from sharc_crawler.seeds.temporal.fit import fit


def log(pages: int, world: SyntheticLog) -> np.ndarray:
    """Views of so many pages, made in blocks so that making them takes less memory than fitting them."""
    views = np.empty((pages, world.days), np.int32)
    filled, seed = 0, 0
    while filled < pages:
        block = generate(replace(world, pages=50_000), seed).views[: pages - filled]
        views[filled : filled + len(block)] = block
        filled, seed = filled + len(block), seed + 1
    return views


def curve(x, area, birth, mu, sigma):
    age = x - birth
    alive = age > 0
    age = np.where(alive, age, 1.0)
    z = (np.log(age) - mu) / sigma
    return np.where(alive, area * np.exp(-0.5 * z * z) / (age * np.abs(sigma) * np.sqrt(2 * np.pi)), 0.0)


def starts(x, y):
    total, mean, peak = y.sum(), (x * y).sum() / y.sum(), x[y.argmax()]
    spread = np.sqrt(((x - mean) ** 2 * y).sum() / total) + 0.3
    first = x[np.flatnonzero(y)[0]]
    yield total, peak - 1.0, 0.0, 1.0
    yield total, peak - 0.5, 0.5, 0.7
    yield total, mean - 2 * spread, np.log(2 * spread), 0.5  # moments
    yield total, 0.0, np.log(mean), 1.0
    yield total, first - 0.8, np.log(max(mean - first + 0.8, 0.5)), 0.8
    yield 3 * total, -30.0, np.log(mean + 30), 0.5
    yield 6 * total, -100.0, np.log(mean + 100), 1.0  # flat


def fitted(y, start, **how):
    """``curve_fit`` from one start: (sum of squares, area, birth, mu, sigma); infinite squares where it gives up."""
    x = np.arange(1.0, len(y) + 1)
    try:
        found, _ = curve_fit(curve, x, y, p0=start, **how)
    except (RuntimeError, ValueError):
        return (np.inf, *4 * [np.nan])
    return (float(((y - curve(x, *found)) ** 2).sum()), *found)


def peer(y):
    """``curve_fit`` from its seven starts: shape (starts, 5)."""
    return np.array([fitted(y, start, maxfev=2000) for start in starts(np.arange(1.0, len(y) + 1), y)])


def best_curves(fits: np.ndarray, views: np.ndarray, ours: Curves) -> Curves:
    """The best of the fits (pages, starts, 5) of each page; classes go by the same rule as ours."""
    best = fits[np.arange(len(fits)), fits[:, :, 0].argmin(axis=1)]
    squares, area, birth, mu, sigma = best.T
    curves = np.log(np.abs(area)), birth, mu, np.abs(sigma)
    x = np.arange(1.0, views.shape[1] + 1)[:, None]
    covered = curve(x, area, birth, mu, sigma).sum(axis=0) / views.sum(axis=1)
    return Curves(*curves, ours.seen, squares, covered, np.isfinite(squares))


def compare(views: np.ndarray, ours: Curves) -> dict[str, float]:
    warnings.simplefilter("ignore")
    began, cpu = time.perf_counter(), time.process_time()
    theirs = best_curves(np.array([peer(y) for y in views.astype(float)]), views, ours)
    seconds, cpu = (time.perf_counter() - began) / len(views), (time.process_time() - cpu) / len(views)
    floor = 1e-9 * (views.astype(float) ** 2).sum(axis=1)  # exact fits of both are equal
    both = ours.known & theirs.known
    return {
        "peer ms per page": 1e3 * seconds,
        "peer processor ms per page": 1e3 * cpu,
        "never worse by more than 0.1 %": float((ours.squares <= 1.001 * theirs.squares + floor).mean()),
        "peer never worse than ours": float((theirs.squares <= 1.001 * ours.squares + floor).mean()),
        "same class": float((Threshold().temporal(ours) == Threshold().temporal(theirs))[both].mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=975_151)
    parser.add_argument("--sample", type=int, default=200)
    options = parser.parse_args()
    views = log(options.pages, SyntheticLog())
    began, cpu = time.perf_counter(), time.process_time()
    curves = fit(views)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    facts = {
        "pages": options.pages,
        "seconds": seconds,
        "processor seconds": cpu,
        "peak memory GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "unknown": float((~curves.known).mean()),
        "temporal": float(Threshold().temporal(curves).mean()),
    }
    print(json.dumps(facts), file=sys.stderr, flush=True)  # should the peer be cut short
    chosen = np.random.default_rng(0).choice(options.pages, options.sample, replace=False)
    facts |= compare(views[chosen], curves.take(chosen))
    facts["times faster than the peer"] = facts["peer ms per page"] * options.pages / (1e3 * seconds)
    facts["times the processor time"] = facts["peer processor ms per page"] * options.pages / (1e3 * cpu)
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
