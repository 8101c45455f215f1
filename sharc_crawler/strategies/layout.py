"""Classes and planned intervals of pages that are all known before the capture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Plan, Seconds
from sharc_crawler.strategies.base import Candidates
from sharc_crawler.strategies.classes import Classes, Planner

Classified = tuple[Classes, NDArray[np.uint16]]

LIMIT = 1024  #: maximum of classes; if there are more, rates are binned
FINEST = 0.01  #: relative width of the narrowest bins


@dataclass(frozen=True, slots=True)
class Layout:
    """A planner's result, as arrays with one entry per page."""

    intervals: NDArray[np.float64]  #: seconds from visit to revisit
    hopeless: NDArray[np.bool_]


def lay_out(pages: Candidates, step: Seconds, planner: Planner, classified: Classified | None = None) -> Layout:
    """Assign the intervals 0, 2Δ, 4Δ, ... to pages that are all known before the capture (of these classes).

    >>> from sharc_crawler.strategies.base import Candidates
    >>> from sharc_crawler.strategies.selective import selective
    >>> lay_out(Candidates.of([0, 1, 2, 3, 4], [0.20, 0.25, 0.30, 0.35, 0.40]), 1.0, selective).intervals
    array([4., 2., 6., 8., 0.])
    """
    if not len(pages):
        return Layout(np.zeros(0), np.zeros(0, np.bool_))
    classes, row = classified or classify(pages)
    runs = planner(classes, 2 * step)
    lengths = np.array([run.pages for run in runs])
    firsts = len(pages) - np.cumsum(lengths)  # the shortest interval of each run
    by_row = np.argsort([run.row for run in runs], kind="stable")
    lengths, firsts = lengths[by_row], firsts[by_row]
    slots = np.repeat(firsts + np.cumsum(lengths), lengths) - 1 - np.arange(len(pages))
    given_up = np.array([run.plan is Plan.HOPELESS for run in runs])[by_row]
    order = np.argsort(row, kind="stable")
    intervals, hopeless = np.empty(len(pages)), np.empty(len(pages), np.bool_)
    intervals[order] = slots * (2 * step)
    hopeless[order] = np.repeat(given_up, lengths)
    return Layout(intervals, hopeless)


def classify(pages: Candidates) -> Classified:
    """Return the classes of pages, and the class of each page.

    They are exact up to :data:`LIMIT`; else rates are binned by 1 %, if need be by 2 %, 4 % and so on, to their means.
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
    """Number the combinations of values that occur, from 0 without a gap.

    >>> combinations((np.array([0.5, 0.5, 2.0]), np.array([1.0, 1.0, 1.0])))
    array([0, 0, 1])
    """
    varied = [column for column in columns if column.min() < column.max()]  # constant columns do not matter
    return _combine(len(columns[0]), [np.unique(column, return_inverse=True)[1] for column in varied])


def _classes(columns: tuple[NDArray[np.float64], ...]) -> NDArray[np.int64]:
    varied = [column for column in columns if column.min() < column.max()]
    if all(len(np.unique(column[: 4 * LIMIT])) <= LIMIT for column in varied):
        codes = combinations(columns)
        if codes.max() < LIMIT:
            return codes
    with np.errstate(divide="ignore"):
        logs = [np.log(column) for column in varied]
    width = FINEST
    while (codes := _combine(len(columns[0]), [_bins(log, width) for log in logs])).max() >= LIMIT:
        width *= 2
    return codes


def _combine(pages: int, columns: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Number the combinations that occur, from 0 without a gap."""
    codes = np.zeros(pages, np.int64)
    for column in columns:
        codes = codes * (int(column.max()) + 1) + column
        codes = (np.cumsum(np.bincount(codes) > 0) - 1)[codes]
    return codes


def _bins(logs: NDArray[np.float64], width: float) -> NDArray[np.int64]:
    """Return numbers of logarithmic bins; 0 and inf have bins of their own."""
    low, high = np.min(logs, where=logs > -np.inf, initial=np.inf), np.max(logs, where=logs < np.inf, initial=-np.inf)
    bins: NDArray[np.int64] = np.rint(np.clip((logs - low) / width, -1, (high - low) / width + 1)).astype(np.int64)
    return bins + 1


def _means(column: NDArray[np.float64], codes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    if column.min() == column.max():
        return np.full(len(counts), column[0])
    return np.bincount(codes, column) / counts
