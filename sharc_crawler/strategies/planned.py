"""Waiting pages in the order of a plan that is made anew as the site is being discovered."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from heapq import heapify, heappop, heappush, heapreplace
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sharc_crawler.model import PageId, Plan, Seconds
from sharc_crawler.strategies.classes import Classes, Run
from sharc_crawler.strategies.waiting import WaitingClass, WaitingPages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.strategies.base import Candidates
    from sharc_crawler.strategies.scout import Scout

CLASSES = 512  #: exact up to here; then rates are binned to 1 % or more
MANY = 1_000  #: pages that begin to wait at once, from which on they do so class by class
NEWS = 0.01  #: share of the remaining slots after which a plan is made anew


class TakenPage(NamedTuple):
    """A page that waits no longer."""

    page: PageId
    plan: Plan
    source: WaitingClass


class _Line:
    """A class in the plan: its runs, and how many pages the one under way still takes."""

    __slots__ = ("left", "queued", "runs", "serial", "source")

    def __init__(self, serial: int, source: WaitingClass, runs: list[tuple[int, Run]]) -> None:
        self.serial = serial
        self.source = source
        self.runs = runs  # with their places in the plan, the next one last
        self.left = runs[-1][1].pages
        self.queued = True

    @property
    def place(self) -> int:
        return self.runs[-1][0]

    def take(self) -> Plan:
        """What the plan expects of the next page. The last run takes all that come beyond the plan."""
        plan = self.runs[-1][1].plan
        self.left -= 1
        if self.left <= 0 and len(self.runs) > 1:
            self.runs.pop()
            self.left = self.runs[-1][1].pages
        return plan


class PlannedPages:
    """Pages that wait, real ones known and *virtual* ones for what is still undiscovered, in the order of one plan.

    Real pages are taken in the order of the plan, or, while pages are missing and there is a scout, in the order in
    which it names them by that plan; what is planned for a virtual page waits until it is found. The plan is made anew
    when discoveries, or visits while pages are missing, exceed 1 % of the slots left, and when Δ is another: offline,
    where everything is known at the start, it is made once.

    Parameters
    ----------
    plan: lays classes (hottest first) over the slots left; runs in the order of the visits
    prior: rates that undiscovered pages are drawn from; none: as the known
    attested_apart: attested pages are classes of their own

    """

    def __init__(
        self,
        plan: Callable[[Classes], list[Run]],
        prior: tuple[float, ...],
        *,
        attested_apart: bool = False,
    ) -> None:
        self.plan = plan
        #: names the pages to be visited while others are missing; the plan is then one over the intervals 0, 2Δ, 4Δ,
        #: ... of pages that are judged by bytes
        self.scout: Scout | None = None
        self.bounded = False  #: not all that wait may have a visit
        self.strict = False  #: runs take no more pages than planned; any page may follow when all are spent
        self._prior = [WaitingClass(rate, 1.0, math.inf, attested=False, number=0) for rate in prior]
        self._attested_apart = attested_apart
        self._errands: list[PageId] = []  # named by the scout, the next one last
        self._rows_of: dict[WaitingClass, int] = {}  # of the plan that they were named by
        self._pages = WaitingPages(CLASSES)
        self._lines: dict[WaitingClass, _Line] = {}
        self._heap: list[tuple[int, int, _Line]] = []  # by place; some have no waiting page any more
        self._serial = count()  # of lines: breaks ties in the heap
        self._news = 0  # what the plan does not know of
        self._basis = (math.nan, math.nan)  # Δ and width of the classes that the plan is made for; nan: no plan

    def __len__(self) -> int:
        return len(self._pages)

    def put(self, candidates: Candidates) -> None:
        """Pages begin to wait."""
        columns = (candidates.pages, candidates.rates, candidates.weights, candidates.shapes, candidates.attested)
        if len(candidates) >= MANY and not self._lines:
            from sharc_crawler.strategies.waiting_many import put_all  # few sites name so many at once

            put_all(self._pages, candidates, candidates.attested & self._attested_apart)
        else:
            for page, rate, weight, shape, attested in zip(*(column.tolist() for column in columns), strict=True):
                self._joined(self._pages.put(page, rate, weight, shape, attested and self._attested_apart))
        if self.scout is not None:
            self.scout.found(len(candidates))

    def reprice(self, page: PageId, rate: float) -> None:
        """Another rate for a page, if it waits."""
        if (source := self._pages.reprice(page, rate)) is not None:
            self._joined(source)

    def discard(self, page: PageId) -> WaitingClass | None:
        """A page waits no longer; its class, or None where it did not wait."""
        return self._pages.discard(page)

    def take(self, missing: int, step: Seconds) -> TakenPage:
        """The page (there is one) to visit next, while so many pages are missing: expected, but undiscovered."""
        scouting = self.scout is not None and missing > 0
        stale = self._basis != (step, self._pages.width) or scouting != bool(self._errands)
        if stale or self._news > NEWS * (len(self) + missing):
            self._replan(missing, step)
            self._basis = (step, self._pages.width)
        self._news += bool(missing)
        taken = self._errand() or self._in_turn(missing)
        if self.scout is not None:
            self.scout.visited(taken.page, taken.source.rate)
        return taken

    def _errand(self) -> TakenPage | None:
        """The next page that the scout has named, if it still waits: it gives up the interval that it was kept for."""
        while self.scout is not None and self._errands:
            page = self._errands.pop()
            if (source := self._pages.discard(page)) is not None:
                given_up = source not in self._rows_of or self.scout.gives_up(self._rows_of[source])
                return TakenPage(page, Plan.HOPELESS if given_up else Plan.HOPEFUL, source)
        return None

    def _in_turn(self, missing: int) -> TakenPage:
        line = self._first()
        if line is None:
            source, plan = self._pages.at(0), Plan.HOPEFUL
            return TakenPage(self._pages.pop(source), plan, source)
        place, plan = line.place, line.take()
        if line.place != place:
            heapreplace(self._heap, (line.place, line.serial, line))
        # Of pages alike, those found first are what others link to and change more than we know: where all is known
        # and fits, they are kept for the shortest intervals. While pages are missing they come first, to find these.
        newest = plan is Plan.HOPEFUL and not missing and not self.bounded
        return TakenPage(self._pages.pop(line.source, newest), plan, line.source)

    def _first(self) -> _Line | None:
        """The first line in the plan with a waiting page; those without leave the heap."""
        while self._heap:
            line = self._heap[0][2]
            if line.source.waiting and (line.left > 0 or not self.strict):
                return line
            heappop(self._heap)
            line.queued = False
        return None

    def _joined(self, source: WaitingClass) -> None:
        """A page has come to wait in this class: until the next plan, it follows the present one."""
        self._news += 1
        if self._basis[1] != self._pages.width:  # or there is none
            return
        line = self._lines.get(source) or self._append(source)
        if not line.queued:
            line.queued = True
            heappush(self._heap, (line.place, line.serial, line))

    def _append(self, source: WaitingClass) -> _Line:
        """A class that the plan does not know joins the last run of the one nearest in heat."""
        nearest = min(self._lines, key=lambda one: abs(one.heat - source.heat))
        line = self._lines[source] = _Line(next(self._serial), source, self._lines[nearest].runs[:1])
        line.queued = False
        return line

    def _replan(self, missing: int, step: Seconds) -> None:
        rows = self._rows(missing)
        classes = _classes(rows)
        plan = self.plan(classes)
        runs: dict[int, list[tuple[int, Run]]] = defaultdict(list)
        for place, run in enumerate(plan):
            runs[run.row].append((place, run))
        self._lines = {rows[row][0]: _Line(next(self._serial), rows[row][0], own[::-1]) for row, own in runs.items()}
        self._heap = [(line.place, line.serial, line) for line in self._lines.values()]
        heapify(self._heap)
        self._news = 0
        self._errands = []
        if self.scout is not None and missing:
            self.scout.brief(classes, plan, 2 * step)
            self._errands = self._named(self.scout, [source for source, _ in rows], missing)

    def _named(self, scout: Scout, planned: list[WaitingClass], missing: int) -> list[PageId]:
        """As many errands as visits are made under one plan."""
        self._rows_of = {source: row for row, source in enumerate(planned)}
        pages, classes = self._pages.waiting()
        row_of = np.zeros(int(classes.max()) + 1, np.int64)
        for source, row in self._rows_of.items():
            if source.waiting:
                row_of[source.number] = row
        return scout.errands(pages, row_of[classes], 1 + int(NEWS * (len(self) + missing)))[::-1]

    def _rows(self, missing: int) -> list[tuple[WaitingClass, int]]:
        """Classes to plan and their pages, hottest first: those that wait, and as many virtual ones as are missing."""
        classes = self._pages.classes
        counts = np.array([one.waiting for one in classes])
        if self._prior:
            counts = np.concatenate([counts, apportion(missing, np.ones(len(self._prior)))])
        else:
            counts += apportion(missing, np.array([one.known for one in classes]))
        rows = zip([*classes, *self._prior], counts.tolist(), strict=True)
        return sorted((row for row in rows if row[1]), key=lambda row: -row[0].heat)


def _classes(rows: list[tuple[WaitingClass, int]]) -> Classes:
    shapes = np.array([one.shape for one, _ in rows])
    return Classes(
        np.array([one.rate for one, _ in rows]),
        np.array([pages for _, pages in rows], np.int64),
        np.array([one.weight for one, _ in rows]),
        None if np.isinf(shapes).all() else shapes,
        np.array([one.attested for one, _ in rows]),
    )


def apportion(total: int, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """A number of pages in proportion to shares, in whole pages.

    >>> apportion(5, np.array([1.0, 1.0]))
    array([2, 3])
    """
    edges: NDArray[np.int64] = np.rint(np.cumsum(shares) * (total / shares.sum())).astype(np.int64)
    return np.diff(edges, prepend=0)
