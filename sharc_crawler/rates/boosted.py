"""Rates by gradient-boosted trees: what a log-linear model cannot say, that one feature counts where another is low."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from sharc_crawler.rates.trees import LEVELS, Grower

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST = 0.999  #: probability of a change within a mean interval, at most
ROUNDS = 80
LEARNING_RATE = 0.06


class Boosted:
    """Shallow trees that add up to the logarithm of how often intervals show a change (Poisson loss), by features.

    Features are told apart by :data:`~sharc_crawler.rates.trees.LEVELS`, equally frequent.

    Parameters
    ----------
    directions:
        per feature 1, where more of it never means fewer changes, -1, where it never means more, or 0

    Examples
    --------
    >>> x = np.repeat([[0.0], [1.0]], 500, axis=0)
    >>> bits = (np.arange(1000) % 10 < np.where(x[:, 0] > 0, 6, 1)).astype(np.int8)
    >>> rate = Boosted([1]).fit(x, bits, np.ones(1000)).rate(np.array([[0.0], [1.0]]))
    >>> bool(rate[0] < 0.2), bool(0.6 < rate[1] < 0.92)  # 0.105 and 0.916, drawn to each other
    (True, True)

    """

    def __init__(self, directions: Sequence[int]) -> None:
        self.directions = directions

    def fit(self, features: NDArray[np.float64], changed: NDArray[np.int8], lengths: NDArray[np.float64]) -> Self:
        """One row per interval, as in :class:`~sharc_crawler.rates.regression.LogLinear`."""
        varied = features.min(0) < features.max(0)
        varied[0] |= not varied.any()
        self.told_ = np.flatnonzero(varied)  # what is the same everywhere splits nothing
        self.edges_ = _quantiles(features[:, self.told_])
        self.length_ = float(lengths.mean())
        weights, seen = lengths / self.length_, changed > 0
        self.start_ = float(np.log(np.count_nonzero(seen) / weights.sum()))
        expected = weights * np.exp(self.start_)
        directions = [self.directions[feature] for feature in self.told_.tolist()]
        grower = Grower(self._levels(features), seen, directions, expected, LEARNING_RATE)
        self.trees_ = [grower.grow()[0] for _ in range(ROUNDS)]
        self.fitted_ = self._told(expected / weights)  # the trees' words have gone into what is expected
        return self

    def rate(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rate of every row, per unit of the lengths that were fitted."""
        levels = self._levels(features)
        logs = np.full(len(features), self.start_)
        for tree in self.trees_:
            logs += LEARNING_RATE * tree.values[tree.leaves(levels)]
        return self._told(np.exp(logs))

    def _told(self, often: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(-np.log1p(-np.clip(often, 1e-9, MOST)) / self.length_)

    def _levels(self, features: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Every feature that tells rows apart as the number of its level, feature by feature."""
        levels = np.empty((len(self.told_), len(features)), np.uint8)
        for own, edges, feature in zip(levels, self.edges_.T, self.told_.tolist(), strict=True):
            own[:] = np.searchsorted(edges, features[:, feature])
        return levels


def _quantiles(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where one level of each feature ends and the next begins: what NumPy's own search finds, by a faster sort."""
    columns = np.sort(features, axis=0)
    place = np.linspace(0.0, 1.0, LEVELS + 1)[1:-1] * (len(columns) - 1)
    low = place.astype(np.int64)
    below, above = columns[low], columns[np.minimum(low + 1, len(columns) - 1)]
    return np.asarray(below + (above - below) * (place - low)[:, None])
