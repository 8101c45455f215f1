"""Empirical Bayes: pages of a class share a Gamma prior, learned from all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from scipy.special import digamma, polygamma

from sharc_crawler.rates.estimators.base import Estimates, Estimator
from sharc_crawler.rates.estimators.likelihood import Likelihood
from sharc_crawler.rates.estimators.posterior import moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.rates.history import Histories

WEEK = 7 * 86_400.0
SAMPLE = 5_000  #: pages that a prior is learned from, at most
LENT = 5.0  #: pages' worth of the whole site's moments that every class's prior is given
ROUNDS = 100


class Prior(NamedTuple):
    """A Gamma distribution of rates."""

    shape: float
    mean: float


class GammaPoisson(Estimator):
    """Rates λ ~ Gamma(shape, mean) within a class of pages; the posterior given each page's intervals.

    The prior maximises the marginal likelihood of the class's changed bits (by EM; classes of few pages lean on the
    site's prior). The posterior is returned as the Gamma distribution with its mean and spread. A page without
    observations gets the prior: few observations borrow from the class, many speak for themselves.

    Parameters
    ----------
    seed:
        of the sample that the priors of large classes are learned from

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

    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, histories: Histories, classes: NDArray[np.int64] | None = None) -> Self:
        """Learn each class's prior, and the whole site's."""
        labels = np.zeros(len(histories), np.int64) if classes is None else classes
        rng = np.random.default_rng(self.seed)
        self.prior_ = self._learn(histories, np.arange(len(histories)), rng, None)
        self.priors_ = {
            int(label): self._learn(histories, np.flatnonzero(labels == label), rng, self.prior_)
            for label in np.unique(labels)
        }
        return self

    def block(self, histories: Histories, classes: NDArray[np.int64]) -> Estimates:
        """The posteriors of some pages."""
        known = histories.known()
        labels, index = np.unique(classes, return_inverse=True)
        priors = np.array([self.priors_.get(int(label), self.prior_) for label in labels]).reshape(-1, 2)[index]
        found = moments(Likelihood.of(known).bounded(), priors[:, 0], priors[:, 0] / priors[:, 1])
        return Estimates(found.mean, found.spread, (found.mean / found.spread) ** 2, known.observations())

    @staticmethod
    def _learn(histories: Histories, pages: NDArray[np.int64], rng: np.random.Generator, site: Prior | None) -> Prior:
        if len(pages) > SAMPLE:
            pages = np.sort(rng.choice(pages, SAMPLE, replace=False))
        known = histories.select(pages).known()
        known = known.select(np.flatnonzero(known.observations() > 0))
        return learn(
            Likelihood.of(known).bounded(), _first_guess(known) if site is None else site, 0.0 if site is None else LENT
        )


def learn(likelihood: Likelihood, start: Prior, lent: float) -> Prior:
    """The Gamma prior that makes the likelihoods' marginal product greatest, by EM from ``start``.

    ``start`` also counts as ``lent`` pages' worth of data, so that a few pages cannot run away with the prior.
    """
    pages = len(likelihood.shape)
    if not pages:
        return start
    prior, total = start, pages + lent
    borrowed = lent * start.mean, lent * (digamma(start.shape) - np.log(start.shape / start.mean))
    for _ in range(ROUNDS):
        shape = np.full(pages, prior.shape)
        found = moments(likelihood, shape, shape / prior.mean)
        mean = (found.mean.sum() + borrowed[0]) / total
        before, prior = prior, Prior(_gamma_shape(np.log(mean) - (found.log_mean.sum() + borrowed[1]) / total), mean)
        if np.allclose(prior, before, rtol=1e-3):
            break
    return prior


def _first_guess(known: Histories) -> Prior:
    """Half a change in a week more than was seen: a few seconds without a change say next to nothing."""
    return Prior(0.5, ((known.changed > 0).sum() + 0.5) / (known.lengths.sum() + WEEK))


def _gamma_shape(gap: float) -> float:
    """The a with log a − ψ(a) = ``gap``, within 0.01 and 100 (Minka, Estimating a Gamma distribution, 2002)."""
    gap = max(gap, 1e-3)
    shape = (3.0 - gap + np.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
    for _ in range(5):
        score = np.log(shape) - digamma(shape) - gap
        shape = 1.0 / (1.0 / shape + score / (shape**2 * (1.0 / shape - polygamma(1, shape))))
    return float(np.clip(shape, 0.01, 100.0))
