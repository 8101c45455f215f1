"""A complete layout by class: which class has how many adjacent intervals, from the shortest to the longest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.model import Plan
from sharc_crawler.strategies.layout import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Pieces:
    """Arrays of one length, from the shortest intervals to the longest."""

    rows: NDArray[np.int64]  #: class
    counts: NDArray[np.int64]  #: of its pages

    def runs(self) -> list[Run]:
        """The same as a plan. Given up are pages with longer intervals than colder ones have.

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
