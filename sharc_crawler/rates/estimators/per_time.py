"""Changes seen per time observed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.rates.estimators.base import Estimates, Estimator, Sums, information, point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.rates.history import Histories


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
