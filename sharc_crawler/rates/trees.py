"""Boosted regression trees for rates, on binned features, grown best-first, optionally monotone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVELS = 64  #: maximum of levels of a feature
LEAVES = 8
LEAST = 100  #: minimum of rows in a leaf
RIDGE = 20.0
SEEN = 2.0**26  #: added to a count of rows per change, so that both are counted at once


class RateTree(NamedTuple):
    """A tree's splits and its leaves' values; leaf 0 is the root before the first split."""

    splits: list[tuple[int, int, int]]  #: leaf, feature, level: rows of the leaf above the level go to a new leaf
    values: NDArray[np.float64]

    def leaves(self, levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the leaf of each row; ``levels`` has the shape (features, rows)."""
        at = np.zeros(levels.shape[1], np.uint8)
        for new, (leaf, feature, level) in enumerate(self.splits, 1):
            np.copyto(at, np.uint8(new), where=(at == leaf) & (levels[feature] > level))
        return at


@dataclass(slots=True)
class _Leaf:
    rows: NDArray[np.int64]
    sums: NDArray[np.float64]  #: by feature and level: changes expected, changes seen, rows
    low: float = -np.inf
    high: float = np.inf

    def value(self) -> float:
        """Return what a Newton step adds to the log rate, within the bounds of monotonicity."""
        return float(_value(self.sums[:, :1].sum(2), self.low, self.high)[0])

    def halves(self, feature: int, level: int) -> tuple[float, float]:
        """Return the values of both sides of a split."""
        below, above = self.sums[:, feature, : level + 1].sum(1), self.sums[:, feature, level + 1 :].sum(1)
        return float(_value(below, self.low, self.high)), float(_value(above, self.low, self.high))


def _best(leaves: list[_Leaf], directions: NDArray[np.float64]) -> list[tuple[float, int, int]]:
    """Return each leaf's best split: the decrease of the loss, the feature, the level."""
    low, high = np.array([(leaf.low, leaf.high) for leaf in leaves]).T[:, :, None, None]
    left = np.cumsum(np.stack([leaf.sums for leaf in leaves], axis=1), axis=3)
    total = left[:, :, :1, -1:]
    left = left[:, :, :, :-1]
    right = total - left
    below, above = _value(left, low, high), _value(right, low, high)
    gain = _falls(left, below) + _falls(right, above) - _falls(total, _value(total, low, high))
    few = np.minimum(left[2], right[2]) < LEAST
    gain[few | (directions[:, None] * (above - below) < 0.0)] = 0.0
    flat = gain.reshape(len(leaves), -1)
    places = flat.argmax(axis=1).tolist()
    return [(float(row[at]), *divmod(at, gain.shape[2])) for row, at in zip(flat, places, strict=True)]


