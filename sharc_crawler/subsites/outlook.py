"""The expected coherence of a part of a site, captured as a pyramid of its own."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.model import Seconds
from sharc_crawler.strategies.base import Candidates
from sharc_crawler.strategies.layout import classify
from sharc_crawler.strategies.selective import selective

SURE = 1.2816  #: 90 % quantile of the normal distribution


class Expectation(NamedTuple):
    """The expected share (by weight) of coherent pages."""

    mean: float
    deviation: float

    def reaches(self, share: float) -> bool:
        """Will at least this share be coherent, with 90 % probability (by the normal approximation)?"""
        return self.mean - SURE * self.deviation >= share


class Outlook:
    """The coherence that SHARC-selective is expected to reach with some of these pages alone.

    Parameters
    ----------
    pages: all pages; methods take indices into them
    step: Δ, seconds between two downloads

    """

    def __init__(self, pages: Candidates, step: Seconds) -> None:
        self._pages = pages
        self._width = 2 * step
        if len(pages):
            self._classes, self._rows = classify(pages)

    def expect(self, waiting: NDArray[np.int64], visited: NDArray[np.int64] | None = None) -> Expectation:
        """Return the expectation for the ``waiting`` pages, after those ``visited`` already, in this order.

        >>> from sharc_crawler.strategies.base import Candidates
        >>> outlook = Outlook(Candidates.of([0, 1, 2, 3, 4], [0.40, 0.35, 0.30, 0.25, 0.20]), step=1.0)
        >>> round(outlook.expect(np.arange(5)).mean * 5, 3)
        2.282
        """
        order = self._order(waiting)
        if visited is not None:
            order = np.concatenate((visited, order))
        if not len(order):
            return Expectation(1.0, 0.0)
        intervals = np.asarray(self._width * np.arange(len(order))[::-1], np.float64)
        chances = np.exp(log_survival(self._pages.rates[order], intervals, self._pages.shapes[order]))
        weights = self._pages.weights[order]
        total = max(float(weights.sum()), np.finfo(float).tiny)
        variance = float((weights**2 * chances * (1 - chances)).sum())
        return Expectation(float(weights @ chances) / total, math.sqrt(variance) / total)

    def _order(self, waiting: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the indices in the order of visits."""
        if not len(waiting):
            return waiting
        rows = self._rows[waiting]
        counts = np.bincount(rows, minlength=len(self._classes))
        there = np.flatnonzero(counts)
        every = self._classes
        own = replace(
            every,
            rates=every.rates[there],
            counts=counts[there],
            weights=every.weights[there],
            shapes=None if every.shapes is None else every.shapes[there],
        )
        by_class = waiting[np.argsort(rows, kind="stable")]
        first = np.cumsum(own.counts) - own.counts
        order = []
        for row, pages, _ in selective(own, self._width):
            order.append(by_class[first[row] : first[row] + pages])
            first[row] += pages
        return np.concatenate(order)
