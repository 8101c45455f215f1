"""Rates of the few hot pages on a cold site, seen by lastmods of seconds or minutes ago.

One Gamma prior, learned from ages that are mostly months, excludes pages that change every minute. So a share of the
pages, learned from all ages, is assumed to have any rate from once an hour to once in ten seconds. Pages that a program
publishes at one moment are not hot: they share their lastmod, as hot ones hardly do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.rates.age import DAY, age_histories
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.history import DATED

HOUR = 3_600.0
RATES = np.geomspace(1.0 / HOUR, 0.1, 32)  #: of hot pages, a priori equally likely
OLDEST = 100 * HOUR  #: age above which no page is hot: the odds are e⁻¹⁰⁰
ROUNDS = 60
FEW, SPIKE = 3, 5.0  #: pages that may share a lastmod: so many, plus this factor times those by chance
BLOCK = 1 << 12  #: ages processed together


def with_hot_pages(
    cold: Estimates, lastmods: NDArray[np.float64], read: NDArray[np.float64], varied: Estimates | None = None
) -> Estimates:
    """Return posterior rates by age if pages may be hot: Gamma distributions with the mixture's mean and spread.

    Parameters
    ----------
    cold: posteriors of :func:`~sharc_crawler.rates.age.age_rates`, changes per second
    lastmods, read: what they were learned from; a lastmod that dates no change, a bare date or one in the future is
        ignored
    varied: rates of pages that are not hot, if they vary more than one Gamma prior allows; None: ``cold``

    """
    others = cold if varied is None else varied
    exact = ~np.isnan(lastmods)
    exact[exact] = age_histories(lastmods, read).changed == DATED
    exact &= (lastmods < read) & (lastmods % DAY != 0)
    exact[exact] = ~_at_once(lastmods[exact], (read - lastmods)[exact])
    young = np.flatnonzero(exact)[(read - lastmods)[exact] < OLDEST]
    if not len(young):
        return others
    ages, shape = (read - lastmods)[young], cold.shape[young]
    density, first, second = np.concatenate([_hot(ages[at : at + BLOCK]) for at in range(0, len(ages), BLOCK)], axis=1)
    chance = _chance(_lomax(ages, shape, shape / cold.rate[young]), density, int(np.count_nonzero(exact)))
    rate, spread = others.rate[young], others.spread[young]
    mean = (1.0 - chance) * rate + chance * first
    square = (1.0 - chance) * (rate**2 + spread**2) + chance * second
    found = Estimates(others.rate.copy(), others.spread.copy(), others.shape.copy(), others.observations)
    found.rate[young], found.spread[young] = mean, np.sqrt(square - mean**2)
    found.shape[young] = (mean / found.spread[young]) ** 2
    return found


def _at_once(lastmods: NDArray[np.float64], ages: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which pages were edited at once: more pages share their lastmod than by chance."""
    _, place, counts = np.unique(lastmods, return_inverse=True, return_counts=True)
    shared, around = counts[place], 2.0 * ages
    unit = np.where(lastmods % 60.0 == 0.0, 60.0, 1.0)  # minutes, or seconds
    others = np.searchsorted(np.sort(ages), around, side="right") - shared
    return np.asarray(shared > FEW + SPIKE * others * unit / np.maximum(around, unit))


def _hot(ages: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, by age, the density if the page is hot, and the means of its rate and of its square, shape (3, ages)."""
    hot = RATES * np.exp(-np.multiply.outer(ages, RATES))
    total = hot.sum(1)
    moments = np.stack([hot @ RATES, hot @ RATES**2]) / np.maximum(total, np.finfo(float).tiny)
    return np.stack([total / len(RATES), *moments])


def _lomax(ages: NDArray[np.float64], shape: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the density of ages under the Gamma priors whose posteriors have this shape and inverse scale."""
    before = np.maximum(scale - ages, np.finfo(float).tiny)
    return np.asarray((shape - 1.0) / scale * (before / scale) ** (shape - 1.0))


def _chance(cold: NDArray[np.float64], hot: NDArray[np.float64], pages: int) -> NDArray[np.float64]:
    """Return the probability that each page is hot, by EM over the share of hot pages (prior: half a page each)."""
    share = 0.5
    for _ in range(ROUNDS):
        chance = share * hot / (share * hot + (1.0 - share) * cold)
        share = (chance.sum() + 0.5) / (pages + 1.0)
    return np.asarray(chance)
