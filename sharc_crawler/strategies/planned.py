"""Waiting pages in the order of a plan that is remade as the site is being discovered."""

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

CLASSES = 512  #: maximum of exact classes; beyond, rates are binned by 1 % or more
MANY = 1_000  #: pages added at once from which they are added class by class
NEWS = 0.01  #: news, as a share of the remaining slots, after which a plan is remade


class TakenPage(NamedTuple):
    """A page taken for its visit."""

    page: PageId
    plan: Plan
    source: WaitingClass


class _Line:
    """A class in the plan: its runs, and how many pages the current one still takes."""

    __slots__ = ("left", "queued", "runs", "serial", "source")

    def __init__(self, serial: int, source: WaitingClass, runs: list[tuple[int, Run]]) -> None:
        self.serial = serial
        self.source = source
        self.runs = runs  # each with its place in the plan, the next one last
        self.left = runs[-1][1].pages
        self.queued = True

    @property
    def place(self) -> int:
        return self.runs[-1][0]

    def take(self) -> Plan:
        """Take a page from the current run; return its plan. The last run takes all pages beyond the plan."""
        plan = self.runs[-1][1].plan
        self.left -= 1
        if self.left <= 0 and len(self.runs) > 1:
            self.runs.pop()
            self.left = self.runs[-1][1].pages
        return plan


class PlannedPages:
    """Waiting pages in the order of one plan: real ones, and *virtual* ones that stand for undiscovered pages.

    Real pages are taken in the order of the plan; while pages are missing, a scout may name others first. The slot of a
    virtual page waits until a page for it is found. The plan is remade when Δ changes, or when discoveries, and visits
    while pages are missing, exceed 1 % of the slots left. Offline, with all pages known at the start, it is made once.

    Parameters
    ----------
    plan: assigns classes (hottest first) to the slots left; returns runs in the order of visits
    prior: quantiles of the rates of undiscovered pages; empty: as of known pages
    attested_apart: put attested pages into classes of their own

    """

    def __init__(
        self,
        plan: Callable[[Classes], list[Run]],
        prior: tuple[float, ...],
        *,
        attested_apart: bool = False,
    ) -> None:
        self.plan = plan
        #: names the pages to visit while others are missing; the plan must then use the intervals 0, 2Δ, 4Δ, ...
        self.scout: Scout | None = None
        self.bounded = False  #: there may not be a visit for every page
        self.strict = False  #: runs take no more pages than planned; any page may follow when all are used up
        self._prior = [WaitingClass(rate, 1.0, math.inf, attested=False, number=0) for rate in prior]
        self._attested_apart = attested_apart
        self._errands: list[PageId] = []  # pages named by the scout, the next one last
        self._rows_of: dict[WaitingClass, int] = {}  # row of each class in the current plan
        self._pages = WaitingPages(CLASSES)
        self._lines: dict[WaitingClass, _Line] = {}
        self._heap: list[tuple[int, int, _Line]] = []  # by place; some lines have no waiting page any more
        self._serial = count()  # breaks ties in the heap
        self._news = 0  # discoveries and visits since the plan was made
        self._basis = (math.nan, math.nan)  # Δ and bins' width that the plan is made for; nan: no plan

    def __len__(self) -> int:
        return len(self._pages)

    def put(self, candidates: Candidates) -> None:
        """Add waiting pages."""
        columns = (candidates.pages, candidates.rates, candidates.weights, candidates.shapes, candidates.attested)
        if len(candidates) >= MANY and not self._lines:
            from sharc_crawler.strategies.waiting_many import put_all  # rare

            put_all(self._pages, candidates, candidates.attested & self._attested_apart)
        else:
            for page, rate, weight, shape, attested in zip(*(column.tolist() for column in columns), strict=True):
                self._joined(self._pages.put(page, rate, weight, shape, attested and self._attested_apart))
        if self.scout is not None:
            self.scout.found(len(candidates))

    def reprice(self, page: PageId, rate: float) -> None:
        """Change the rate of a page, if it waits."""
        if (source := self._pages.reprice(page, rate)) is not None:
            self._joined(source)

    def discard(self, page: PageId) -> WaitingClass | None:
        """Remove a waiting page; return its class, or ``None`` if it does not wait."""
        return self._pages.discard(page)

    def take(self, missing: int, step: Seconds) -> TakenPage:
        """Remove and return the next page (there is one); ``missing``: pages expected but undiscovered."""
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
        """Return the next waiting page that the scout named; it leaves the slot planned for it."""
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
        # Of similar pages, those found first are linked most and change more than estimated. If all pages are known and
        # fit, they get the shortest intervals. While pages are missing, they come first, to find these.
        newest = plan is Plan.HOPEFUL and not missing and not self.bounded
        return TakenPage(self._pages.pop(line.source, newest), plan, line.source)

    def _first(self) -> _Line | None:
        """Return the first line of the plan with a waiting page; drop those without."""
        while self._heap:
            line = self._heap[0][2]
            if line.source.waiting and (line.left > 0 or not self.strict):
                return line
            heappop(self._heap)
            line.queued = False
        return None

    def _joined(self, source: WaitingClass) -> None:
        """A page has joined this class: give it a place in the current plan."""
        self._news += 1
        if self._basis[1] != self._pages.width:  # or there is none
            return
        line = self._lines.get(source) or self._append(source)
        if not line.queued:
            line.queued = True
            heappush(self._heap, (line.place, line.serial, line))

    def _append(self, source: WaitingClass) -> _Line:
        """Add a class unknown to the plan to the last run of the class nearest in heat."""
        nearest = min(self._lines, key=lambda known: abs(known.heat - source.heat))
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
        """Let the scout name as many pages as are visited under one plan."""
        self._rows_of = {source: row for row, source in enumerate(planned)}
        pages, classes = self._pages.waiting()
        row_of = np.zeros(int(classes.max()) + 1, np.int64)
        for source, row in self._rows_of.items():
            if source.waiting:
                row_of[source.number] = row
        return scout.errands(pages, row_of[classes], 1 + int(NEWS * (len(self) + missing)))[::-1]

    def _rows(self, missing: int) -> list[tuple[WaitingClass, int]]:
        """Return the classes to plan, hottest first, each with the number of its waiting and virtual pages."""
        classes = self._pages.classes
        counts = np.array([known.waiting for known in classes])
        if self._prior:
            counts = np.concatenate([counts, apportion(missing, np.ones(len(self._prior)))])
        else:
            counts += apportion(missing, np.array([known.known for known in classes]))
        rows = zip([*classes, *self._prior], counts.tolist(), strict=True)
        return sorted((row for row in rows if row[1]), key=lambda row: -row[0].heat)


def _classes(rows: list[tuple[WaitingClass, int]]) -> Classes:
    shapes = np.array([source.shape for source, _ in rows])
    return Classes(
        np.array([source.rate for source, _ in rows]),
        np.array([pages for _, pages in rows], np.int64),
        np.array([source.weight for source, _ in rows]),
        None if np.isinf(shapes).all() else shapes,
        np.array([source.attested for source, _ in rows]),
    )


def apportion(total: int, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Divide a number of pages in proportion to shares, in whole pages.

    >>> apportion(5, np.array([1.0, 1.0]))
    array([2, 3])
    """
    edges: NDArray[np.int64] = np.rint(np.cumsum(shares) * (total / shares.sum())).astype(np.int64)
    return np.diff(edges, prepend=0)
