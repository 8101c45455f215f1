"""The paper's maximum likelihood estimator for a page whose every change is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.errors import UsageError
from sharc_crawler.rates.estimators.base import Estimates, Estimator, Sums, information, point

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
