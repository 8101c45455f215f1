"""Estimators of change rates that captures do not use: what ours are measured beside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from sharc_crawler.errors import UsageError
from sharc_crawler.rates.estimators.base import Estimates, Estimator, Sums, information, point
from sharc_crawler.rates.estimators.irregular import bias_reduced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Instant, Seconds
    from sharc_crawler.rates.history import Histories


class FullKnowledge(Estimator):
    """λ̂ = (1/n) Σ x_i changes per τ: n intervals of one length τ, so short that each holds one change or none.

    Raises :class:`~sharc_crawler.errors.UsageError` where the intervals differ in length.

    Examples
    --------
    >>> from sharc_crawler.rates.history import Histories
    >>> FullKnowledge().estimate(Histories.of([[2.0, 2.0, 2.0, 2.0]], [[0, 1, 0, 0]])).rate.tolist()
    [0.125]

    References
    ----------
    Denev et al., The SHARC framework for data quality in Web archiving, VLDB Journal 2011, section 8.

    """

    def block(self, histories: Histories, classes: NDArray[np.int64]) -> Estimates:  # noqa: ARG002
        """The estimates of some pages, changes per unit of τ."""
        tau = histories.lengths[:1]
        if len(tau) and not np.allclose(histories.lengths, tau, rtol=1e-9):
            raise UsageError("full-knowledge: intervals of one length are needed; use the irregular-interval estimator")
        sums = Sums.of(histories)
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = sums.changed / sums.count / tau if len(tau) else np.zeros(len(histories))
            precision = information(histories.known(), rate)
        return point(rate, precision, sums.time, sums.observations)


class PerTime(Estimator):
    """λ̂ = X/T: intervals in which a change was seen, over the time observed. Too low for hot pages.

    Examples
    --------
    >>> from sharc_crawler.rates.history import Histories
    >>> PerTime().estimate(Histories.of([[1.0, 3.0]], [[0, 1]])).rate.tolist()
    [0.25]

    References
    ----------
    Jayawardana et al., Modeling updates of scholarly webpages using archived data, 2020, equation 3.

    """

    def block(self, histories: Histories, classes: NDArray[np.int64]) -> Estimates:  # noqa: ARG002
        """The estimates of some pages."""
        sums = Sums.of(histories)
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = sums.changed / sums.time
            return point(rate, information(histories.known(), rate), sums.time, sums.observations)


class BiasReduced(Estimator):
    """λ̂ = −f ln((X̄ + ½)/(n + ½)): X̄ of n accesses at frequency f saw no change. Finite where all saw one.

    Examples
    --------
    >>> from sharc_crawler.rates.history import Histories
    >>> BiasReduced().estimate(Histories.of([[1.0, 1.0]], [[1, 1]])).rate.round(3).tolist()
    [1.609]

    References
    ----------
    Cho and Garcia-Molina, Estimating frequency of change, ACM Transactions on Internet Technology 2003.

    """

    def block(self, histories: Histories, classes: NDArray[np.int64]) -> Estimates:  # noqa: ARG002
        """The estimates of some pages."""
        sums = Sums.of(histories)
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = bias_reduced(sums)
            return point(rate, information(histories.known(), rate), sums.time, sums.observations)


class Recency(Estimator):
    """Another estimator on intervals whose weight halves with every ``half_life`` before ``now``.

    Changes come in bursts: what a page did lately says more than what it did a year ago.

    Examples
    --------
    >>> from sharc_crawler.rates.history import Histories
    >>> lately = Histories.of([[1.0, 1.0], [1.0, 1.0]], [[0, 1], [1, 0]])
    >>> Recency(PerTime(), half_life=1.0, now=0.0).estimate(lately).rate.round(3).tolist()
    [0.667, 0.333]

    """

    def __init__(self, estimator: Estimator, half_life: Seconds, now: Instant) -> None:
        if not half_life > 0:
            raise UsageError(f"half_life={half_life!r} is not a positive time")
        self.estimator, self.half_life, self.now = estimator, half_life, now

    def fit(self, histories: Histories, classes: NDArray[np.int64] | None = None) -> Self:
        """Fit the other estimator to the discounted intervals."""
        if type(self.estimator).fit is not Estimator.fit:  # else there is nothing to learn
            self.estimator.fit(histories.discounted(self.now, self.half_life), classes)
        return self

    def block(self, histories: Histories, classes: NDArray[np.int64]) -> Estimates:
        """The estimates of some pages."""
        return self.estimator.block(histories.discounted(self.now, self.half_life), classes)
