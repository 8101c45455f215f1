"""Improve a layout: move pages of one class from one of its places to another while that gains coherence.

In a good layout a class has few places: along the intervals, rates fall, rise, fall again. Each such stretch, a
*flight*, holds the classes in order. So a layout is the number of pages by class and flight. Its value is a sum of
geometric series, and the gains of moving one page can be computed for all classes and flights at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.model import Plan, Seconds
from sharc_crawler.strategies.classes import Classes, Run


@dataclass(frozen=True, slots=True)
class Pieces:
    """A layout by class, as arrays of equal length, from the shortest intervals to the longest."""

    rows: NDArray[np.int64]  #: class
    counts: NDArray[np.int64]  #: pages of the class

    @classmethod
    def of(cls, runs: list[Run]) -> Pieces:
        """Make pieces from runs: the inverse of :meth:`runs`."""
        return cls(np.array([run.row for run in runs[::-1]]), np.array([run.pages for run in runs[::-1]]))

    def value(self, classes: Classes, width: Seconds) -> float:
        """Return the expected weighted coherence on intervals 0, width, 2 width, ... seconds."""
        if classes.simple:
            starts = np.cumsum(self.counts) - self.counts
            theta, weights = classes.rates[self.rows] * width, classes.weights[self.rows]
            return float((weights * np.exp(-theta * starts) * series(theta, self.counts)).sum())
        rows = np.repeat(self.rows, self.counts)
        intervals = width * np.arange(len(rows), dtype=np.float64)
        shapes = None if classes.shapes is None else classes.shapes[rows]
        return float(np.exp(log_survival(classes.rates[rows], intervals, shapes)) @ classes.weights[rows])

    def runs(self) -> list[Run]:
        """Return the plan as runs; pages with longer intervals than colder ones are given up.

        >>> [tuple(run) for run in Pieces(np.array([1, 0]), np.array([3, 2])).runs()]
        [(0, 2, <Plan.HOPELESS: 'hopeless'>), (1, 3, <Plan.HOPEFUL: 'hopeful'>)]
        """
        merged = self.merged()
        rows = merged.rows
        given_up = rows < np.maximum.accumulate(rows)
        plans = [Plan.HOPELESS if lost else Plan.HOPEFUL for lost in given_up.tolist()]
        return [Run(*run) for run in zip(rows.tolist(), merged.counts.tolist(), plans, strict=True)][::-1]

    def merged(self) -> Pieces:
        """Drop empty pieces, and join adjacent ones of the same class."""
        some = self.counts > 0
        rows, counts = self.rows[some], self.counts[some]
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        return Pieces(rows[starts], np.add.reduceat(counts, starts) if len(starts) else counts)


def series(theta: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of e^{-θk} over k = 0, 1, ... count - 1.

    >>> series(np.array([0.0, np.log(2)]), np.array([3, 3]))
    array([3.  , 1.75])
    """
    with np.errstate(invalid="ignore"):
        sums = np.expm1(-theta * counts) / np.expm1(-theta)
    return np.where(theta == 0, counts, sums)


FLIGHTS = 32  #: layouts with more flights are not improved
LOST = -20.0  #: logarithm of a negligible survival
GAIN = 1e-12  #: smallest gain worth a move, relative to the layout's value
TRIES = 50  #: best moves tried before the gains are computed again


def climb(classes: Classes, width: Seconds, pieces: Pieces, moves: int) -> Pieces:
    """Return a layout at least as good, for known rates; ``moves``: maximum of moves tried."""
    pieces = _lost_last(classes, width, pieces)
    if not classes.simple or not len(pieces.rows) or not climbable(pieces):
        return pieces
    stairs = _Stairs(classes, width, pieces, _flights(pieces.rows))
    while stairs.tried < moves and stairs.improve():
        pass
    return Pieces(stairs.rows, stairs.counts).merged()


def climbable(pieces: Pieces) -> bool:
    """Can a layout, with at least one page, be improved here?"""
    return int(_flights(pieces.rows)[-1]) < FLIGHTS


def _lost_last(classes: Classes, width: Seconds, pieces: Pieces) -> Pieces:
    """Move pieces with negligible survival to the longest intervals, the hottest last."""
    starts = (np.cumsum(pieces.counts) - pieces.counts) * width
    lost = -classes.rates[pieces.rows] * starts < LOST
    last = np.flatnonzero(lost)[np.argsort(-pieces.rows[lost], kind="stable")]
    order = np.concatenate((np.flatnonzero(~lost), last))
    return Pieces(pieces.rows[order], pieces.counts[order])


