"""Pages grouped by equal rate, weight and posterior shape: what planning costs depends on the number of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.strategies.base import Candidates

LIMIT = 1024  #: exact classes up to here; beyond, rates are binned
FINEST = 0.01  #: relative width of the narrowest bins


@dataclass(frozen=True, slots=True)
class Classes:
    """Classes of pages, hottest first; arrays of one length."""

    rates: NDArray[np.float64]  #: changes per second
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]
    shapes: NDArray[np.float64] | None = None  #: None: all rates are known
    attested: NDArray[np.bool_] | None = None  #: None: no class
    either_side: bool = False  #: attested pages are visited on both sides of T: one unchanged half is enough

    def __len__(self) -> int:
        return len(self.rates)

    @property
    def simple(self) -> bool:
        """All rates are known, and revisits prove coherence."""
        return self.shapes is None and not self.either_side

    def log_values(self, intervals: NDArray[np.float64], first: int = 0) -> NDArray[np.float64]:
        """Logarithm of weight times probability to be coherent, for the classes from ``first`` on.

        ``intervals`` has one row per class, or broadcasts so.
        """
        from sharc_crawler.evidence.survival import log_survival, log_survival_of_either_side  # where rates are guessed

        rows = slice(first, None)
        columns = (slice(None),) + (None,) * (intervals.ndim - 1)
        rates = self.rates[rows][columns]
        shapes = None if self.shapes is None else self.shapes[rows][columns]
        logs = log_survival(rates, intervals, shapes)
        if self.either_side and self.attested is not None:
            halves = log_survival_of_either_side(rates, intervals, shapes)
            logs = np.where(self.attested[rows][columns], halves, logs)
        with np.errstate(divide="ignore"):
            return logs + np.log(self.weights[rows][columns])


def classify(pages: Candidates) -> tuple[Classes, NDArray[np.uint16]]:
    """Classes of pages, and the class of each page.

    Exact up to :data:`LIMIT` classes; beyond, bins of 1 %, if need be of 2 %, 4 % and so on, with their mean rates.
    """
    columns = (pages.rates, pages.weights, pages.shapes)
    codes = _classes(columns)
    counts = np.bincount(codes)
    rates, weights, shapes = (_means(column, codes, counts) for column in columns)
    order = np.argsort(-rates * weights, kind="stable")
    row = np.empty(len(order), np.uint16)
    row[order] = np.arange(len(order))
    known = None if np.isinf(shapes).all() else shapes[order]
    return Classes(rates[order], counts[order], weights[order], known), row[codes]


def combinations(columns: tuple[NDArray[np.float64], ...]) -> NDArray[np.int64]:
    """A number for each combination of values that occurs, from 0 without a gap.

    >>> combinations((np.array([0.5, 0.5, 2.0]), np.array([1.0, 1.0, 1.0])))
    array([0, 0, 1])
    """
    varied = [column for column in columns if len(column) and column.min() < column.max()]
    return _combine(len(columns[0]), [np.unique(column, return_inverse=True)[1] for column in varied])


def _classes(columns: tuple[NDArray[np.float64], ...]) -> NDArray[np.int64]:
    varied = [column for column in columns if len(column) and column.min() < column.max()]
    if all(len(np.unique(column[: 4 * LIMIT])) <= LIMIT for column in varied):
        codes = combinations(columns)
        if codes.max(initial=0) < LIMIT:
            return codes
    with np.errstate(divide="ignore"):
        logs = [np.log(column) for column in varied]
    width = FINEST
    while (codes := _combine(len(columns[0]), [_bins(log, width) for log in logs])).max() >= LIMIT:
        width *= 2
    return codes


def _combine(pages: int, columns: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """One number for each combination that occurs, from 0 without a gap."""
    codes = np.zeros(pages, np.int64)
    for column in columns:
        codes = codes * (int(column.max()) + 1) + column
        codes = (np.cumsum(np.bincount(codes) > 0) - 1)[codes]
    return codes


def _bins(logs: NDArray[np.float64], width: float) -> NDArray[np.int64]:
    """Numbers of logarithmic bins; 0 and inf have bins of their own."""
    low, high = np.min(logs, where=logs > -np.inf, initial=np.inf), np.max(logs, where=logs < np.inf, initial=-np.inf)
    bins: NDArray[np.int64] = np.rint(np.clip((logs - low) / width, -1, (high - low) / width + 1)).astype(np.int64)
    return bins + 1


def _means(column: NDArray[np.float64], codes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    if column.min() == column.max():
        return np.full(len(counts), column[0])
    return np.bincount(codes, column) / counts
