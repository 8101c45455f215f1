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
LENT = 5.0  #: pages' worth of the whole site's moments that every class's prior is given, of a guess the site's
ROUNDS = 33  #: of three steps
CLOSE = 1e-3  #: relative change of a step at which it is done
FARTHEST = 16.0  #: strides of an extrapolation, at most


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
    Varadhan and Roland, Simple and globally convergent methods for accelerating the convergence of any EM algorithm,
    Scandinavian Journal of Statistics 2008.

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
        return learn(Likelihood.of(known).bounded(), _first_guess(known) if site is None else site, LENT)


def learn(likelihood: Likelihood, start: Prior, lent: float) -> Prior:
    """The Gamma prior that makes the likelihoods' marginal product greatest, by EM from ``start``.

    ``start`` also counts as ``lent`` pages' worth of data, so that a few pages cannot run away with the prior.
    """
    pages = len(likelihood.shape)
    if not pages:
        return start
    total = pages + lent
    borrowed = lent * start.mean, lent * (digamma(start.shape) - np.log(start.shape / start.mean))

    def better(prior: Prior) -> Prior:
        """One round of EM."""
        shape = np.full(pages, prior.shape)
        found = moments(likelihood, shape, shape / prior.mean)
        mean = (found.mean.sum() + borrowed[0]) / total
        return Prior(_gamma_shape(np.log(mean) - (found.log_mean.sum() + borrowed[1]) / total), mean)

    prior = start
    for _ in range(ROUNDS):
        first = better(prior)
        if np.allclose(first, prior, rtol=CLOSE):
            return first
        second = better(first)
        if np.allclose(second, first, rtol=CLOSE):
            return second
        prior = better(_ahead(prior, first, second))
    return prior


def _ahead(start: Prior, first: Prior, second: Prior) -> Prior:
    """Where two rounds of EM lead to, by the way they slow down (in logarithms; SQUAREM's third scheme)."""
    before, here, then = (np.log(prior) for prior in (start, first, second))
    step = here - before
    bend = then - here - step
    stride = min(FARTHEST, max(1.0, float(np.linalg.norm(step)) / max(float(np.linalg.norm(bend)), 1e-12)))
    shape, mean = np.exp(before + 2.0 * stride * step + stride**2 * bend).tolist()
    return Prior(min(max(shape, 0.01), 100.0), mean)


def _first_guess(known: Histories) -> Prior:
    """Half a change more than was seen; where none was, in a week more: seconds without one say next to nothing."""
    seen, time = float((known.changed > 0).sum()), float(known.lengths.sum())
    return Prior(0.5, (seen + 0.5) / (time if seen else time + WEEK))


def _gamma_shape(gap: float) -> float:
    """The a with log a − ψ(a) = ``gap``, within 0.01 and 100 (Minka, Estimating a Gamma distribution, 2002)."""
    gap = max(gap, 1e-3)
    shape = (3.0 - gap + np.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
    for _ in range(5):
        score = np.log(shape) - digamma(shape) - gap
        shape = 1.0 / (1.0 / shape + score / (shape**2 * (1.0 / shape - polygamma(1, shape))))
    return float(np.clip(shape, 0.01, 100.0))
