"""Maximum likelihood for accesses at irregular intervals, for all pages at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.rates.estimators.base import Estimates, Estimator, Sums, information, point
from sharc_crawler.rates.estimators.likelihood import Likelihood
from sharc_crawler.rates.history import Histories


class IrregularMle(Estimator):
    """Solves Σ_c t_c/(e^{λ t_c} − 1) = Σ_u t_u for λ, over changed intervals c and unchanged ones u.

    A *dated* interval (the instant of the last change is known) adds 1/λ − t to the left side. Without a change λ is 0.
    If all intervals changed, the likelihood has no maximum, and the bias-reduced estimate is used.

    Examples
    --------
    >>> from sharc_crawler.rates.history import Histories
    >>> IrregularMle().estimate(Histories.of([[1.0, 3.0, 2.0], [1.0]], [[0, 1, 0], [0]])).rate.round(4).tolist()
    [0.231, 0.0]

    References
    ----------
    Jayawardana et al., Modeling updates of scholarly webpages using archived data, 2020, equation 5.

    """

    def block(self, histories: Histories, classes: NDArray[np.int64]) -> Estimates:  # noqa: ARG002
        """Return the estimates of some pages."""
        known = histories.known()
        likelihood = Likelihood.of(known)
        rate, fall = likelihood.mode()
        precision = fall / rate
        if len(always := np.flatnonzero(np.isinf(rate))):
            some = known.select(always)
            rate[always] = bias_reduced(Sums.of(some))
            precision[always] = information(some, rate[always])
        return point(rate, precision, likelihood.scale, known.observations())  # rate 0: all time is without a change


def bias_reduced(sums: Sums) -> NDArray[np.float64]:
    """Return −f ln((X̄ + ½)/(n + ½)): X̄ of n accesses at frequency f saw no change. Finite even if all saw one."""
    ratio = -np.log((sums.count - sums.changed + 0.5) / (sums.count + 0.5))
    return np.maximum(ratio, 0.0) * sums.count / sums.time
