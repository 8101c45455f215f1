"""Rates by gradient-boosted trees: what a log-linear model cannot say, that one feature counts where another is low."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST = 0.999  #: probability of a change within a mean interval, at most
ROUNDS = 80
LEARNING_RATE = 0.06
LEAVES = 8
LEAST = 100  #: intervals in a leaf
RIDGE = 20.0
LEVELS = 64  #: of each feature that trees can tell apart, equally frequent


class Boosted:
    """Shallow trees that add up to the logarithm of how often intervals show a change (Poisson loss), by features.

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
        # Imported here: half a second that only a long history needs. One thread: others wait for busy cores.
        from sklearn.ensemble import HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits

        self.edges_ = np.quantile(features, np.linspace(0.0, 1.0, LEVELS + 1)[1:-1], axis=0)  # the library's are slow
        self.length_ = float(lengths.mean())
        weights = lengths / self.length_
        trees = HistGradientBoostingRegressor(
            loss="poisson",
            learning_rate=LEARNING_RATE,
            max_iter=ROUNDS,
            max_leaf_nodes=LEAVES,
            min_samples_leaf=LEAST,
            l2_regularization=RIDGE,
            monotonic_cst=list(self.directions),
            early_stopping=False,
            random_state=0,
        )
        with threadpool_limits(1):
            self.trees_ = trees.fit(self._levels(features), (changed > 0) / weights, weights)
        return self

    def rate(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rate of every row, per unit of the lengths that were fitted."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            share = np.clip(self.trees_.predict(self._levels(features)), 1e-9, MOST)
        return np.asarray(-np.log1p(-share) / self.length_)

    def _levels(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Every feature as the number of its level."""
        columns = zip(self.edges_.T, features.T, strict=True)
        return np.stack([np.searchsorted(edges, column) for edges, column in columns], axis=1).astype(np.float64)
