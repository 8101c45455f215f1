"""Recent intervals count more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from sharc_crawler.errors import UsageError
from sharc_crawler.rates.estimators.base import Estimates, Estimator

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sharc_crawler.model import Instant, Seconds
    from sharc_crawler.rates.history import Histories


class Recency(Estimator):
    """Another estimator on intervals whose weight halves with every ``half_life`` before ``now``.

    Changes come in bursts: what a page did lately says more than what it did a year ago.

    Examples
    --------
    >>> from sharc_crawler.rates.estimators.per_time import PerTime
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
