"""A million histories through each estimator, beside a loop of scipy.optimize.brentq.

    python benchmarks/bench_estimators.py [--pages 1000000] [--observations 10]

Seconds are of CPU time (one thread), MB the peak of what the call allocates beyond its input. The peers work page by
page on a sample, and their time is scaled to all pages. One solves the equation of the irregular-interval estimator by
brentq, as one would without this package: all are held against it. Gamma-Poisson solves another problem, a root and
then an integral for each page, and is also held against a loop that does the same: brentq for the mode, then 18 nodes
in double precision (here they are fewer where a page changed often, and in single precision where that is enough).
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np
from scipy.optimize import brentq

from benchmarks.simple_estimators import BiasReduced, FullKnowledge, PerTime, Recency
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson, Prior
from sharc_crawler.rates.estimators.irregular import IrregularMle
from sharc_crawler.rates.estimators.posterior import NODES
from sharc_crawler.rates.history import Histories

SAMPLE = 5_000


def simulated(pages: int, count: int, irregular: bool) -> Histories:
    rng = np.random.default_rng(1)
    rates = np.exp(rng.normal(-2.0, 1.5, pages))
    lengths = rng.lognormal(0.0, 1.0, pages * count) if irregular else np.ones(pages * count)
    bits = rng.random(pages * count) < -np.expm1(-np.repeat(rates, count) * lengths)
    ends = np.tile(np.arange(count) - count + 1.0, pages)
    return Histories(np.arange(pages + 1) * count, lengths, bits.astype(np.int8), ends)


def peer(histories: Histories) -> tuple[float, np.ndarray]:
    """Seconds per page of the loop, and its roots on the sample (NaN where there is no finite positive root)."""
    roots = np.full(SAMPLE, np.nan)
    start = time.process_time()
    for i in range(SAMPLE):
        own = slice(histories.offsets[i], histories.offsets[i + 1])
        lengths, changed = histories.lengths[own], histories.changed[own] == 1
        if changed.any() and not changed.all():
            hit, calm = lengths[changed], lengths[~changed].sum()
            upper = len(hit) / calm
            roots[i] = brentq(
                lambda x, hit=hit, calm=calm: (hit / np.expm1(np.minimum(x * hit, 700.0))).sum() - calm,
                1e-9 * upper,
                upper,
                rtol=1e-12,
            )
    return (time.process_time() - start) / SAMPLE, roots


def bayesian_peer(histories: Histories, prior: Prior) -> tuple[float, np.ndarray]:
    """Seconds per page of the loop that solves what Gamma-Poisson solves, and the posterior means of the sample."""
    means = np.empty(SAMPLE)
    start = time.process_time()
    for i in range(SAMPLE):
        own = slice(histories.offsets[i], histories.offsets[i + 1])
        lengths, changed = histories.lengths[own], histories.changed[own] == 1
        hit, calm = lengths[changed], lengths[~changed].sum()
        shape, scale = prior.shape, prior.shape / prior.mean + calm
        if not len(hit):
            means[i] = shape / scale
            continue

        def slope(rate: float, hit: np.ndarray = hit, shape: float = shape, scale: float = scale) -> float:
            z = np.minimum(rate * hit, 700.0)
            return float((z / np.expm1(z)).sum()) + shape - rate * scale

        upper = (len(hit) + shape) / scale
        mode = brentq(slope, 1e-9 * upper, upper, rtol=1e-12)
        z = np.minimum(mode * hit, 700.0)
        growth = np.expm1(z)
        phi = z / growth
        fall = (hit * (phi - (1.0 - phi) / growth)).sum() + scale
        rates = mode * np.exp((mode * fall) ** -0.5 * NODES)
        density = np.log(-np.expm1(-np.outer(rates, hit))).sum(1) + shape * np.log(rates) - rates * scale
        weight = np.exp(density - density.max())
        means[i] = (weight * rates).sum() / weight.sum()
    return (time.process_time() - start) / SAMPLE, means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--observations", type=int, default=10)
    args = parser.parse_args()
    histories = simulated(args.pages, args.observations, irregular=True)
    regular = simulated(args.pages, args.observations, irregular=False)
    each, roots = peer(histories)
    print(f"{args.pages:,} histories of {args.observations} intervals")
    print(f"{'brentq, page by page':32} {each * args.pages:8.1f} s   (scaled from {SAMPLE:,} pages)")
    for name, estimator, data in (
        ("full knowledge", FullKnowledge(), regular),
        ("X/T", PerTime(), histories),
        ("bias-reduced", BiasReduced(), histories),
        ("irregular intervals", IrregularMle(), histories),
        ("recency (irregular intervals)", Recency(IrregularMle(), 5.0, 0.0), histories),
        ("Gamma-Poisson, with its fit", GammaPoisson(), histories),
    ):
        start = time.process_time()
        rate = estimator.fit(data).estimate(data).rate
        seconds = time.process_time() - start
        tracemalloc.start()
        estimator.estimate(data)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        print(f"{name:32} {seconds:8.2f} s {peak:7.0f} MB   {each * args.pages / seconds:6.0f} times the peer's speed")
        if isinstance(estimator, IrregularMle):
            known = np.flatnonzero(~np.isnan(roots))
            worst = np.abs(rate[known] / roots[known] - 1.0).max()
            print(f"{'':32} largest relative difference from brentq: {worst:.1e}")
        if isinstance(estimator, GammaPoisson):
            like, means = bayesian_peer(data, estimator.priors_[0])
            worst = np.abs(rate[:SAMPLE] / means - 1.0).max()
            print(f"{'':32} {like * args.pages / seconds:6.0f} times the speed of a loop that solves the same problem")
            print(f"{'':32} largest relative difference from it: {worst:.1e}")


if __name__ == "__main__":
    main()
