"""Blur: the expected number of changes between a copy and a random instant of the observation interval.

A page captured at t stands for the page at every instant of [o_s, o_e]; one visited twice, by its nearer download. All
functions return the blur of each page; a capture's blur is their sum, its average blur their mean. A revisit of nan was
not made. Negative or infinite rates and weights, and empty intervals, raise UsageError.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sharc_crawler.errors import UsageError
from sharc_crawler.evidence.checks import check_values
from sharc_crawler.model import Instant

Interval = tuple[Instant, Instant]


def penalty(
    visits: NDArray[np.float64], observation: Interval, revisits: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Integrate the distance to the nearest download over the observation interval (eqs. 2 and 19; seconds squared).

    For one download within the interval this is ω(t) = t² - t(o_s+o_e) + (o_s²+o_e²)/2.

    >>> penalty(np.array([0.0, 1.0]), (0.0, 5.0))
    array([12.5,  8.5])
    >>> 2 * penalty(np.array([1.0]), (0.0, 11.0), np.array([7.0]))  # Example 7: 35/2
    array([35.])
    """
    start, end = check_interval(observation)
    first, last = first_and_last(visits, revisits)
    middle = np.clip((first + last) / 2, start, end)
    return _distance(first, start, middle) + _distance(last, middle, end)


def stochastic_blur(
    rates: NDArray[np.float64],
    visits: NDArray[np.float64],
    observation: Interval,
    revisits: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the expected blur of each page (Definitions 1 and 3), times its weight.

    >>> rates = np.arange(6.0)  # Example 1
    >>> round(float(stochastic_blur(rates, np.arange(6.0), (0.0, 5.0)).sum()), 9)
    27.5
    """
    check_measured(len(visits), rates, weights)
    blur = rates * penalty(visits, observation, revisits) / (observation[1] - observation[0])
    return blur if weights is None else blur * weights


def blur_variance(
    rates: NDArray[np.float64],
    visits: NDArray[np.float64],
    observation: Interval,
    revisits: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the variance of each page's actual blur under Poisson changes; downloads lie in the interval.

    Blur is a sum over changes, so its variance is the rate times the integral of the squared summand (Campbell).

    >>> blur_variance(np.array([3.0]), np.array([1.0]), (0.0, 2.0))  # 3 · (1/3 + 1/3) / 2²
    array([0.5])
    """
    start, end = check_interval(observation)
    first, last = first_and_last(visits, revisits)
    middle = (first + last) / 2
    pieces = (first - start, middle - first, last - middle, end - last)
    variance: NDArray[np.float64] = rates * sum(piece**3 for piece in pieces) / 3 / (end - start) ** 2
    return variance


def check_measured(pages: int, rates: NDArray[np.float64] | None, weights: NDArray[np.float64] | None) -> None:
    """Check the rates and weights of pages 0, 1, ...; None: not given.

    >>> check_measured(2, np.array([0.1, -1.0]), None)
    Traceback (most recent call last):
    sharc_crawler.errors.UsageError: the rate of page 1 is -1.0; it must be a finite number >= 0
    """
    for what, values in (("rate", rates), ("weight", weights)):
        if values is not None:
            check_values(np.arange(pages), what, values)


def check_interval(observation: Interval) -> Interval:
    """Return the interval; raise :class:`UsageError` if it is empty."""
    if not observation[0] < observation[1]:
        raise UsageError(f"observation={observation} must be an interval [start, end], start < end")
    return observation


def first_and_last(
    visits: NDArray[np.float64], revisits: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the earlier and the later download of each page; the same if there is only one."""
    if revisits is None:
        return visits, visits
    return np.fmin(visits, revisits), np.fmax(visits, revisits)


def _distance(points: NDArray[np.float64], start: ArrayLike, end: ArrayLike) -> NDArray[np.float64]:
    """Integrate |t - point| over [start, end]."""
    before, after = np.subtract(start, points), np.subtract(end, points)
    integral: NDArray[np.float64] = (after * np.abs(after) - before * np.abs(before)) / 2
    return integral
