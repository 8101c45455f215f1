"""Which page to visit out of its turn, because it may lead to pages that are expected, but still undiscovered.

A plan counts on virtual pages. Where they are not found in time, the pages known take their places: the coldest first,
and when these are spent those that were kept for the shortest intervals. If hot pages are the ones with the links, all
is found when it is too late. So each class of pages is weighed: what its pages are likely to bring, learned from what
visits to pages of about its rate have brought, against what taking one out of its turn costs in the plan.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.strategies.classes import Classes
from sharc_crawler.strategies.pieces import Pieces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Seconds
    from sharc_crawler.strategies.layout import Run

    Column = NDArray[np.float64]

ALIKE = 0.5  #: how much a visit tells of pages of the next band of rates
BANDS = 8  #: bands of rates in an octave
FEW = 200.0  #: visits from which on a band's own say more than those of other bands
SURE = 1e-9  #: a gain below is none
NEVER = -1100 * BANDS  #: band of the rate 0: below any other's


@dataclass(frozen=True)
class Outlook:
    """A plan for pages known and virtual ones; columns by class."""

    classes: Classes
    runs: list[Run]
    known: NDArray[np.int64]  #: pages that wait; the others of the class are virtual
    width: Seconds  #: intervals are 0, width, 2 width, ...

    @cached_property
    def lateness(self) -> float:
        """What it costs if the missing pages are found only when all that are known have been visited."""
        left = self.known.tolist()
        known, virtual = [], []
        for run in self.runs:
            pages = min(run.pages, left[run.row])
            left[run.row] -= pages
            known.append(run._replace(pages=pages))
            virtual.append(run._replace(pages=run.pages - pages))
        planned, late = (Pieces.of(runs).value(self.classes, self.width) for runs in (self.runs, known + virtual))
        return max(0.0, planned - late)

    @cached_property
    def costs(self) -> Column:
        """What is lost in the plan if a class's next page takes the longest interval, and all before it move up."""
        rows, pages = self._rows, np.array([run.pages for run in self.runs])
        ends = np.cumsum(pages)
        longest, shortest = (ends[-1] - 1 - (ends - pages)) * self.width, (ends[-1] - ends) * self.width
        places = np.stack([longest, np.maximum(shortest - self.width, 0), np.full(len(rows), longest[0])], axis=1)
        values = np.exp(_of(self.classes, rows).log_values(places))
        moved = np.cumsum(values[:, 1] - values[:, 0])  # the sum over a run's pages telescopes
        costs = values[:, 0] - values[:, 2] - np.concatenate([[0.0], moved[:-1]])
        found: Column = np.zeros(len(self.classes))
        found[rows[::-1]] = np.maximum(costs, 0)[::-1]  # the first run of each class
        return found

    def turn(self, waiting: NDArray[np.int64]) -> int:
        """The class whose turn it is, of those of which pages wait (there is one)."""
        return int(self._rows[waiting[self._rows] > 0][0])

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        return np.array([run.row for run in self.runs])


class Scout:
    """Learns what visits bring.

    >>> scout = Scout()
    >>> for found in (3, 1):
    ...     scout.visited(0.5)
    ...     scout.found(found)
    >>> scout.expected(np.array([0.5, 0.25]), 1.0).tolist()  # by band of the rate; at first, 1 is expected
    [1.6699669966996702, 1.5000195304870902]
    """

    def __init__(self) -> None:
        self._visits: dict[int, int] = defaultdict(int)  # by band of the rate
        self._found: dict[int, int] = defaultdict(int)
        self._last: int | None = None  # band of the last visit

    def visited(self, rate: float) -> None:
        """A page of this rate is visited: what is found until the next visit is found on it."""
        self._last = math.floor(math.log2(rate) * BANDS) if rate else NEVER
        self._visits[self._last] += 1

    def found(self, pages: int) -> None:
        """So many pages were not known before."""
        if self._last is not None:
            self._found[self._last] += pages

    def expected(self, rates: Column, prior: float) -> Column:
        """How many new pages a visit to a page of each rate is likely to bring: ``prior``, and what visits brought.

        First by octaves: what visits to pages of about its rate brought. Many visits to a band speak for themselves:
        the hottest leaves may be next to pages that lead to all others.
        """
        bands = np.array([*self._visits], np.int64)
        visits = np.array([*self._visits.values()], np.float64)
        found = np.array([self._found[band] for band in self._visits], np.float64)
        apart = np.abs(_bands(rates)[:, None] - bands)
        wide, near = ALIKE ** (apart / BANDS), ALIKE**apart
        first = (prior + wide @ found) / (1 + wide @ visits)
        expected: Column = (FEW * first + near @ found) / (FEW + near @ visits)
        return expected

    def choose(self, outlook: Outlook, waiting: NDArray[np.int64], missing: int) -> int | None:
        """The class whose next page is better visited now than in its turn; None: the plan's own order is best.

        Parameters
        ----------
        waiting: known pages by class
        missing: pages expected, but undiscovered

        """
        total = int(waiting.sum())
        if not total:
            return None
        brings = np.minimum(self.expected(outlook.classes.rates, missing / total), missing)
        turn = outlook.turn(waiting)
        late = _late(float(brings[turn]), total, missing)
        if not late:
            return None
        costs = np.where(waiting > 0, outlook.costs, np.inf)
        costs[turn] = 0  # the plan's own order
        gains = late * outlook.lateness / missing * brings - costs
        best = int(gains.argmax())
        return best if gains[best] > gains[turn] + SURE else None


def _bands(rates: Column) -> NDArray[np.int64]:
    with np.errstate(divide="ignore"):
        bands: NDArray[np.int64] = np.floor(np.maximum(np.log2(rates) * BANDS, NEVER)).astype(np.int64)
    return bands


def _late(brings: float, waiting: int, missing: int) -> float:
    """The share of the missing pages that the pages known and those they lead to will not bring, if all bring so many.

    >>> _late(0.5, waiting=10, missing=40), _late(1.0, waiting=10, missing=40)  # 10/2 + 10/4 + ... = 10 pages
    (0.75, 0.0)
    """
    return 0.0 if brings >= 1 else max(0.0, 1 - waiting * brings / (1 - brings) / missing)


def _of(classes: Classes, rows: NDArray[np.int64]) -> Classes:
    shapes = None if classes.shapes is None else classes.shapes[rows]
    return Classes(classes.rates[rows], classes.counts[rows], classes.weights[rows], shapes)
