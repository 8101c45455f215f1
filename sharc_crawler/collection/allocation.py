"""How often to capture each site of a collection, within a budget of requests. Pure.

A page that changes as a Poisson process of rate λ, and is captured every I seconds, is up to date in the archive for a
share (1 - exp(-λI)) / (λI) of the time. We maximise the sum over all pages for a number of requests per second, as in
Cho and Garcia-Molina, *Effective page refresh policies for Web crawlers*, ACM TODS 28 (2003), with sites instead of
pages, and a capture's requests as its cost. Pages that change far more often get less.

Learned rates may be worthless: a program that rebuilds a site occasionally produces hot days without consequence. So
intervals lie between these and equal ones, depending on how well earlier rates predicted the sites' last captures
(:func:`trust`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Seconds

DAY: Seconds = 86_400.0
SHORTEST: Seconds = 3_600.0  #: interval between two captures of a site
LONGEST: Seconds = 30 * DAY
WORTH = 0.05  #: expected share of changed pages at which a site is captured, without a budget
FEWEST = 3  #: sites with tested rates that are needed to trust any
_STEPS = 40  #: of each bisection


class SiteLoad(NamedTuple):
    """What decides how often a site is captured."""

    rates: NDArray[np.float64]  #: of its pages, per second
    cost: float  #: requests of a capture


class Foretold(NamedTuple):
    """How rates learned earlier compare with the latest looks at a site's pages."""

    changed: float  #: looks that found a change
    expected: float  #: by the rates
    seconds: float  #: between looks, over all pages


def trust(tests: Sequence[Foretold]) -> float:
    """How well learned rates distinguish sites: 1: exactly; 0: no better than one rate for all, or unknown.

    The share by which they reduce the Poisson deviance of the changes seen at each site.

    >>> trust([Foretold(9, 9, 10), Foretold(1, 1, 10), Foretold(0, 0.1, 5)]) > 0.9
    True
    >>> trust([Foretold(1, 9, 10), Foretold(9, 1, 10), Foretold(5, 5, 10)])
    0.0
    """
    seen = np.array(tests, np.float64).reshape(-1, 3).T
    if len(tests) < FEWEST or not seen[0].sum() or not seen[1].sum():
        return 0.0
    changed, expected, seconds = seen
    alike = _deviance(changed, seconds * changed.sum() / seconds.sum())
    learned = _deviance(changed, expected * changed.sum() / expected.sum())  # a change common to all sites is no skill
    return max(0.0, 1.0 - learned / alike) if alike else 0.0


def _deviance(seen: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    expected = np.maximum(expected, 1e-3)
    logs = np.log(np.maximum(seen, 1e-12) / expected)
    return float(2.0 * (np.where(seen > 0, seen * logs, 0.0) - (seen - expected)).sum())


def changed(load: SiteLoad, after: Seconds) -> float:
    """The expected share of changed pages."""
    return float(-np.expm1(-load.rates * after).mean()) if load.rates.size else 0.0


def intervals(loads: Sequence[SiteLoad], per_day: float | None, trusted: float = 1.0) -> list[Seconds]:
    """The time between two captures of each site; ``per_day``: requests a day over all of them, None: no budget.

    ``trusted``: how far rates are (:func:`trust`); with 0 all sites have one interval, within the budget.

    >>> hot, cold = SiteLoad(np.full(10, 4 / DAY), 20), SiteLoad(np.full(10, 0.2 / DAY), 20)
    >>> [round(every / DAY, 2) for every in intervals([hot, cold], 40)]
    [0.74, 1.56]
    >>> [round(every / DAY, 2) for every in intervals([hot, cold], None)]
    [0.04, 0.26]
    """
    if per_day is None:
        return [_worn(load) for load in loads]
    budget = per_day / DAY
    dearest = max((_gain(load, LONGEST) / load.cost for load in loads), default=0.0)
    price = _bisect(lambda price: budget - sum(load.cost / _worth(load, price) for load in loads), 0.0, dearest)
    best = [_worth(load, price) for load in loads]
    return (
        best if trusted == 1.0 else within([every**-trusted for every in best], [load.cost for load in loads], budget)
    )


def within(often: Sequence[float], costs: Sequence[float], budget: float) -> list[Seconds]:
    """Intervals with these relative frequencies, within their bounds and a budget of requests per second.

    >>> [round(every / DAY, 3) for every in within([1.0, 2.0], [10, 10], 30 / DAY)]
    [1.0, 0.5]
    """
    shares, prices = np.array(often), np.array(costs)

    def each(scale: float) -> NDArray[np.float64]:
        return np.asarray(np.clip(np.exp(scale) / shares, SHORTEST, LONGEST))

    low, high = np.log(SHORTEST * min(often, default=1.0)), np.log(LONGEST * max(often, default=1.0))
    scale = _bisect(lambda scale: budget - float((prices / each(scale)).sum()), low, high, 2 * _STEPS)
    return [float(every) for every in each(scale)]


def _worn(load: SiteLoad) -> Seconds:
    """The interval after which a site is worth a capture, regardless of cost."""
    return _interval(lambda every: changed(load, every) - WORTH)


def _worth(load: SiteLoad, price: float) -> Seconds:
    """The interval at which one more capture per second gains as many fresh pages as its requests are worth."""
    return _interval(lambda every: _gain(load, every) - price * load.cost)


def _gain(load: SiteLoad, every: Seconds) -> float:
    """Fresh pages gained by one more capture per second: the derivative of the share above by the frequency 1/I."""
    moving = load.rates[load.rates > 0]
    changes = moving * every
    return float(((1 - (1 + changes) * np.exp(-changes)) / moving).sum())


def _interval(excess: Callable[[Seconds], float]) -> Seconds:
    """The interval, within the bounds, at which an increasing function becomes positive."""
    return float(np.exp(_bisect(lambda log: excess(float(np.exp(log))), np.log(SHORTEST), np.log(LONGEST))))


def _bisect(excess: Callable[[float], float], low: float, high: float, steps: int = _STEPS) -> float:
    """Where an increasing function becomes positive."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return high
