"""How coherent a part of a site can be captured by itself: a pyramid of visits and revisits of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.strategies.classes import classify
from sharc_crawler.strategies.selective import selective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Seconds
    from sharc_crawler.strategies.base import Candidates


class Outlook:
    """What SHARC-selective may be expected to make of some of these pages, alone.

    Parameters
    ----------
    pages: all that are to be asked about; places are theirs
    step: Δ, seconds between two downloads

    """

    def __init__(self, pages: Candidates, step: Seconds) -> None:
        self._width = 2 * step
        if len(pages):
            self._classes, self._rows = classify(pages)

    def share(self, places: NDArray[np.int64]) -> float:
        """The share of the pages at these places (by weight) that will be coherent, in expectation.

        >>> from sharc_crawler.strategies.base import Candidates
        >>> outlook = Outlook(Candidates.of([0, 1, 2, 3, 4], [0.40, 0.35, 0.30, 0.25, 0.20]), step=1.0)
        >>> round(outlook.share(np.arange(5)) * 5, 3)
        2.282
        """
        if not len(places):
            return 1.0
        counts = np.bincount(self._rows[places], minlength=len(self._classes))
        there = np.flatnonzero(counts)
        every = self._classes
        own = replace(
            every,
            rates=every.rates[there],
            counts=counts[there],
            weights=every.weights[there],
            shapes=None if every.shapes is None else every.shapes[there],
        )
        runs = selective(own, self._width)
        row = np.repeat([run.row for run in runs], [run.pages for run in runs])
        intervals = np.asarray(self._width * np.arange(len(places))[::-1], np.float64)
        page = replace(
            own,
            rates=own.rates[row],
            counts=np.ones(len(row), np.int64),
            weights=own.weights[row],
            shapes=None if own.shapes is None else own.shapes[row],
        )
        return float(np.exp(page.log_values(intervals)).sum() / max(float(page.weights.sum()), np.finfo(float).tiny))