def _value(sums: NDArray[np.float64], low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
    expected, seen, _ = sums
    return np.asarray(np.minimum(np.maximum((seen - expected) / (expected + RIDGE), low), high))


def _falls(sums: NDArray[np.float64], value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the decrease of the loss by a step, to first order."""
    return np.asarray((sums[1] - sums[0]) * value)


class Grower:
    """Grows one tree after the other on the same rows, each on the residuals of the former ones.

    Parameters
    ----------
    levels: of each feature, shape (features, rows)
    seen: did the row have a change?
    directions: per feature 1 (increasing), -1 (decreasing) or 0
    expected: expected changes of each row at the start; modified in place
    step: the learning rate

    """

    def __init__(
        self,
        levels: NDArray[np.uint8],
        seen: NDArray[np.bool_],
        directions: Sequence[int],
        expected: NDArray[np.float64],
        step: float,
    ) -> None:
        self._levels, self._expected, self._step = levels, expected, step
        self._directions = np.array(directions, np.float64)
        # Count two features at a time: half as many passes over the rows.
        wide = levels.astype(np.int64)
        self._pairs = [
            wide[row] * LEVELS + (wide[row + 1] if row + 1 < len(wide) else 0) for row in range(0, len(wide), 2)
        ]
        self._counts = np.where(seen, SEEN + 1.0, 1.0)
        self._all = np.arange(levels.shape[1])
        self._root = self._sums(self._pairs, expected, self._counts)

    def grow(self) -> tuple[RateTree, list[NDArray[np.int64]]]:
        """Grow the tree that lowers the Poisson loss most; return it and its leaves' rows."""
        leaves = [_Leaf(self._all, self._root)]
        best = _best(leaves, self._directions)
        splits = []
        while len(leaves) < LEAVES:
            at = max(range(len(best)), key=lambda leaf: best[leaf][0])
            gain, feature, level = best[at]
            if gain <= 0.0:
                break
            splits.append((at, feature, level))
            leaves[at], new = sides = self._split(leaves[at], feature, level)
            leaves.append(new)
            if len(leaves) < LEAVES:
                best[at], beside = _best(sides, self._directions)
                best.append(beside)
        tree = RateTree(splits, np.array([leaf.value() for leaf in leaves]))
        grown = np.zeros_like(self._root[0])
        for leaf, factor in zip(leaves, np.exp(self._step * tree.values), strict=True):
            self._expected[leaf.rows] *= factor
            grown += factor * leaf.sums[0]
        self._root = np.stack([grown, *self._root[1:]])  # no new count: a leaf's rows share one factor
        return tree, [leaf.rows for leaf in leaves]

    def _split(self, leaf: _Leaf, feature: int, level: int) -> list[_Leaf]:
        """Split a leaf; the smaller side is counted, the other is the difference."""
        beyond = np.take(self._levels[feature], leaf.rows) > level
        sides = leaf.rows[~beyond], leaf.rows[beyond]
        small = int(len(sides[1]) < len(sides[0]))
        rows = sides[small]
        pairs = [np.take(pair, rows) for pair in self._pairs]
        counted = self._sums(pairs, np.take(self._expected, rows), np.take(self._counts, rows))
        sums = [leaf.sums - counted, leaf.sums - counted]
        sums[small] = counted
        below, above = (_Leaf(rows, own, leaf.low, leaf.high) for rows, own in zip(sides, sums, strict=True))
        if direction := self._directions[feature]:
            middle = sum(leaf.halves(feature, level)) / 2.0
            if direction > 0:
                below.high = above.low = middle
            else:
                below.low = above.high = middle
        return [below, above]

    def _sums(
        self, pairs: list[NDArray[np.int64]], expected: NDArray[np.float64], counts: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return, for some rows, by feature and level: changes expected, changes seen, rows."""
        seen, rows = np.divmod(self._counted(pairs, counts), SEEN)
        return np.stack([self._counted(pairs, expected), seen, rows])

    def _counted(self, pairs: list[NDArray[np.int64]], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of a value by feature and level."""
        both = np.array([np.bincount(pair, values, LEVELS * LEVELS) for pair in pairs])
        both = both.reshape(-1, LEVELS, LEVELS)
        return np.stack([both.sum(2), both.sum(1)], axis=1).reshape(-1, LEVELS)[: len(self._levels)]


MOST = 0.999  #: maximum probability of a change within a mean interval
ROUNDS = 80
LEARNING_RATE = 0.06


class Boosted:
    """Shallow trees whose sum is the log frequency of intervals with a change (Poisson loss).

    Features are binned into :data:`LEVELS` equally frequent levels.

    Parameters
    ----------
    directions:
        per feature 1 (more of it never means fewer changes), -1 (never more), or 0

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
        """Fit to rows, one per interval, as in :class:`~sharc_crawler.rates.regression.LogLinear`."""
        varied = features.min(0) < features.max(0)
        varied[0] |= not varied.any()
        self.varied_ = np.flatnonzero(varied)  # constant features split nothing
        self.edges_ = _quantiles(features[:, self.varied_])
        self.length_ = float(lengths.mean())
        weights, seen = lengths / self.length_, changed > 0
        self.start_ = float(np.log(np.count_nonzero(seen) / weights.sum()))
        expected = weights * np.exp(self.start_)
        directions = [self.directions[feature] for feature in self.varied_.tolist()]
        grower = Grower(self._levels(features), seen, directions, expected, LEARNING_RATE)
        self.trees_ = [grower.grow()[0] for _ in range(ROUNDS)]
        self.fitted_ = self._rates(expected / weights)  # `expected` includes all trees
        return self

    def rate(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rate of every row, per unit of the fitted lengths."""
        levels = self._levels(features)
        logs = np.full(len(features), self.start_)
        for tree in self.trees_:
            logs += LEARNING_RATE * tree.values[tree.leaves(levels)]
        return self._rates(np.exp(logs))

    def _rates(self, often: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(-np.log1p(-np.clip(often, 1e-9, MOST)) / self.length_)

    def _levels(self, features: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Return the level of each varying feature, feature by feature."""
        levels = np.empty((len(self.varied_), len(features)), np.uint8)
        for own, edges, feature in zip(levels, self.edges_.T, self.varied_.tolist(), strict=True):
            own[:] = np.searchsorted(edges, features[:, feature])
        return levels


def _quantiles(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the edges between levels of each feature: like np.quantile, but faster."""
    columns = np.sort(features, axis=0)
    place = np.linspace(0.0, 1.0, LEVELS + 1)[1:-1] * (len(columns) - 1)
    low = place.astype(np.int64)
    below, above = columns[low], columns[np.minimum(low + 1, len(columns) - 1)]
    return np.asarray(below + (above - below) * (place - low)[:, None])
