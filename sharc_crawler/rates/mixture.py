"""Sites of two kinds of pages, as of news and of pages that stand still: rates that no one Gamma prior holds.

Where most pages hardly ever change and a fifth does each week, the likeliest Gamma distribution has neither. The ages
of the last changes show it: a distribution of any form explains them far better. How many pages change is taken from
it only then: on most sites what it explains better is that changes come in bursts, and a burst ends. Which pages are
to change, it tells better on all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.rates.age import age_histories
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.history import DATED

Column = NDArray[np.float64]

BETTER, EACH = 10.0, 0.03  #: log-likelihood by which the ages are explained better, at least: in all, and per page
ENOUGH = 100  #: pages, at least, from which a form is learned
FACTORS = np.geomspace(1e-3, 1e3, 61)  #: of a page's rate, beside the mean of its like
HOTTEST = np.geomspace(1e-3, 1e6, 91)  #: where bursts count for rates, as they do in a capture that they outlast
FINEST = 0.25  #: relative spread of a rate, at least: as far as two factors lie apart
BLUR = 2.0  #: places by which their weights are smoothed after each round: factors of 1.6
ROUNDS = 100  #: of EM
AT_ONCE = 3.0  #: pages that may share a lastmod on any site, and each have changed for itself
LEARNED = 5_000  #: ages that are learned from
BLOCK = 1 << 11  #: ages looked at together


class AnyForm:
    """A prior of any form for the rates of pages of 100 and more, learned from the ages of their last changes.

    Parameters
    ----------
    single: posteriors of :func:`~sharc_crawler.rates.age.age_rates`, changes per second
    lastmods, read: what they were learned from
    factors: of a page's rate, that are possible
    at_once: a change is a page's own the less, the more are edited at that moment than on most days

    """

    def __init__(
        self,
        single: Estimates,
        lastmods: Column,
        read: Column,
        factors: Column = FACTORS,
        at_once: bool = False,
    ) -> None:
        self._single, self._factors = single, factors
        self._said = said = np.flatnonzero(~np.isnan(lastmods))
        histories = age_histories(lastmods, read)
        dated, self._lengths = histories.changed == DATED, histories.lengths
        self._dated = _own(lastmods[said], dated) if at_once else dated.astype(np.float64)
        self._shape = single.shape[said[0]] - dated[0]  # of the Gamma prior, as of all
        some = np.random.default_rng(0).choice(len(said), min(LEARNED, len(said)), replace=False)
        ages = self._ages(some)[0]
        self._weights, better = _learned(ages, self._dated[some], self._shape, factors)
        self.far_better = better >= max(BETTER, EACH * len(some))  #: explained than by the one Gamma prior

    def rates(self) -> Estimates:
        """Posterior rates by age, each the Gamma distribution with its mean and spread."""
        single, factors = self._single, self._factors
        found = Estimates(single.rate.copy(), single.spread.copy(), single.shape.copy(), single.observations)
        for at in range(0, len(self._said), BLOCK):
            some = slice(at, at + BLOCK)
            pages, (ages, means) = self._said[some], self._ages(some)
            likely = _densities(ages, self._dated[some], factors) * self._weights
            first, second = np.stack([likely @ factors, likely @ factors**2]) / likely.sum(axis=1)
            varies = np.maximum(second / first**2 - 1.0, FINEST**2)
            found.rate[pages] = first * means
            found.spread[pages] = np.sqrt(varies) * found.rate[pages]
            found.shape[pages] = 1.0 / varies
        return found

    def _ages(self, some: NDArray[np.int64] | slice) -> tuple[Column, Column]:
        """Ages of last changes, times the mean rates beforehand, and these."""
        pages, lengths = self._said[some], self._lengths[some]
        before = self._single.shape[pages] / self._single.rate[pages] - lengths
        means: Column = self._shape / np.maximum(before, np.finfo(float).tiny)
        return lengths * means, means


def _own(lastmods: Column, dated: NDArray[np.bool_]) -> Column:
    """The chance that each page's last change is its own: of those edited at once as many are as on most days.

    A robot that edits hundreds of a wiki's pages makes none of them hot. A program that always publishes dozens may.
    """
    _, place, counts = np.unique(lastmods, return_inverse=True, return_counts=True)
    shared = counts[place].astype(np.float64)
    usual = max(AT_ONCE, float(np.median(shared[dated]))) if dated.any() else AT_ONCE
    return np.where(dated, np.minimum(1.0, usual / shared), 0.0)


def _learned(ages: Column, dated: Column, shape: float, factors: Column) -> tuple[Column, float]:
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


def _densities(ages: Column, dated: Column, factors: Column) -> Column:
    """Of each age (times the mean rate) under each factor; of a page not seen to change: that it stood still."""
    changed = 1.0 + np.multiply.outer(dated, factors - 1.0)
    found: Column = changed * np.exp(-np.multiply.outer(ages, factors)) + np.finfo(float).tiny
    return found
