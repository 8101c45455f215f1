"""Learned rates held against what a capture sees as it goes: a visit compared with the archive is a test of them.

Where the pages that change are no longer those that changed before, an order by rates is worse than none. So the rates
are moved towards equal ones, as far as they failed, or are turned round, where others change now.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
Mask = NDArray[np.bool_]

TRUSTS = np.linspace(-1.0, 1.0, 21)  #: powers that are told apart; below 0 the calm ones of before change most
EQUAL = len(TRUSTS) // 2  #: of these the one of equal rates
FACTORS = 2.0 ** np.arange(-4, 9)  #: by which all pages may change more often than before
SHAPES = np.array([0.1, 0.3, 1.0, 3.0, 10.0])  #: of Gamma variables about the rates
DOUBT = 0.4  #: standard deviation of the power below 1, beforehand; any below 0 is as likely as 0
LEAST = 0.5  #: a power nearer to 0 is none: such an order is not better than another
CALM = 0.5  #: a factor below: nothing is concluded (trackawesome-2024b: 0.2, and the order was right)
RUSH = 4.0  #: one above: rates are equal rather than turned round (a rebuild of trackawesome-2023 under way: 32)
SURE = 3.0  #: by so much its logarithm of probability must be above that of all trust: on real sites it was up to 1.2
BUSIER = 2.0  #: times as many changes as held: the season's, or those compared are the hot ones now
CLEAR = 7.0  #: logarithm of the likelihood of so many changes, over that of as many as held: a thousand times
SEASON = 0.5  #: standard deviation of the factor's logarithm above 0: fewer changes than usual say nothing of the order
COLDEST = 1e-3  #: of the mean rate: no page is colder


class RateTrust(NamedTuple):
    """What became of the rates: a page's is c·r^``trust``, with c such that the mean stays as it was."""

    trust: float = 1.0
    factor: float = 1.0  #: by which all pages changed more often, since they were seen last, than they were held to
    shape: float = 1.0  #: of Gamma variables by which pages differ from what they are held for
    hidden: bool = False  #: those compared do not show whether the order holds

    def of(self, rates: Column, mean: float, level: float) -> Column:
        """Rates moved towards ``mean``; ``level``: the mean of r^trust over the pages that ``mean`` is of."""
        return np.asarray(mean * np.maximum(rates, COLDEST * mean) ** self.trust / level)


def rate_trust(rates: Column, periods: Column, changed: Mask, everywhere: Column) -> RateTrust:
    """How far rates are to be trusted, by pages that were seen before.

    A page's number of changes in its period is taken for Poisson, with the mean m·c·r^β·g·t: r what it was held for, β
    the trust, g a Gamma variable of mean 1, m one factor for all, since the past may hold and the season be another.
    The likeliest β is told, all m and g considered; without evidence it is 1. So it is where pages changed half
    as often as held, or less: a calm tells little of the order. m is held near 1: where only cold pages were compared,
    their number is all that speaks against the order. Where the order shows in those compared m may be any. Below 0
    the calm pages of before are the hot ones: a rebuild, which touches them all, does not tell that.

    Parameters
    ----------
    rates: as held for the pages that were compared, changes per second
    periods: since each was seen last, seconds
    changed: was it another page by then?
    everywhere: rates of all pages, the mean of which is kept

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
    told = np.array(found)
    totals = _totals(told)
    hidden = bool(totals[-1] - totals[EQUAL] < SURE)
    if hidden:  # else those compared show the order: it holds, however many changed
        told -= (np.maximum(np.log(FACTORS), 0.0) / SEASON)[:, None] ** 2 / 2
    told -= (np.minimum(1.0 - TRUSTS, 1.0) / DOUBT)[:, None, None] ** 2 / 2
    values = _totals(told)
    best = len(values) - 1 - int(values[::-1].argmax())
    row, column = np.unravel_index(told[best].argmax(), told[best].shape)
    if values[best] - values[-1] < SURE or FACTORS[row] < CALM:
        return RateTrust(hidden=hidden)
    trust = float(max(TRUSTS[best], 0.0 if FACTORS[row] > RUSH else -1.0))
    return RateTrust(trust * (abs(trust) >= LEAST), float(FACTORS[row]), float(SHAPES[column]))


def busier(rates: Column, periods: Column, changed: Mask) -> bool:
    """Have far more of these pages changed than were held to?"""
    found, held = float(changed.sum()), max(float((rates * periods).sum()), 1e-12)
    return found > BUSIER * held and bool(found * np.log(found / held) - (found - held) > CLEAR)


def _likelihood(expected: Column, changed: Mask) -> Column:
    """Its logarithm for each factor (rows) and shape (columns)."""
    found: Column = np.empty((len(FACTORS), len(SHAPES)))
    for row, factor in enumerate(FACTORS):
        for column, shape in enumerate(SHAPES):
            calm = -shape * np.log1p(factor * expected / shape)
            moved = np.log(np.maximum(-np.expm1(calm[changed]), 1e-300))
            found[row, column] = moved.sum() + calm[~changed].sum()
    return found


def _totals(told: Column) -> Column:
    """The logarithm of each power's probability, all factors and shapes considered."""
    peaks = told.max(axis=(1, 2))
    return np.asarray(peaks + np.log(np.exp(told - peaks[:, None, None]).sum(axis=(1, 2))))


def since(found: RateTrust, rates: Column, periods: Column, changed: Mask) -> Column:
    """Rates (:meth:`RateTrust.of`) of pages that were compared, by whether each had changed."""
    shape, expected = found.shape, found.factor * rates * periods
    calm = rates / (1 + expected / shape)
    still = (1 + expected / shape) ** -shape
    hot = (rates - calm * still) / np.maximum(1 - still, 1e-12)
    return np.asarray(np.where(changed, hot, calm))
