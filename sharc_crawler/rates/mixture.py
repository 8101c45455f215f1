"""Sites of two kinds of pages, as of news and of pages that stand still: rates that no one Gamma prior holds.

Where most pages hardly ever change and a fifth does each week, the likeliest Gamma distribution has neither. The ages
of the last changes show it: a distribution of any form explains them far better. It is taken only then: on most sites
what it explains better is that changes come in bursts, and a burst ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.rates.age import age_histories
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.history import DATED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

BETTER, EACH = 10.0, 0.03  #: log-likelihood by which the ages are explained better, at least: in all, and per page
ENOUGH = 100  #: pages, at least
FACTORS = np.geomspace(1e-3, 1e3, 61)  #: of a page's rate, beside the mean of its like
HOTTEST = np.geomspace(1e-3, 1e6, 91)  #: where bursts count for rates, as they do in a capture that they outlast
FINEST = 0.25  #: relative spread of a rate, at least: as far as two factors lie apart
BLUR = 2.0  #: places by which their weights are smoothed after each round: factors of 1.6
ROUNDS = 100  #: of EM
LEARNED = 5_000  #: ages that are learned from
BLOCK = 1 << 14  #: ages looked at together


def of_two_kinds(single: Estimates, lastmods: Column, read: Column, factors: Column = FACTORS) -> Estimates | None:
    """Posterior rates by age under a prior of any form, each the Gamma distribution with its mean and spread.

    None where one Gamma prior explains the ages about as well.

    Parameters
    ----------
    single: posteriors of :func:`~sharc_crawler.rates.age.age_rates`, changes per second
    lastmods, read: what they were learned from
    factors: of a page's rate, that are possible

    """
    said = np.flatnonzero(~np.isnan(lastmods))
    if len(said) < ENOUGH:
        return None
    histories = age_histories(lastmods, read)
    dated = histories.changed == DATED
    some = np.random.default_rng(0).choice(len(said), min(LEARNED, len(said)), replace=False)
    shape = single.shape[said[0]] - dated[0]  # of the prior, as of all
    learned_from = _ages(single, said[some], shape, histories.lengths[some])[0]
    weights, better = _learned(learned_from, dated[some], shape, factors)
    if better < max(BETTER, EACH * len(some)):
        return None
    ages, means = _ages(single, said, shape, histories.lengths)
    moments = np.empty((2, len(said)))
    for at in range(0, len(said), BLOCK):
        block = slice(at, at + BLOCK)
        likely = _densities(ages[block], dated[block], factors) * weights
        moments[:, block] = np.stack([likely @ factors, likely @ factors**2]) / likely.sum(axis=1)
    found = Estimates(single.rate.copy(), single.spread.copy(), single.shape.copy(), single.observations)
    varies = np.maximum(moments[1] / moments[0] ** 2 - 1.0, FINEST**2)
    found.rate[said] = moments[0] * means
    found.spread[said] = np.sqrt(varies) * found.rate[said]
    found.shape[said] = 1.0 / varies
    return found


def _ages(single: Estimates, pages: NDArray[np.int64], shape: float, lengths: Column) -> tuple[Column, Column]:
    """Ages of the pages' last changes, times the mean rates beforehand, and these."""
    before = single.shape[pages] / single.rate[pages] - lengths
    means: Column = shape / np.maximum(before, np.finfo(float).tiny)
    return lengths * means, means


def _learned(ages: Column, dated: NDArray[np.bool_], shape: float, factors: Column) -> tuple[Column, float]:
    """The likeliest weights of the factors, and by how much better they explain the ages than the Gamma prior does."""
    gamma = np.exp(shape * (np.log(factors) - factors))
    gamma /= gamma.sum()
    densities, near, weights = _densities(ages, dated, factors), _near(len(factors)), gamma
    for _ in range(ROUNDS):
        of_all = densities @ weights
        weights = near @ (weights * (densities / of_all[:, None]).sum(axis=0) + gamma) / (len(ages) + 1.0)
    return weights, float(np.log(densities @ weights).sum() - np.log(densities @ gamma).sum())


def _near(count: int) -> Column:
    """What each weight lends the others; all that it has."""
    places = np.arange(count)
    near: Column = np.exp(-0.5 * (np.subtract.outer(places, places) / BLUR) ** 2)
    near /= near.sum(axis=0)
    return near


def _densities(ages: Column, dated: NDArray[np.bool_], factors: Column) -> Column:
    """Of each age (times the mean rate) under each factor; of a page not seen to change: that it stood still."""
    changed = np.where(dated[:, None], factors, 1.0)
    found: Column = changed * np.exp(-np.multiply.outer(ages, factors)) + np.finfo(float).tiny
    return found
