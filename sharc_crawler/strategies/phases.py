"""Two phases: all first visits, then all revisits, in the same order (fifo) or the reverse (lifo)."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Sequence

from sharc_crawler.errors import StateError, unknown_name
from sharc_crawler.model import Instant, PageId, Plan, Slot, Visit
from sharc_crawler.strategies.base import Candidates, Setting, Strategy

REVISITS = ("none", "fifo", "lifo")
HOPEFUL, _HOPELESS, _ONLY, _SECOND = Plan.HOPEFUL, Plan.HOPELESS, Slot.ONLY, Slot.SECOND  # local names are faster
HOPELESS, TWICE = 1, 2  # flags of visited pages


class PhasedStrategy(Strategy):
    """Base of strategies that order first visits; revisits follow in the same order (fifo) or the reverse (lifo).

    A subclass keeps the waiting pages and says which is next. Revisits wait until every first visit is finished, since
    each may bring links. With ``apex``, the last page is downloaded once, between the two phases: the pyramid's
    interval of length zero.
    """

    def __init__(self, setting: Setting, revisits: str, *, apex: bool = False) -> None:
        if revisits not in REVISITS:
            raise unknown_name("revisits", revisits, REVISITS)
        super().__init__(setting)
        self.revisits = revisits != "none"
        self.accepts_late = not self.revisits
        self._last_first = revisits == "lifo"
        self._apex = apex
        self.now: Instant = setting.start  # time of the current decision
        self._visited = array("q")  # pages in the order of visits
        self._marks = bytearray()  # flags of each visited page
        self._in_flight: set[PageId] = set()  # first visits under way
        self._closed: set[PageId] = set()  # visited pages not to be revisited (any more)
        self._only: PageId | None = None  # the page handed out in slot ONLY, as the last one known
        self._revisited = 0  # visited pages that had their turn in the second phase
        self._owed = 0  # revisits still to come

    @abstractmethod
    def _put(self, candidates: Candidates) -> None:
        """Add waiting pages."""

    @abstractmethod
    def _take(self) -> tuple[PageId, Plan]:
        """Remove and return the waiting page to visit next (there is one)."""

    @abstractmethod
    def _discard(self, page: PageId) -> bool:
        """Remove a waiting page; return ``False`` if it does not wait."""

    @abstractmethod
    def _waiting(self) -> int:
        """Return the number of waiting pages."""

    @property
    def visits(self) -> int:
        """The number of first visits handed out."""
        return len(self._visited)

    def add(self, candidates: Candidates) -> None:
        """Add pages that wait for their first visit."""
        if self._revisited and len(candidates) and not self.accepts_late:
            raise StateError(f"page {candidates.pages[0]} was added after the first revisit")
        self._put(candidates)

    def next(self, now: Instant) -> Visit | None:
        """Return the next first visit; once all are finished, the next revisit."""
        self.now = now
        if self._waiting():
            return self._first()
        if self._in_flight or not self.revisits:
            return None
        return self._second()

    def _twice(self, slot: Slot) -> bool:  # noqa: ARG002 - a subclass may give single slots
        """Has a page visited in this slot a second one? The apex has as long as pages may follow it."""
        return self.revisits

    def _first(self) -> Visit:
        page, plan = self._take()
        self._made(page, plan, self.revisits)
        self._in_flight.add(page)
        if not self.revisits:
            self.past_reference = self.past_reference or self._past_middle()
            return Visit(page, _ONLY, plan)
        last = not self._waiting() and len(self._in_flight) == 1  # another one in flight may be retried later
        self._only = page if self._apex and last else None
        return Visit(page, Slot.FIRST if self._only is None else Slot.ONLY, plan)

    def _made(self, page: PageId, plan: Plan, twice: bool) -> None:
        self._visited.append(page)
        self._marks.append(TWICE * twice | HOPELESS * (plan is _HOPELESS))
        self._owed += twice

    def _past_middle(self) -> bool:
        """Are half of all single visits made? T lies there."""
        return 2 * len(self._visited) > self.setting.size and len(self._visited) > self._waiting()

    def _second(self) -> Visit | None:
        while self._revisited < len(self._visited) and self._owed > (self._only is not None):
            page, mark = self._turn()
            if mark & TWICE and page not in self._closed and page != self._only:
                return self._revisit(page, mark)
        return None

    def _ahead(self) -> list[PageId]:
        """Return the revisits, in order, unless one was handed out or visits are to come."""
        if not self.revisits or self._revisited or self._waiting() or self._in_flight:
            return []
        pages = [
            page
            for page, mark in zip(self._visited, self._marks, strict=True)
            if mark & TWICE and page not in self._closed and page != self._only
        ]
        return pages[::-1] if self._last_first else pages

    def reorder(self, pages: Sequence[PageId]) -> None:
        """Revisit these pages in this order."""
        marks = dict(zip(self._visited, self._marks, strict=True))
        ordered = pages[::-1] if self._last_first else pages
        self._visited = array("q", ordered)
        self._marks = bytearray(marks[page] for page in ordered)

    def _turn(self) -> tuple[PageId, int]:
        """Return the next visited page of the second phase, and its flags."""
        at = len(self._visited) - 1 - self._revisited if self._last_first else self._revisited
        self._revisited += 1
        return self._visited[at], self._marks[at]

    def _revisit(self, page: PageId, mark: int) -> Visit:
        self._owed -= 1
        self.past_reference = True
        return Visit(page, Slot.SECOND, Plan.HOPELESS if mark & HOPELESS else Plan.HOPEFUL)

    def revisit_after_all(self, page: PageId) -> bool:
        """Agree to revisit the apex like any other page: T then lies behind it."""
        if page == self._only:
            self._only = None
        return self._apex

    def finished(self, visit: Visit, captured: bool) -> None:
        """Enter the end of a visit, handed out here or made before a restart."""
        page = visit.page
        if visit.slot is _SECOND:
            if not self._revisited:  # finished before a restart
                self.past_reference = True
                self._close(page, twice=True)
            return
        if page in self._in_flight:
            self._in_flight.remove(page)
        elif self._discard(page):  # finished before a restart
            self._made(page, visit.plan, self._twice(visit.slot))
            self._only = page if self._apex and visit.slot is Slot.ONLY else None
        else:
            raise StateError(f"page {page} is finished, but was neither handed out nor does it wait")
        if not captured:
            self._close(page, self._twice(visit.slot))

    def _close(self, page: PageId, twice: bool) -> None:
        self._closed.add(page)
        self._owed -= twice
        if page == self._only:
            self._only = None

    def __len__(self) -> int:
        waiting = self._waiting()
        if not self.revisits:
            return waiting
        return self._owed + 2 * waiting - (self._apex and (waiting > 0 or self._only is not None))
