"""A plan over the pyramid's intervals, and what it promises when every page is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from sharc_crawler.model import Plan
from sharc_crawler.strategies.classes import classify

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Seconds
    from sharc_crawler.strategies.base import Candidates
    from sharc_crawler.strategies.classes import Classes


class Run(NamedTuple):
    """Pages of one class on adjacent intervals."""

    row: int  #: of the classes planned
    pages: int
    plan: Plan


class Planner(Protocol):
    """Lays classes over the intervals 0, width, 2 width, ..."""

    def __call__(self, classes: Classes, width: Seconds) -> list[Run]:
        """Runs from the longest interval to the shortest."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a planner puts pages; arrays of one length, as the pages."""

    intervals: NDArray[np.float64]  #: seconds from visit to revisit
    hopeless: NDArray[np.bool_]


def lay_out(pages: Candidates, step: Seconds, planner: Planner) -> Layout:
    """The planner's intervals 0, 2Δ, 4Δ, ... for pages that are all known before the capture.

    >>> from sharc_crawler.strategies.base import Candidates
    >>> from sharc_crawler.strategies.selective import selective
    >>> lay_out(Candidates.of([0, 1, 2, 3, 4], [0.20, 0.25, 0.30, 0.35, 0.40]), 1.0, selective).intervals
    array([4., 2., 6., 8., 0.])
    """
    if not len(pages):
        return Layout(np.zeros(0), np.zeros(0, np.bool_))
    classes, row = classify(pages)
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
