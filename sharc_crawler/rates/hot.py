"""The few hot pages of a site of cold ones, seen by lastmods of seconds or minutes ago before any capture.

One Gamma prior, learned where nearly all ages are months, cannot believe a page to change every minute. Some share of
the pages, learned from all ages, is therefore taken to have any rate from once an hour to once in ten seconds. Pages
that a program publishes at one moment are not hot for that: they share their lastmod, as hot ones hardly do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.rates.age import DAY, age_histories
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.history import DATED

HOUR = 3_600.0
RATES = np.geomspace(1.0 / HOUR, 0.1, 32)  #: of hot pages, each as likely before its age is known
OLDEST = 100 * HOUR  #: no page is hot that has stood still for so long: the odds are e⁻¹⁰⁰
ROUNDS = 60
FEW, SPIKE = 3, 5.0  #: pages that may share a lastmod, and beside them so many times as many as do by chance
BLOCK = 1 << 12  #: ages looked at together, each by all rates


def with_hot_pages(
    cold: Estimates, lastmods: NDArray[np.float64], read: NDArray[np.float64], varied: Estimates | None = None
) -> Estimates:
    """Posterior rates by age where a page may also be hot, each the Gamma distribution with its mean and spread.

    Parameters
    ----------
    cold: posteriors of :func:`~sharc_crawler.rates.age.age_rates`, changes per second
    lastmods, read: what they were learned from; a lastmod that dates no change, a bare date and one that was still to
        come when it was read say nothing of minutes
    varied: rates of those that are not hot, where pages differ more than one Gamma prior holds; None: as ``cold``

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
    """Which pages were edited as one: more have their lastmod than those changed about then would share by chance."""
    _, place, counts = np.unique(lastmods, return_inverse=True, return_counts=True)
    shared, around = counts[place], 2.0 * ages
    unit = np.where(lastmods % 60.0 == 0.0, 60.0, 1.0)  # minutes, or seconds
    others = np.searchsorted(np.sort(ages), around, side="right") - shared
    return np.asarray(shared > FEW + SPIKE * others * unit / np.maximum(around, unit))


def _hot(ages: NDArray[np.float64]) -> NDArray[np.float64]:
    """The density of each age if its page is hot, and the means of its rate and of its square then, shape (3, ages)."""
    hot = RATES * np.exp(-np.multiply.outer(ages, RATES))
    total = hot.sum(1)
    moments = np.stack([hot @ RATES, hot @ RATES**2]) / np.maximum(total, np.finfo(float).tiny)
    return np.stack([total / len(RATES), *moments])


def _lomax(ages: NDArray[np.float64], shape: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Density of the ages under the Gamma priors of which these (shape, inverse scale) are the posteriors."""
    before = np.maximum(scale - ages, np.finfo(float).tiny)
    return np.asarray((shape - 1.0) / scale * (before / scale) ** (shape - 1.0))


def _chance(cold: NDArray[np.float64], hot: NDArray[np.float64], pages: int) -> NDArray[np.float64]:
    """That each page is hot: the share of hot ones among so many, learned by EM, with half a page of either kind."""
    share = 0.5
    for _ in range(ROUNDS):
        chance = share * hot / (share * hot + (1.0 - share) * cold)
        share = (chance.sum() + 0.5) / (pages + 1.0)
    return np.asarray(chance)
