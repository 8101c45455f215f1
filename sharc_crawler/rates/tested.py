"""Test learned rates during a capture: each visit compared with the archive is a test.

If the pages that change are not those that changed before, an order by rates is worse than none. So rates are moved
towards equal ones, as far as they failed, or reversed if other pages change now.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
Mask = NDArray[np.bool_]

TRUSTS = np.linspace(-1.0, 1.0, 21)  #: powers of the rates; negative ones reverse the order
EQUAL = len(TRUSTS) // 2  #: index of power 0: equal rates
FACTORS = 2.0 ** np.arange(-4, 9)  #: by which all pages may change more often than before
SHAPES = np.array([0.1, 0.3, 1.0, 3.0, 10.0])  #: of Gamma variables about the rates
DOUBT = 0.4  #: prior standard deviation of the power below 1; any negative power is as likely as 0
LEAST = 0.5  #: powers nearer to 0 count as 0
CALM = 0.5  #: factor below which nothing is concluded (trackawesome-2024b: 0.2, and the order was right)
RUSH = 4.0  #: factor above which rates are made equal, not reversed (during a rebuild of trackawesome-2023: 32)
SURE = 3.0  #: minimum gain in log probability over full trust: on real sites it was up to 1.2
BUSIER = 2.0  #: ratio of changes to those expected: a busy season, or the compared pages are hot now
CLEAR = 7.0  #: minimum log-likelihood ratio of that: a factor of a thousand
SEASON = 0.5  #: prior standard deviation of the log factor above 0: few changes say nothing about the order
COLDEST = 1e-3  #: lower bound of rates, as a share of the mean rate


class RateTrust(NamedTuple):
    """The result of a test: a page's rate is c·r^``trust``, with c such that the mean stays the same."""

    trust: float = 1.0
    factor: float = 1.0  #: by which all pages changed more often than expected since they were last seen
    shape: float = 1.0  #: of Gamma variables of the rates' errors
    hidden: bool = False  #: the compared pages do not show whether the order holds

    def of(self, rates: Column, mean: float, level: float) -> Column:
        """Return rates moved towards ``mean``; ``level``: the mean of r^trust over the same pages as ``mean``."""
        return np.asarray(mean * np.maximum(rates, COLDEST * mean) ** self.trust / level)


def rate_trust(rates: Column, periods: Column, changed: Mask, everywhere: Column) -> RateTrust:
    """Return how far rates can be trusted, by pages seen before.

    A page's number of changes in its period is modelled as Poisson with mean m·c·r^β·g·t: r is its rate, β the trust, g
    a Gamma variable of mean 1, and m a factor for all pages, as the season may differ. The likeliest β is returned,
    over all m and g; without evidence it is 1. It is also 1 if pages changed at most half as often as expected: a calm
    shows little about the order. m has a prior near 1: if only cold pages were compared, only their number of changes
    speaks against the order. If the compared pages show the order, m is free. A negative β means that formerly calm
    pages are hot now; a rebuild, which touches all pages, does not show that.

    Parameters
    ----------
    rates: of the compared pages, changes per second
    periods: seconds since each was last seen
    changed: had the page changed?
    everywhere: rates of all pages, whose mean is kept

    >>> held, cold = np.repeat([1e-3, 1e-1], 50), np.repeat([True, False], 50)
    >>> [rate_trust(held, np.full(100, time), which, held).trust for time, which in ((9.0, ~cold), (50.0, cold))]
    [1.0, -1.0]

    """
    mean = float(everywhere.mean())
    floor = COLDEST * mean
    found = []
    for trust in TRUSTS.tolist():
        level = float((np.maximum(everywhere, floor) ** trust).mean())
        found.append(_likelihood(mean * np.maximum(rates, floor) ** trust / level * periods, changed))
    logs = np.array(found)
    totals = _totals(logs)
    hidden = bool(totals[-1] - totals[EQUAL] < SURE)
    if hidden:  # else the compared pages show the order, however many changed
        logs -= (np.maximum(np.log(FACTORS), 0.0) / SEASON)[:, None] ** 2 / 2
    logs -= (np.minimum(1.0 - TRUSTS, 1.0) / DOUBT)[:, None, None] ** 2 / 2
    values = _totals(logs)
    best = len(values) - 1 - int(values[::-1].argmax())
    row, column = np.unravel_index(logs[best].argmax(), logs[best].shape)
    if values[best] - values[-1] < SURE or FACTORS[row] < CALM:
        return RateTrust(hidden=hidden)
    trust = float(max(TRUSTS[best], 0.0 if FACTORS[row] > RUSH else -1.0))
    return RateTrust(trust * (abs(trust) >= LEAST), float(FACTORS[row]), float(SHAPES[column]))


def busier(rates: Column, periods: Column, changed: Mask) -> bool:
    """Have far more of these pages changed than expected?"""
    found, held = float(changed.sum()), max(float((rates * periods).sum()), 1e-12)
    return found > BUSIER * held and bool(found * np.log(found / held) - (found - held) > CLEAR)


def _likelihood(expected: Column, changed: Mask) -> Column:
    """Return the log-likelihood for each factor (rows) and shape (columns)."""
    found: Column = np.empty((len(FACTORS), len(SHAPES)))
    for row, factor in enumerate(FACTORS):
        for column, shape in enumerate(SHAPES):
            calm = -shape * np.log1p(factor * expected / shape)
            moved = np.log(np.maximum(-np.expm1(calm[changed]), 1e-300))
            found[row, column] = moved.sum() + calm[~changed].sum()
    return found


def _totals(logs: Column) -> Column:
    """Return the log probability of each power, over all factors and shapes."""
    peaks = logs.max(axis=(1, 2))
    return np.asarray(peaks + np.log(np.exp(logs - peaks[:, None, None]).sum(axis=(1, 2))))


def since(found: RateTrust, rates: Column, periods: Column, changed: Mask) -> Column:
    """Return the rates (:meth:`RateTrust.of`) of compared pages, given whether each had changed."""
    shape, expected = found.shape, found.factor * rates * periods
    calm = rates / (1 + expected / shape)
    still = (1 + expected / shape) ** -shape
    hot = (rates - calm * still) / np.maximum(1 - still, 1e-12)
    return np.asarray(np.where(changed, hot, calm))
