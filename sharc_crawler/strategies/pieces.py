"""A complete layout by class: which class has how many adjacent intervals, from the shortest to the longest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.model import Plan, Seconds
from sharc_crawler.strategies.classes import Classes, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Pieces:
    """Arrays of one length, from the shortest intervals to the longest."""

    rows: NDArray[np.int64]  #: class
    counts: NDArray[np.int64]  #: of its pages

    @classmethod
    def of(cls, runs: list[Run]) -> Pieces:
        """Pieces from runs: the reverse of :meth:`runs`."""
        return cls(np.array([run.row for run in runs[::-1]]), np.array([run.pages for run in runs[::-1]]))

    def value(self, classes: Classes, width: Seconds) -> float:
        """Expected coherence, weighted, on intervals 0, width, 2 width, ... seconds."""
        if classes.simple:
            starts = np.cumsum(self.counts) - self.counts
            theta, weights = classes.rates[self.rows] * width, classes.weights[self.rows]
            return float((weights * np.exp(-theta * starts) * series(theta, self.counts)).sum())
        rows = np.repeat(self.rows, self.counts)
        intervals = width * np.arange(len(rows), dtype=np.float64)
        shapes = None if classes.shapes is None else classes.shapes[rows]
        return float(np.exp(log_survival(classes.rates[rows], intervals, shapes)) @ classes.weights[rows])

    def runs(self) -> list[Run]:
        """The plan as runs. Given up are pages with longer intervals than colder ones have.

        >>> [tuple(run) for run in Pieces(np.array([1, 0]), np.array([3, 2])).runs()]
        [(0, 2, <Plan.HOPELESS: 'hopeless'>), (1, 3, <Plan.HOPEFUL: 'hopeful'>)]
        """
        merged = self.merged()
        rows = merged.rows
        given_up = rows < np.maximum.accumulate(rows)
        plans = [Plan.HOPELESS if lost else Plan.HOPEFUL for lost in given_up.tolist()]
        return [Run(*run) for run in zip(rows.tolist(), merged.counts.tolist(), plans, strict=True)][::-1]

    def merged(self) -> Pieces:
        """Without empty pieces, and adjacent ones of the same class as one."""
        some = self.counts > 0
        rows, counts = self.rows[some], self.counts[some]
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        return Pieces(rows[starts], np.add.reduceat(counts, starts) if len(starts) else counts)


def series(theta: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The sums of e^{-θk} over k = 0, 1, ... count - 1.

    >>> series(np.array([0.0, np.log(2)]), np.array([3, 3]))
    array([3.  , 1.75])
    """
    with np.errstate(invalid="ignore"):
        sums = np.expm1(-theta * counts) / np.expm1(-theta)
    return np.where(theta == 0, counts, sums)
