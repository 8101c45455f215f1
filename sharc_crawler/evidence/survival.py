"""The probability that a page stays unchanged for some time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.evidence.blur import check_measured


def log_survival(
    rates: NDArray[np.float64], intervals: NDArray[np.float64], shapes: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the log probability of no change within an interval, element by element (broadcast).

    A Poisson process of known rate λ gives e^{-λI}. If the rate has a Gamma posterior with mean λ and shape a, the
    posterior predictive is (b/(b+I))^a = (1 + λI/a)^-a, which is larger.

    Parameters
    ----------
    rates: changes per second
    intervals: seconds
    shapes: of Gamma posteriors; inf, or None for all: the rate is known

    >>> np.exp(log_survival(np.array([0.1]), np.array([10.0]), np.array([1.0])))
    array([0.5])

    """
    expected = _expected(rates, intervals)
    if shapes is None:
        return -expected
    known = np.isinf(shapes)
    if known.all():
        return -expected
    shapes = np.where(known, 1.0, shapes)
    return np.where(known, -expected, -shapes * np.log1p(expected / shapes))


def log_survival_of_either_side(
    rates: NDArray[np.float64], intervals: NDArray[np.float64], shapes: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the log probability of no change in the first, or none in the second, half of an interval.

    That is enough for a page visited on both sides of T if its lastmod is trusted: s(I/2) + s(I/2) - s(I).

    >>> np.exp(log_survival_of_either_side(np.array([np.log(2)]), np.array([2.0])))
    array([0.75])
    """
    half = log_survival(rates, intervals / 2, shapes)
    both = log_survival(rates, intervals, shapes)
    longer = np.subtract(both, half, out=np.zeros_like(both), where=half > -np.inf)
    either: NDArray[np.float64] = half + np.log(2 - np.exp(longer))
    return either


def _expected(rates: NDArray[np.float64], intervals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the expected changes within an interval; 0 · inf is 0."""
    if np.isfinite(rates).all() and np.isfinite(intervals).all():
        return rates * intervals
    none = (rates == 0.0) | (intervals == 0.0)
    expected: NDArray[np.float64] = np.multiply(rates, intervals, out=np.zeros(none.shape), where=~none)
    return expected


# -- expected coherence ------------------------------------------------------------------------------------------------


def expected_coherence(
    rates: NDArray[np.float64],
    intervals: NDArray[np.float64],
    shapes: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Return the expected number (or weight) of coherent pages, Σ w e^{-λI} (Definition 5 of the paper).

    Parameters
    ----------
    rates: changes per second
    intervals: seconds from visit to revisit; nan: never revisited
    shapes: of the rates' Gamma posteriors, see :func:`log_survival`
    weights: of the pages; None: 1

    >>> rates = np.array([0.40, 0.35, 0.30, 0.25, 0.20])  # Example 9
    >>> round(expected_coherence(rates, np.array([0.0, 2.0, 4.0, 6.0, 8.0])), 4)
    2.2228

    """
    check_measured(len(intervals), rates, weights)
    survival = np.exp(log_survival(rates, intervals, shapes))
    return float(np.nansum(survival if weights is None else survival * weights))
