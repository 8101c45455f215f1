"""Classes of pages with equal rate, weight and posterior shape, and plans of classes.

The cost of planning depends on the number of classes, not of pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Plan, Seconds


@dataclass(frozen=True, slots=True)
class Classes:
    """Classes of pages, hottest first, as arrays of equal length."""

    rates: NDArray[np.float64]  #: changes per second
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]
    shapes: NDArray[np.float64] | None = None  #: None: all rates are known
    attested: NDArray[np.bool_] | None = None  #: None: no class is
    either_side: bool = False  #: attested pages are visited on both sides of T: they need only one unchanged side

    def __len__(self) -> int:
        return len(self.rates)

    @property
    def simple(self) -> bool:
        """Are all rates known, and proves only a revisit coherence?"""
        return self.shapes is None and not self.either_side

    def log_values(self, intervals: NDArray[np.float64], first: int = 0) -> NDArray[np.float64]:
        """Return the logarithm of weight times probability of coherence, for the classes from ``first`` on.

        ``intervals`` has one row per class, or broadcasts to that.
        """
        from sharc_crawler.evidence.survival import log_survival, log_survival_of_either_side  # only if not simple

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


class Run(NamedTuple):
    """Pages of one class on adjacent intervals."""

    row: int  #: index of the class
    pages: int
    plan: Plan


class Planner(Protocol):
    """Assigns classes to the intervals 0, width, 2 width, ... (seconds)."""

    def __call__(self, classes: Classes, width: Seconds) -> list[Run]:
        """Return runs from the longest interval to the shortest."""
