"""Empirical Bayes: pages of a class share a Gamma prior, learned from all of them."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.rates.estimators.base import Estimates, Estimator
from sharc_crawler.rates.estimators.likelihood import Likelihood
from sharc_crawler.rates.estimators.posterior import moments
from sharc_crawler.rates.estimators.priors import Prior, learn, learn_all
from sharc_crawler.rates.history import Histories

WEEK = 7 * 86_400.0
SAMPLE = 5_000  #: pages that a prior is learned from, at most
LEAST, ALL = 50, 50_000  #: of each of many classes, at least so many; so many of all together
LENT = 5.0  #: pages' worth of the whole site's moments that every class's prior is given, of a guess the site's
USUAL = 0.3  #: shape of rates where nothing is known: of four sites with known changes between 0.02 and 1.1


class GammaPoisson(Estimator):
    """Rates λ ~ Gamma(shape, mean) within a class of pages; the posterior given each page's intervals.

    The prior maximises the marginal likelihood of the class's changed bits; classes of few pages lean on the site's
    prior, sites of few looks on a usual shape. The posterior is returned as the Gamma distribution with its mean and
    spread. A page without observations gets the prior: few borrow from the class, many speak for themselves.

    Parameters
    ----------
    cautious:
        of how pages differ, too, a guess counts as pages that are known: for evidence that fades

    Attributes
    ----------
    priors_:
        class → :class:`Prior`; ``prior_`` is the whole site's, for classes that were not there

    Examples
    --------
    >>> from sharc_crawler.rates.history import Histories
    >>> site = Histories.of([[1.0] * 9] * 40, [[1] * 9] * 4 + [[0] * 9] * 36)
    >>> estimates = GammaPoisson().fit(site).estimate(site)
    >>> bool(estimates.rate[0] > 1), bool(0 < estimates.rate[-1] < 0.01)
    (True, True)

    References
    ----------
    Casella, An introduction to empirical Bayes data analysis, The American Statistician 1985.
    Louis, Finding the observed information matrix when using the EM algorithm, J. R. Statist. Soc. B 1982.

    """

    size = 1 << 16  #: of a block only pages with as many changes are computed together

    def __init__(self, *, cautious: bool = False) -> None:
        self.cautious = cautious

    def fit(self, histories: Histories, classes: NDArray[np.int64] | None = None) -> Self:
        """Learn each class's prior, and the whole site's."""
        rng = np.random.default_rng(0)
        seen = np.flatnonzero(histories.observations() > 0)
        everything = histories.select(np.sort(rng.permutation(seen)[:SAMPLE])).known()
        whole = _bounded(everything, np.zeros(len(everything), np.int64))
        self.prior_ = learn(whole, _first_guess(everything), LENT, guess=not self.cautious)
        if classes is None:
            self.priors_ = {0: self.prior_}
            return self
        known, own = _sampled(histories, seen, classes, rng)
        names, index = np.unique(own, return_inverse=True)
        if len(names) < 2:
            self.priors_ = dict.fromkeys(names.tolist(), self.prior_)
            return self
        found = learn_all(_bounded(known, index), index, len(names), self.prior_, LENT)
        self.priors_ = dict(zip(names.tolist(), found, strict=True))
        return self

    def block(self, histories: Histories, classes: NDArray[np.int64]) -> Estimates:
        """The posteriors of some pages."""
        known = histories.known()
        labels, index = np.unique(classes, return_inverse=True)
        priors = np.array([self.priors_.get(int(label), self.prior_) for label in labels]).reshape(-1, 2)[index]
        found = moments(Likelihood.of(known), priors[:, 0], priors[:, 0] / priors[:, 1], single=True)
        return Estimates(found.mean, found.spread, (found.mean / found.spread) ** 2, known.observations())


def _sampled(
    histories: Histories, seen: NDArray[np.int64], labels: NDArray[np.int64], rng: np.random.Generator
) -> tuple[Histories, NDArray[np.int64]]:
    """Of the pages of which something was seen, of each class as many as its prior is learned from; their classes."""
    pages = rng.permutation(seen)
    pages = pages[np.argsort(labels[pages], kind="stable")]
    _, first, counts = np.unique(labels[pages], return_index=True, return_counts=True)
    most = min(SAMPLE, max(LEAST, ALL // max(len(counts), 1)))
    place = np.arange(len(pages)) - np.repeat(first, counts)
    pages = np.sort(pages[place < most])
    return histories.select(pages).known(), labels[pages]


def _bounded(known: Histories, labels: NDArray[np.int64]) -> Likelihood:
    """Of a class whose pages all changed at every look nothing else would keep the prior from running away."""
    found = Likelihood.of(known)
    calm = np.bincount(labels, found.scale)[labels] > 0
    return found if calm.all() else found.bounded(~calm)


def _first_guess(known: Histories) -> Prior:
    """Half a change more than was seen; where none was, in a week more: seconds without one say next to nothing."""
    seen, time = float((known.changed > 0).sum()), float(known.lengths.sum())
    return Prior(USUAL, (seen + 0.5) / (time if seen else time + WEEK))
