"""The paper's measures: precision, recall and F1 over θ, and weighted P@K (section III)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant

#: thresholds at which selections are compared
THETAS = np.linspace(0.0, 1.0, 201)
AGAIN = 1000  #: bootstrap draws of the reference points
TOGETHER = 4  #: length of the blocks of points that are drawn: updates of consecutive weeks depend on each other


def likely_best(p: NDArray[np.float64]) -> float:
    """The threshold with the greatest expected F1, if the probabilities are right; 1 if there are no seeds.

    Of k chosen seeds Σ_k p are expected to have changed, and Σ p of all: F1 is about 2 Σ_k p / (k + Σ p).

    >>> likely_best(np.array([0.9, 0.5, 0.1, 0.1]))
    0.5
    """
    if not len(p):
        return 1.0
    falling = np.sort(p)[::-1]
    found = np.cumsum(falling)
    expected = found / (np.arange(1, len(p) + 1) + found[-1])
    return float(falling[expected.argmax()])


class Chosen(NamedTuple):
    """Counts of the seeds chosen at one reference point t."""

    chosen: int
    hits: int  #: of these, updated in [t, t + e]
    updated: int  #: of all seeds with captures in the window

    @classmethod
    def of(cls, chosen: NDArray[np.bool_], updated: NDArray[np.bool_]) -> Chosen:
        """Count them."""
        return cls(int(chosen.sum()), int((chosen & updated).sum()), int(updated.sum()))


def micro_f1(points: Sequence[Chosen]) -> float:
    """F1 of counts added over t; 0 where nothing is chosen or updated.

    >>> micro_f1([Chosen(2, 1, 1), Chosen(0, 0, 1)])
    0.5
    """
    chosen, hits, updated = (sum(column) for column in zip(*points, strict=True))
    return float(2 * hits / max(1, chosen + updated))


def leads(ours: Sequence[Chosen], theirs: Sequence[Chosen], instants: Sequence[Instant]) -> tuple[float, float]:
    """The 95 % interval of our micro F1 minus theirs, by a bootstrap that draws the same reference points for both.

    An interval below 0 means that we are significantly worse. Points with the same instant are drawn together.

    >>> leads([Chosen(2, 2, 2)] * 9, [Chosen(2, 1, 2)] * 9, range(9))
    (0.5, 0.5)
    """
    points, place = np.unique(np.asarray(instants, np.float64), return_inverse=True)
    counts = np.zeros((2, len(points), 3))
    for row, some in zip(counts, (ours, theirs), strict=True):
        np.add.at(row, place, np.array(some, np.float64))
    rng, count = np.random.default_rng(0), len(points)
    firsts = rng.integers(0, count, (AGAIN, -(-count // TOGETHER)))
    drawn = ((firsts[:, :, None] + np.arange(TOGETHER)) % count).reshape(AGAIN, -1)[:, :count]
    chosen, hits, updated = np.moveaxis(counts[:, drawn].sum(axis=2), -1, 0)
    mine, others = 2 * hits / np.maximum(1.0, chosen + updated)
    low, high = np.quantile(mine - others, (0.025, 0.975))
    return float(low), float(high)


class Curve(NamedTuple):
    """Precision, recall and F1 per threshold; 0 where nothing was chosen or updated."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]

    def at(self, place: int) -> tuple[float, float, float]:
        """Precision, recall and F1 at one threshold."""
        return float(self.precision[place]), float(self.recall[place]), float(self.f1[place])


@dataclass(frozen=True, slots=True)
class ChosenByThreshold:
    """Counts of the seeds chosen at each threshold, at one reference point t."""

    chosen: NDArray[np.int64]  #: seeds with p ≥ θ
    hits: NDArray[np.int64]  #: of these, updated in [t, t + e]
    updated: int  #: of all seeds with captures in the window

    @classmethod
    def of(cls, p: NDArray[np.float64], updated: NDArray[np.bool_]) -> ChosenByThreshold:
        """Count for all thresholds at once.

        >>> one = ChosenByThreshold.of(np.array([0.2, 0.9]), np.array([False, True]))
        >>> one.chosen[[0, 100, 200]].tolist(), one.hits[[0, 100, 200]].tolist()
        ([2, 1, 0], [1, 1, 0])
        """
        return cls(_at_least(p), _at_least(p[updated]), int(updated.sum()))

    def at(self, place: int) -> Chosen:
        """The counts at one threshold."""
        return Chosen(int(self.chosen[place]), int(self.hits[place]), self.updated)

    def random(self, updated: NDArray[np.bool_], rng: np.random.Generator) -> ChosenByThreshold:
        """The counts for as many seeds chosen at random."""
        hits = np.concatenate([[0], np.cumsum(rng.permutation(updated))])
        return ChosenByThreshold(self.chosen, hits[self.chosen], self.updated)


def micro(selections: Sequence[ChosenByThreshold]) -> Curve:
    """The measures of the counts summed over t."""
    chosen = np.sum([one.chosen for one in selections], axis=0)
    hits = np.sum([one.hits for one in selections], axis=0)
    return _curve(hits, chosen, np.full(len(hits), sum(one.updated for one in selections)))


def macro(selections: Sequence[ChosenByThreshold]) -> Curve:
    """The measures at each t, averaged."""
    curves = [_curve(one.hits, one.chosen, np.full(len(one.hits), one.updated)) for one in selections]
    return Curve(*(np.mean([curve[part] for curve in curves], axis=0) for part in range(3)))


def weighted_precision(order: NDArray[np.int64], following: NDArray[np.float64]) -> float:
    """P@K averaged over K with weights 1/log₂(K + 1): high if seeds that are updated first are ranked first.

    ``order``: seeds as ranked; ``following``: the instant of each seed's next update, inf where none follows. K runs
    up to the number of seeds that are updated at all; P@K is the share of the first K seeds as ranked that are among
    the first K to be updated. NaN where none is updated.

    >>> weighted_precision(np.array([2, 0, 1]), np.array([5.0, np.inf, 3.0]))
    1.0
    """
    seeds = len(order)
    expected = np.empty(seeds, np.int64)
    expected[np.argsort(following, kind="stable")] = np.arange(seeds)
    ranked = np.empty(seeds, np.int64)
    ranked[order] = np.arange(seeds)
    updates = int(np.isfinite(following).sum())
    if not updates:
        return float("nan")
    both = np.maximum(expected, ranked)[np.isfinite(following)]  # the K from which on a seed is in both lists
    ks = np.arange(1, updates + 1)
    precision = np.cumsum(np.bincount(both, minlength=seeds))[:updates] / ks
    return float(np.average(precision, weights=1.0 / np.log2(ks + 1)))


def _at_least(p: NDArray[np.float64]) -> NDArray[np.int64]:
    return len(p) - np.searchsorted(np.sort(p), THETAS, side="left")


def _curve(hits: NDArray[np.int64], chosen: NDArray[np.int64], updated: NDArray[np.int64]) -> Curve:
    def share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)

    return Curve(share(hits, chosen), share(hits, updated), share(2 * hits, chosen + updated))
