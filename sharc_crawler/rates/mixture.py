"""Rates on sites with two kinds of pages, such as news and static pages, which one Gamma prior cannot describe.

If most pages hardly ever change and a fifth changes each week, the likeliest Gamma distribution fits neither. The ages
of last changes show this: a distribution of free form explains them far better. Only then the number of changing pages
is taken from it: on most sites it only explains better that changes come in bursts, which end. Which pages will change,
it predicts better on all sites.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.rates.age import age_histories
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.history import DATED

Column = NDArray[np.float64]

BETTER, EACH = 10.0, 0.03  #: minimum gain in log-likelihood: in all, and per page
ENOUGH = 100  #: minimum of pages to learn a form from
FACTORS = np.geomspace(1e-3, 1e3, 61)  #: of a page's rate, relative to the mean of similar pages
HOTTEST = np.geomspace(1e-3, 1e6, 91)  #: the same in short captures, in which bursts count as rates
FINEST = 0.25  #: minimum relative spread of a rate: the distance of two factors
BLUR = 2.0  #: smoothing of weights after each round, in places: factors of 1.6
ROUNDS = 100  #: of EM
AT_ONCE = 3.0  #: pages that may share a lastmod by chance on any site
LEARNED = 5_000  #: maximum of ages learned from
BLOCK = 1 << 11  #: ages looked at together


class AnyForm:
    """A prior of free form for the rates of 100 pages or more, learned from the ages of their last changes.

    Parameters
    ----------
    single: posteriors of :func:`~sharc_crawler.rates.age.age_rates`, changes per second
    lastmods, read: what they were learned from
    factors: possible factors of a page's rate
    at_once: discount changes of pages edited with many others at the same moment

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
        self._known = known = np.flatnonzero(~np.isnan(lastmods))
        histories = age_histories(lastmods, read)
        dated, self._lengths = histories.changed == DATED, histories.lengths
        self._dated = _own(lastmods[known], dated) if at_once else dated.astype(np.float64)
        self._shape = single.shape[known[0]] - dated[0]  # of the Gamma prior, the same for all
        some = np.random.default_rng(0).choice(len(known), min(LEARNED, len(known)), replace=False)
        ages = self._ages(some)[0]
        self._weights, better = _learned(ages, self._dated[some], self._shape, factors)
        self.far_better = better >= max(BETTER, EACH * len(some))  #: than the one Gamma prior

    def rates(self) -> Estimates:
        """Return posterior rates by age: Gamma distributions with their mean and spread."""
        single, factors = self._single, self._factors
        found = Estimates(single.rate.copy(), single.spread.copy(), single.shape.copy(), single.observations)
        for at in range(0, len(self._known), BLOCK):
            some = slice(at, at + BLOCK)
            pages, (ages, means) = self._known[some], self._ages(some)
            likely = _densities(ages, self._dated[some], factors) * self._weights
            first, second = np.stack([likely @ factors, likely @ factors**2]) / likely.sum(axis=1)
            varies = np.maximum(second / first**2 - 1.0, FINEST**2)
            found.rate[pages] = first * means
            found.spread[pages] = np.sqrt(varies) * found.rate[pages]
            found.shape[pages] = 1.0 / varies
        return found

    def _ages(self, some: NDArray[np.int64] | slice) -> tuple[Column, Column]:
        """Return the ages of last changes times the prior mean rates, and these."""
        pages, lengths = self._known[some], self._lengths[some]
        before = self._single.shape[pages] / self._single.rate[pages] - lengths
        means: Column = self._shape / np.maximum(before, np.finfo(float).tiny)
        return lengths * means, means


def _own(lastmods: Column, dated: NDArray[np.bool_]) -> Column:
    """Return the probability that each page's last change is its own: of pages edited at once, as many as usual.

    A robot that edits hundreds of a wiki's pages makes none of them hot. A program that always publishes dozens may.
    """
    _, place, counts = np.unique(lastmods, return_inverse=True, return_counts=True)
    shared = counts[place].astype(np.float64)
    usual = max(AT_ONCE, float(np.median(shared[dated]))) if dated.any() else AT_ONCE
    return np.where(dated, np.minimum(1.0, usual / shared), 0.0)


def _learned(ages: Column, dated: Column, shape: float, factors: Column) -> tuple[Column, float]:
    """Return the likeliest weights of the factors, and their gain in log-likelihood over the Gamma prior."""
    gamma = np.exp(shape * (np.log(factors) - factors))
    gamma /= gamma.sum()
    densities, near, weights = _densities(ages, dated, factors), _near(len(factors)), gamma
    for _ in range(ROUNDS):
        of_all = densities @ weights
        weights = near @ (weights * (densities / of_all[:, None]).sum(axis=0) + gamma) / (len(ages) + 1.0)
    return weights, float(np.log(densities @ weights).sum() - np.log(densities @ gamma).sum())


def _near(count: int) -> Column:
    """Return the smoothing kernel of the weights."""
    places = np.arange(count)
    near: Column = np.exp(-0.5 * (np.subtract.outer(places, places) / BLUR) ** 2)
    near /= near.sum(axis=0)
    return near


def _densities(ages: Column, dated: Column, factors: Column) -> Column:
    """Return the density of each age (times the mean rate) under each factor; without a change, of no change."""
    changed = 1.0 + np.multiply.outer(dated, factors - 1.0)
    found: Column = changed * np.exp(-np.multiply.outer(ages, factors)) + np.finfo(float).tiny
    return found
