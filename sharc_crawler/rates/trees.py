"""Regression trees over features in levels, grown leaf by leaf where the loss falls most; monotone where asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVELS = 64  #: of each feature, at most
LEAVES = 8
LEAST = 100  #: rows in a leaf
RIDGE = 20.0
SEEN = 2.0**26  #: what a row with a change adds to a count of rows, so that both are counted at once


class RateTree(NamedTuple):
    """Where rows go, and what is said of each leaf; leaf 0 is all there is before the first split."""

    splits: list[tuple[int, int, int]]  #: a leaf, a feature, a level: rows of the leaf beyond it go on to a new leaf
    values: NDArray[np.float64]

    def leaves(self, levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The leaf of each row; ``levels`` has the shape (features, rows)."""
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
        """What a Newton step adds to the logarithm of the rate, within the bounds that monotony leaves."""
        return float(_value(self.sums[:, :1].sum(2), self.low, self.high)[0])

    def halves(self, feature: int, level: int) -> tuple[float, float]:
        """The same of both sides of a split."""
        below, above = self.sums[:, feature, : level + 1].sum(1), self.sums[:, feature, level + 1 :].sum(1)
        return float(_value(below, self.low, self.high)), float(_value(above, self.low, self.high))


def _best(leaves: list[_Leaf], directions: NDArray[np.float64]) -> list[tuple[float, int, int]]:
    """By how much the loss falls where each leaf is split best, by which feature, after which level."""
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
    return [(float(one[at]), *divmod(at, gain.shape[2])) for one, at in zip(flat, places, strict=True)]


def _value(sums: NDArray[np.float64], low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
    expected, seen, _ = sums
    return np.asarray(np.minimum(np.maximum((seen - expected) / (expected + RIDGE), low), high))


def _falls(sums: NDArray[np.float64], value: NDArray[np.float64]) -> NDArray[np.float64]:
    """By how much the loss falls with a step, to first order."""
    return np.asarray((sums[1] - sums[0]) * value)


class Grower:
    """Grows one tree after the other on the same rows, each on what those before have left.

    Parameters
    ----------
    levels: of each feature, shape (features, rows)
    seen: whether a change was
    directions: per feature 1, where more of it never means more for a row, -1, never less, or 0
    expected: changes of each row, at first; it is written to
    step: the share of what a tree says that is believed

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
        # Two features are counted in one go: half as many walks over the rows.
        wide = levels.astype(np.int64)
        self._pairs = [
            wide[one] * LEVELS + (wide[one + 1] if one + 1 < len(wide) else 0) for one in range(0, len(wide), 2)
        ]
        self._counts = np.where(seen, SEEN + 1.0, 1.0)
        self._all = np.arange(levels.shape[1])
        self._root = self._sums(self._pairs, expected, self._counts)

    def grow(self) -> tuple[RateTree, list[NDArray[np.int64]]]:
        """The tree that lowers the Poisson loss most, and its leaves' rows."""
        leaves = [_Leaf(self._all, self._root)]
        best = _best(leaves, self._directions)
        splits = []
        while len(leaves) < LEAVES:
            at = max(range(len(best)), key=lambda one: best[one][0])
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
        self._root = np.stack([grown, *self._root[1:]])  # what is expected of a leaf's rows grows alike: no new count
        return tree, [leaf.rows for leaf in leaves]

    def _split(self, leaf: _Leaf, feature: int, level: int) -> list[_Leaf]:
        """Both sides; the smaller one is counted, the other is what is left."""
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
        """Of some rows, by feature and level: changes expected, changes seen, rows."""
        seen, rows = np.divmod(self._counted(pairs, counts), SEEN)
        return np.stack([self._counted(pairs, expected), seen, rows])

    def _counted(self, pairs: list[NDArray[np.int64]], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sums of a value by feature and level."""
        both = np.array([np.bincount(pair, values, LEVELS * LEVELS) for pair in pairs])
        both = both.reshape(-1, LEVELS, LEVELS)
        return np.stack([both.sum(2), both.sum(1)], axis=1).reshape(-1, LEVELS)[: len(self._levels)]


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
