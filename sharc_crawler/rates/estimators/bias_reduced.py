"""Cho and Garcia-Molina's estimator for regular access."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.rates.estimators.base import Estimates, Estimator, Sums, information, point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.rates.history import Histories


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


def bias_reduced(sums: Sums) -> NDArray[np.float64]:
    """The estimate from the sums alone."""
    ratio = -np.log((sums.count - sums.changed + 0.5) / (sums.count + 0.5))
    return np.maximum(ratio, 0.0) * sums.count / sums.time
