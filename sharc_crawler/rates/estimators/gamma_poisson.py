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
SAMPLE = 5_000  #: maximum of pages to learn a prior from
LEAST, ALL = 50, 50_000  #: minimum of pages per class, and maximum in all, if there are many classes
LENT = 5.0  #: weight, in pages, of the site's prior for each class, and of a guess for the site
USUAL = 0.3  #: shape of rates by default: on four sites with known changes it was between 0.02 and 1.1


class GammaPoisson(Estimator):
    """Rates λ ~ Gamma(shape, mean) within a class of pages; the posterior given each page's intervals.

    The prior maximizes the marginal likelihood of the class's intervals; classes of few pages are drawn to the site's
    prior, and sites with few observations to a usual shape. The posterior is returned as the Gamma distribution with
    the same mean and spread. A page without observations gets the prior.

    Parameters
    ----------
    cautious:
        the first guess also counts for the prior's shape, not only its mean: for evidence that fades

    Attributes
    ----------
    priors_:
        class → :class:`Prior`; ``prior_`` is the whole site's, for unknown classes

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

    size = 1 << 16  #: pages of a block; only those with equally many changes are computed together

    def __init__(self, *, cautious: bool = False) -> None:
        self.cautious = cautious

    def fit(self, histories: Histories, classes: NDArray[np.int64] | None = None) -> Self:
        """Learn each class's prior, and the site's."""
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
        """Return the posteriors of some pages."""
        known = histories.known()
        labels, index = np.unique(classes, return_inverse=True)
        priors = np.array([self.priors_.get(int(label), self.prior_) for label in labels]).reshape(-1, 2)[index]
        found = moments(Likelihood.of(known), priors[:, 0], priors[:, 0] / priors[:, 1], single=True)
        return Estimates(found.mean, found.spread, (found.mean / found.spread) ** 2, known.observations())


def _sampled(
    histories: Histories, seen: NDArray[np.int64], labels: NDArray[np.int64], rng: np.random.Generator
) -> tuple[Histories, NDArray[np.int64]]:
    """Sample observed pages of each class to learn its prior from; return their histories and classes."""
    pages = rng.permutation(seen)
    pages = pages[np.argsort(labels[pages], kind="stable")]
    _, first, counts = np.unique(labels[pages], return_index=True, return_counts=True)
    most = min(SAMPLE, max(LEAST, ALL // max(len(counts), 1)))
    place = np.arange(len(pages)) - np.repeat(first, counts)
    pages = np.sort(pages[place < most])
    return histories.select(pages).known(), labels[pages]


def _bounded(known: Histories, labels: NDArray[np.int64]) -> Likelihood:
    """Bound the likelihood of classes whose pages always changed, so that the prior does not diverge."""
    found = Likelihood.of(known)
    calm = np.bincount(labels, found.scale)[labels] > 0
    return found if calm.all() else found.bounded(~calm)


def _first_guess(known: Histories) -> Prior:
    """Guess a prior: add half a change to those seen, and a week to the time if none was seen."""
    seen, time = float((known.changed > 0).sum()), float(known.lengths.sum())
    return Prior(USUAL, (seen + 0.5) / (time if seen else time + WEEK))