def _flights(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of each piece's flight: a maximal stretch with classes in one order."""
    flights = np.zeros(len(rows), np.int64)
    direction = 0
    for at, step in enumerate(np.sign(np.diff(rows)).tolist(), start=1):
        turns = direction * step < 0
        flights[at] = flights[at - 1] + turns
        direction = 0 if turns else direction or step
    return flights


class _Stairs:
    """A layout in which each class has one piece, perhaps empty, in each flight."""

    def __init__(self, classes: Classes, width: Seconds, pieces: Pieces, flights: NDArray[np.int64]) -> None:
        rows, counts = [], []
        for flight in range(int(flights[-1]) + 1):
            inside = flights == flight
            falls = pieces.rows[inside][0] <= pieces.rows[inside][-1]
            order = np.arange(len(classes))[:: 1 if falls else -1]
            rows.append(order)
            counts.append(np.bincount(pieces.rows[inside], pieces.counts[inside], len(classes)).astype(np.int64)[order])
        self.rows, self.counts = np.concatenate(rows), np.concatenate(counts)
        self._theta = classes.rates[self.rows] * width
        self._weights = classes.weights[self.rows]
        self._at = np.argsort(self.rows, kind="stable").reshape(len(classes), -1).T  # piece by flight and class
        self._starts = np.cumsum(self.counts) - self.counts
        self._series = series(self._theta, self.counts)
        self._terms = self._survival(self._starts) * self._series  # summands of the layout's value
        self._value = float(self._terms.sum())
        self.tried = 0

    def improve(self) -> bool:
        """Make the best moves; return ``False`` if none gains anything."""
        gains = self._gains()
        made = False
        for move in np.argsort(-gains, axis=None)[:TRIES]:
            source, target, row = (int(index) for index in np.unravel_index(move, gains.shape))
            if gains[source, target, row] <= GAIN * self._value:
                break
            made |= self._move(int(self._at[source, row]), int(self._at[target, row]))
        return made

    def _move(self, source: int, target: int) -> bool:
        """Move all pages of a piece, or a half, a quarter, ... until that gains; only pieces between change."""
        near, far = min(source, target), max(source, target)
        between = near + 1 + np.flatnonzero(self.counts[near + 1 : far])  # most pieces are empty
        touched = np.concatenate(([source, target], between))
        theta, weights, series_, starts = (
            column[touched] for column in (self._theta, self._weights, self._series, self._starts)
        )
        left, right = theta[:2].tolist()
        old, pages = float(self._terms[touched].sum()), int(self.counts[source])
        while pages:
            self.tried += 1
            shift = pages if target < source else -pages
            moved = starts + shift
            moved[int(target < source)] = starts[int(target < source)]  # the nearer end stays where it begins
            series_[0] = _series(left, int(self.counts[source]) - pages)
            series_[1] = _series(right, int(self.counts[target]) + pages)
            terms = weights * np.exp(-theta * moved) * series_
            value = self._value + float(terms.sum()) - old
            if value > self._value:
                self.counts[[source, target]] += [-pages, pages]
                self._starts[near + 1 : far + 1] += shift
                self._series[touched], self._terms[touched], self._value = series_, terms, value
                return True
            pages //= 2
        return False

    def _gains(self) -> NDArray[np.float64]:
        """Return the gains of moving one page, by flights (from, to) and class.

        A page that moves outward leaves the last interval of its piece and takes the one before the target piece; the
        pieces between move inward by one. Inward it is the other way round.
        """
        ends = np.cumsum(self.counts)
        starts = ends - self.counts
        before, at_start = self._survival(np.maximum(starts - 1, 0)), self._survival(starts)
        at_end, after = self._survival(np.maximum(ends - 1, 0)), self._survival(ends)
        shares = -np.expm1(-self._theta * self.counts)
        inward, outward = np.cumsum(before * shares), np.cumsum(at_start * shares)
        flights = len(self._at)
        gains = np.full((flights, flights, self._at.shape[1]), -np.inf)
        for near in range(flights - 1):
            i, j = self._at[near], self._at[near + 1 :]
            closer, farther = inward[j - 1] - inward[i], outward[j - 1] - outward[i]
            gains[near, near + 1 :] = np.where(self.counts[i], before[j] - at_end[i] + closer, -np.inf)
            gains[near + 1 :, near] = np.where(self.counts[j], after[i] - at_start[j] - farther, -np.inf)
        return gains

    def _survival(self, intervals: NDArray[np.int64]) -> NDArray[np.float64]:
        survival: NDArray[np.float64] = self._weights * np.exp(-self._theta * intervals)
        return survival


def _series(theta: float, count: int) -> float:
    """Compute :func:`series` for one piece, in a thirtieth of the time."""
    return math.expm1(-theta * count) / math.expm1(-theta) if theta else count
