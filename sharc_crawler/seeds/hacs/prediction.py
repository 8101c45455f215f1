"""f: captures → (λ, τ), and g: (λ, τ, e) → p, the two halves of the prediction (section II-E)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.rates.estimators.irregular import IrregularMle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Instant, Seconds
    from sharc_crawler.rates.estimators.base import Estimates
    from sharc_crawler.seeds.hacs.histories import UpdateHistories


@dataclass(frozen=True, slots=True)
class Fit:
    """For each page, how often it is updated, and when it last was."""

    rate: NDArray[np.float64]  #: λ, updates per second; NaN: unknown, there is no interval between captures
    last_update: NDArray[np.float64]  #: τ; NaN: no update was seen


def f(pages: UpdateHistories, *, interpolated: bool = True) -> Fit:
    """λ and τ of all pages, in one solve of equation 5 (equation 4 where every capture shows an update).

    >>> from sharc_crawler.seeds.hacs.histories import UpdateHistories
    >>> fit = f(UpdateHistories.of(["a", "b"], [[0.0, 4.0, 6.0], [1.0]], [[-1, 1, 0], [-1]]))
    >>> fit.rate.round(4).tolist(), fit.last_update.tolist()
    ([0.2027, nan], [2.0, nan])
    """
    estimates = IrregularMle().estimate(pages.intervals(interpolated=interpolated))
    return Fit(estimates.rate, pages.last_update(interpolated=interpolated))


def g(rate: NDArray[np.float64], last_update: NDArray[np.float64], until: Instant) -> NDArray[np.float64]:
    """The probability p = 1 − exp(−λ (t + e − τ)) of an update by ``until`` = t + e since the last one; 0 for λ = 0.

    >>> g(np.array([0.1, 0.0]), np.array([5.0, np.nan]), 15.0).round(4).tolist()
    [0.6321, 0.0]
    """
    return np.where(rate > 0, -np.expm1(-rate * np.nan_to_num(until - last_update)), 0.0)


def hazard(estimates: Estimates, duration: NDArray[np.float64] | Seconds) -> NDArray[np.float64]:
    """The hazard −ln(1 − p) of the probability of an update within ``duration``, see :func:`predictive`."""
    with np.errstate(invalid="ignore"):  # an infinite shape is a point estimate
        spread = estimates.shape * np.log1p(estimates.rate * duration / estimates.shape)
    return np.where(np.isinf(estimates.shape), estimates.rate * duration, spread)


def predictive(estimates: Estimates, duration: NDArray[np.float64] | Seconds) -> NDArray[np.float64]:
    """The probability of an update within ``duration``, over all rates that the Gamma posteriors leave possible.

    1 − E[e^{−λd}] = 1 − (1 + d·mean/shape)^(−shape). NaN where nothing is known.
    """
    return -np.expm1(-hazard(estimates, duration))
