"""The shortest range with 80 % of a rate's Gamma posterior."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv, xlogy

Column = NDArray[np.float64]

WITHIN = 0.8  #: probability of the range
POINT = 1e6  #: shape from which on the posterior is a point
SHAPES = np.geomspace(1.0, POINT, 97)  #: shapes between which the share below the range is interpolated
STEPS = 40  #: of the bisection


def shortest(rates: ArrayLike, shapes: ArrayLike) -> tuple[Column, Column]:
    """Return the lower and upper ends of the ranges.

    A central range never begins at 0. So it misses all pages that never change, and its coverage of pages seen once or
    twice depends on how similar all pages are, which so few accesses cannot show. Up to shape 1 the shortest begins at
    0.

    >>> low, high = shortest([1.0, 1.0], [0.5, 50.0])
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.0, 0.81], [1.64, 1.17])

    """
    rates, shapes = np.broadcast_arrays(np.asarray(rates, np.float64), np.asarray(shapes, np.float64))
    finite = np.minimum(shapes, POINT)
    below = np.interp(np.log(finite), np.log(SHAPES), _left_out())
    low, high = (gammaincinv(finite, share) / finite for share in (below, below + WITHIN))
    return rates * np.where(shapes < POINT, low, 1.0), rates * np.where(shapes < POINT, high, 1.0)


def _left_out() -> Column:
    """Return the share below the shortest range, by shape: the density is equal at both its ends."""
    low, high = np.zeros(len(SHAPES)), np.full(len(SHAPES), 1.0 - WITHIN)
    for _ in range(STEPS):
        share = (low + high) / 2
        first, last = gammaincinv(SHAPES, share), gammaincinv(SHAPES, share + WITHIN)
        rising = xlogy(SHAPES - 1, first) - first < xlogy(SHAPES - 1, last) - last
        low, high = np.where(rising, share, low), np.where(rising, high, share)
    return low
