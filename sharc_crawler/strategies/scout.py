"""Which page to visit where it is the turn of one that is expected, but still undiscovered.

A plan counts on virtual pages. Where it is the turn of one that has not been found yet, a page that waits is visited
out of its turn, and loses the interval that it was kept for. Pages that are given up lose nothing. But if hot pages are
the ones with the links, all is found when it is too late: so that page is best which loses least for how likely its
visit is to find something new, as visits to pages of about its rate have done.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.strategies.classes import Classes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Seconds
    from sharc_crawler.strategies.layout import Run

    Column = NDArray[np.float64]

BANDS = 8  #: bands of rates in an octave
NEVER = -1100 * BANDS  #: band of the rate 0: below any other's
TRACE = 1e-9  #: visits that find something, of any rate: where no other did, all are as likely


class Scout:
    """Learns which visits find pages that were not known before.

    >>> from sharc_crawler.model import Plan
    >>> from sharc_crawler.strategies.layout import Run
    >>> scout = Scout()
    >>> for rate, found in ((0.5, 3), (0.5, 0), (0.25, 0)):
    ...     scout.visited(rate)
    ...     scout.found(found)
    >>> classes = Classes(np.array([0.5, 0.25]), np.array([4, 4]), np.ones(2))
    >>> scout.brief(classes, [Run(0, 4, Plan.HOPELESS), Run(1, 4, Plan.HOPEFUL)], 2.0)
    >>> scout.likely.round(3).tolist()  # an octave apart
    [0.497, 0.012]
    """

    def __init__(self) -> None:
        self._visits: Counter[int] = Counter()  # by band of the rate
        self._fruitful: Counter[int] = Counter()  # those that found something
        self._last: int | None = None  # band of the last visit, if it has found nothing yet
        self._bands = np.zeros(0, np.int64)  # of the classes in the plan, and by class:
        self._costs = self._near_visits = self._near_fruitful = np.zeros(0)
        self._nearness: dict[int, Column] = {}  # of a band of visits

    def visited(self, rate: float) -> None:
        """A page of this rate is visited: what is found until the next visit is found on it."""
        self._last = math.floor(math.log2(rate) * BANDS) if rate else NEVER
        self._visits[self._last] += 1
        if len(self._bands):
            self._near_visits += self._near(self._last)

    def found(self, pages: int) -> None:
        """So many pages were not known before."""
        if self._last is None or not pages:
            return
        self._fruitful[self._last] += 1
        if len(self._bands):
            self._near_fruitful += self._near(self._last)
        self._last = None

    def brief(self, classes: Classes, runs: list[Run], width: Seconds) -> None:
        """The plan, over the intervals 0, width, 2 width, ..."""
        with np.errstate(divide="ignore"):
            self._bands = np.floor(np.maximum(np.log2(classes.rates) * BANDS, NEVER)).astype(np.int64)
        self._costs = costs(classes, runs, width)
        self._nearness.clear()
        self._near_visits, self._near_fruitful = self._sum(self._visits), self._sum(self._fruitful)

    @property
    def likely(self) -> Column:
        """How likely a visit to a page of each class finds something new: the share of the visits that did.

        Each counts by how near its page's rate was: 1 in the same band, 1/4 in the next, 1/9 in the one after that.
        """
        likely: Column = self._near_fruitful / self._near_visits
        return likely

    def choose(self) -> int | None:
        """The class whose page loses least for how likely its visit is to find something new; None: none is left."""
        best = int((self._costs / self.likely).argmin())
        return best if self._costs[best] < math.inf else None

    def spent(self, row: int) -> None:
        """No page of this class waits."""
        self._costs[row] = math.inf

    def _near(self, band: int) -> Column:
        found = self._nearness.get(band)
        if found is None:
            found = self._nearness[band] = _nearness(self._bands, band)
        return found

    def _sum(self, visits: Counter[int]) -> Column:
        bands, numbers = np.array([*visits], np.int64), np.array([*visits.values()], np.float64)
        total: Column = _nearness(self._bands[:, None], bands) @ numbers + TRACE
        return total


def _nearness(bands: NDArray[np.int64], others: NDArray[np.int64] | int) -> Column:
    """How much visits to pages of other bands tell of pages of these."""
    nearness: Column = 1.0 / (1.0 + np.abs(bands - others)) ** 2
    return nearness


def costs(classes: Classes, runs: list[Run], width: Seconds) -> Column:
    """By class, what a plan loses if the class's next page takes the longest interval, and all before it move up."""
    rows, pages = np.array([run.row for run in runs]), np.array([run.pages for run in runs])
    ends = np.cumsum(pages)
    longest, shortest = (ends[-1] - 1 - (ends - pages)) * width, (ends[-1] - ends) * width
    places = np.stack([longest, np.maximum(shortest - width, 0), np.full(len(rows), longest[0])], axis=1)
    values = np.exp(_of(classes, rows).log_values(places))
    moved = np.cumsum(values[:, 1] - values[:, 0])  # the sum over a run's pages telescopes
    lost = values[:, 0] - values[:, 2] - np.concatenate([[0.0], moved[:-1]])
    found: Column = np.zeros(len(classes))
    found[rows[::-1]] = np.maximum(lost, 0)[::-1]  # the first run of each class
    return found


def _of(classes: Classes, rows: NDArray[np.int64]) -> Classes:
    shapes = None if classes.shapes is None else classes.shapes[rows]
    return Classes(classes.rates[rows], classes.counts[rows], classes.weights[rows], shapes)
