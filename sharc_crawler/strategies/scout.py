"""Choose pages to visit while others are expected but undiscovered.

A plan counts on virtual pages. If it is the turn of one not found yet, another waiting page must be visited out of
turn, and loses its planned interval. So pages that lead to undiscovered ones are worth an early visit: not the
coldest page is next, but the one with the least loss per page, counted over itself and the pages it leads to, which are
assumed cold. (This is Horn's rule for jobs that wait for others, SIAM J. Appl. Math. 1972.) A page is expected to
lead to more pages the more links lead to it (hubs are linked to, and link), and the more visits to pages of similar
rate found something, but never to more than are missing. This is scaled by what such costly visits found so far. If
that is little, the coldest page is next.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import PageId, Seconds
from sharc_crawler.strategies.classes import Classes, Run

Column = NDArray[np.float64]

BANDS = 8  #: bands of rates per octave
NEVER = -1100 * BANDS  #: band of rate 0, below all others
ALONE = 0.01  #: links assumed to a page that no document named, such as a seed
FEW = 1024  #: initial size of the table of links
TRACE = 1e-9  #: prior number of visits, all fruitful, at any rate


class Scout:
    """Learns which visits find new pages.

    >>> from sharc_crawler.model import Plan
    >>> from sharc_crawler.strategies.classes import Run
    >>> scout = Scout()
    >>> for rate, found in ((0.5, 3), (0.5, 0), (0.25, 0)):
    ...     scout.visited(0, rate)
    ...     scout.found(found)
    >>> classes = Classes(np.array([0.5, 0.25]), np.array([4, 4]), np.ones(2))
    >>> scout.brief(classes, [Run(0, 4, Plan.HOPELESS), Run(1, 4, Plan.HOPEFUL)], 2.0)
    >>> scout.likely.round(3).tolist()  # an octave apart
    [0.497, 0.012]
    """

    def __init__(self) -> None:
        self._visits: Counter[int] = Counter()  # by band of the rate
        self._fruitful: Counter[int] = Counter()  # visits that found something, by band
        self._last: int | None = None  # band of the last visit, while it has found nothing
        self._bands = np.zeros(0, np.int64)  # of the classes in the plan, and by class:
        self._costs = self._near_visits = self._near_fruitful = np.zeros(0)
        self._unlikely = np.zeros(0, np.bool_)
        self._planned = 0  # pages in the plan
        self._nearness: dict[int, Column] = {}  # of all classes to a band
        self._links = np.zeros(FEW, np.int32)  # links found so far, by target page
        self._errands: dict[PageId, tuple[float, int]] = {}  # named pages with a loss: chances, row
        self._expected = self._brought = 1.0  # pages expected from, and found by, visits with a loss
        self._costly = False  # the last visit had a loss

    def visited(self, page: PageId, rate: float) -> None:
        """Enter a visit to a page of this rate; pages found until the next visit count as found on it."""
        errand = self._errands.pop(page, None)
        self._costly = errand is not None
        if errand is not None:
            chances, row = errand
            self._expected += chances * self._near_fruitful[row] / self._near_visits[row]
        self._last = math.floor(math.log2(rate) * BANDS) if rate else NEVER
        self._visits[self._last] += 1
        if len(self._bands):
            self._near_visits += self._near(self._last)

    def found(self, pages: int) -> None:
        """Enter a number of new pages."""
        self._brought += self._costly * pages
        if self._last is None or not pages:
            return
        self._fruitful[self._last] += 1
        if len(self._bands):
            self._near_fruitful += self._near(self._last)
        self._last = None

    def brief(self, classes: Classes, runs: list[Run], width: Seconds) -> None:
        """Take a new plan, over the intervals 0, width, 2 width, ..."""
        with np.errstate(divide="ignore"):
            self._bands = np.floor(np.maximum(np.log2(classes.rates) * BANDS, NEVER)).astype(np.int64)
        self._costs, self._planned = costs(classes, runs, width), int(classes.counts.sum())
        longest = np.full((len(classes), 1), (classes.counts.sum() - 1) * width)
        self._unlikely = np.exp(classes.log_values(longest)[:, 0]) < classes.weights / 2
        self._nearness.clear()
        near = _nearness(self._bands[:, None], np.array([*self._visits], np.int64))
        visits, fruitful = [*self._visits.values()], [*map(self._fruitful.__getitem__, self._visits)]
        self._near_visits, self._near_fruitful = near @ visits + TRACE, near @ fruitful + TRACE

    @property
    def likely(self) -> Column:
        """The probability, by class, that a visit finds something: the share of visits that did.

        Visits are weighted by the distance of bands: 1 in the same band, 1/4 in the next, 1/9 in the one after that.
        """
        likely: Column = self._near_fruitful / self._near_visits
        return likely

    def linked(self, pages: Sequence[PageId]) -> None:
        """Enter the links of a document."""
        if not pages:
            return
        numbers = np.array(pages, np.int64)
        if (last := int(numbers.max())) >= len(self._links):
            self._links = np.concatenate([self._links, np.zeros(2 * last + 1 - len(self._links), np.int32)])
        self._links[numbers] += 1

    def errands(self, pages: NDArray[np.int64], rows: NDArray[np.int64], most: int) -> list[PageId]:
        """Return up to ``most`` of these pages in the order to visit them: the least loss per page first.

        ``rows``: each page's row in the plan.
        """
        links = self._links[np.minimum(pages, len(self._links) - 1)] * (pages < len(self._links))
        chances = np.minimum(links, self._planned - len(pages)) + ALONE  # at most the missing ones
        promises, losses = chances * self.likely[rows], self._costs[rows]
        brings = promises * (self._brought / self._expected)
        first = np.lexsort((-promises, losses / (1 + brings)))[:most]
        named: list[PageId] = pages[first].tolist()
        columns = zip(named, chances[first].tolist(), rows[first].tolist(), losses[first].tolist(), strict=True)
        self._errands = {page: (chance, row) for page, chance, row, loss in columns if loss}
        return named

    def gives_up(self, row: int) -> bool:
        """Is a page of this row, if visited now, more likely to change than not?"""
        return bool(self._unlikely[row])

    def _near(self, band: int) -> Column:
        found = self._nearness.get(band)
        if found is None:
            found = self._nearness[band] = _nearness(self._bands, band)
        return found


def _nearness(bands: NDArray[np.int64], others: NDArray[np.int64] | int) -> Column:
    """Return the weights of visits in other bands."""
    nearness: Column = 1.0 / (1.0 + np.abs(bands - others)) ** 2
    return nearness


def costs(classes: Classes, runs: list[Run], width: Seconds) -> Column:
    """Return the loss, by class, if the class's next page takes the longest interval and all before it move up."""
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
