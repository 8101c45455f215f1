"""How often each site of a collection is worth a capture, within a budget of requests: pure.

A page that changes as a Poisson process of rate λ, and is captured every I seconds, is as the archive has it for a
share (1 - exp(-λI)) / (λI) of the time. The sum over all pages is made greatest for a number of requests per second, as
in Cho and Garcia-Molina, *Effective page refresh policies for Web crawlers*, ACM TODS 28 (2003), with the site in place
of the page, and its capture's requests as its cost. Pages that change far more often than that get less.

Learned rates may be worth nothing: a program that rebuilds a site now and then makes hot days of which nothing follows.
So intervals lie between these and even ones, by how well rates that were learned earlier foretold what the last
captures of the sites then showed (:func:`trust`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Seconds

DAY: Seconds = 86_400.0
SHORTEST: Seconds = 3_600.0  #: between two captures of a site
LONGEST: Seconds = 30 * DAY
WORTH = 0.05  #: share of a site's pages that are expected to have changed, where there is no budget
FEWEST = 3  #: sites whose rates were tested, so that anything can be said of them
_STEPS = 40  #: of each bisection


class SiteLoad(NamedTuple):
    """What decides how often a site is captured."""

    rates: NDArray[np.float64]  #: of its pages, changes per second
    cost: float  #: requests of a capture


class Foretold(NamedTuple):
    """What rates, learned before, said of the last looks at the pages of a site, and what these showed."""

    changed: float  #: looks that showed a change
    expected: float  #: by the rates
    seconds: float  #: between the looks, over all pages


def trust(tests: Sequence[Foretold]) -> float:
    """How far learned rates tell sites apart: 1: exactly; 0: no better than one rate for all, or not known.

    The share by which they lessen the Poisson deviance of the changes seen at each site.

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
    learned = _deviance(changed, expected * changed.sum() / expected.sum())  # what all sites do together is no skill
    return max(0.0, 1.0 - learned / alike) if alike else 0.0


def _deviance(seen: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    expected = np.maximum(expected, 1e-3)
    logs = np.log(np.maximum(seen, 1e-12) / expected)
    return float(2.0 * (np.where(seen > 0, seen * logs, 0.0) - (seen - expected)).sum())


def changed(load: SiteLoad, after: Seconds) -> float:
    """The share of its pages that are expected to have changed."""
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
    """Intervals whose frequencies are to each other as these, within their bounds and a budget of requests a second.

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
    """The interval after which a site is worth a capture, whatever that costs."""
    return _interval(lambda every: changed(load, every) - WORTH)


def _worth(load: SiteLoad, price: float) -> Seconds:
    """The interval at which one capture more per second would bring as many fresh pages as its requests are worth."""
    return _interval(lambda every: _gain(load, every) - price * load.cost)


def _gain(load: SiteLoad, every: Seconds) -> float:
    """Fresh pages by one more capture per second: the derivative of the share above by the frequency 1/I."""
    moving = load.rates[load.rates > 0]
    changes = moving * every
    return float(((1 - (1 + changes) * np.exp(-changes)) / moving).sum())


def _interval(excess: Callable[[Seconds], float]) -> Seconds:
    """The interval, within the bounds, at which a growing function becomes positive."""
    return float(np.exp(_bisect(lambda log: excess(float(np.exp(log))), np.log(SHORTEST), np.log(LONGEST))))


def _bisect(excess: Callable[[float], float], low: float, high: float, steps: int = _STEPS) -> float:
    """Where a growing function becomes positive."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return high
