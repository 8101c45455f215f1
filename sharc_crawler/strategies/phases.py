"""Which slot a page is given: all first visits before all second ones, revisits first-in or last-in first."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Sequence

from sharc_crawler.errors import StateError, unknown_name
from sharc_crawler.model import Instant, PageId, Plan, Slot, Visit
from sharc_crawler.strategies.base import Candidates, Setting, Strategy

REVISITS = ("none", "fifo", "lifo")
HOPEFUL, _HOPELESS, _ONLY, _SECOND = Plan.HOPEFUL, Plan.HOPELESS, Slot.ONLY, Slot.SECOND  # looked up once
HOPELESS, TWICE = 1, 2  # marks of visited pages


class PhasedStrategy(Strategy):
    """A strategy that orders first visits; the revisits follow in the same order (fifo) or in the reverse (lifo).

    A subclass keeps the pages that wait for their first visit and says which is next. Revisits wait until every first
    visit is finished, since each may bring links. With ``apex``, the last page is downloaded once, between the two
    phases: the pyramid's interval of length zero.
    """

    def __init__(self, setting: Setting, revisits: str, *, apex: bool = False) -> None:
        if revisits not in REVISITS:
            raise unknown_name("revisits", revisits, REVISITS)
        super().__init__(setting)
        self.revisits = revisits != "none"
        self.accepts_late = not self.revisits
        self._last_first = revisits == "lifo"
        self._apex = apex
        self.now: Instant = setting.start  # of the decision under way
        self._visited = array("q")  # in the order of the visits
        self._marks = bytearray()  # of the visited, one by one
        self._in_flight: set[PageId] = set()  # first visits
        self._closed: set[PageId] = set()  # visited, but with nothing (left) to revisit
        self._only: PageId | None = None  # the page handed out as the last one known
        self._revisited = 0  # how many of the visited have had their turn in the second phase
        self._owed = 0  # second slots of the visited

    @abstractmethod
    def _put(self, candidates: Candidates) -> None:
        """Keep pages that wait for their first visit."""

    @abstractmethod
    def _take(self) -> tuple[PageId, Plan]:
        """Give up the waiting page to visit next (there is one)."""

    @abstractmethod
    def _discard(self, page: PageId) -> bool:
        """Give up this page; False: it does not wait."""

    @abstractmethod
    def _waiting(self) -> int:
        """How many pages wait for their first visit."""

    @property
    def visits(self) -> int:
        """First visits handed out."""
        return len(self._visited)

    def add(self, candidates: Candidates) -> None:
        """Pages wait for their first visit."""
        if self._revisited and len(candidates) and not self.accepts_late:
            raise StateError(f"page {candidates.pages[0]} was added after the first revisit")
        self._put(candidates)

    def next(self, now: Instant) -> Visit | None:
        """The next first visit, else, once all of them are finished, the next revisit."""
        self.now = now
        if self._waiting():
            return self._first()
        if self._in_flight or not self.revisits:
            return None
        return self._second()

    def _twice(self, slot: Slot) -> bool:  # noqa: ARG002 - a subclass may give single slots
        """Whether a page visited in this slot owns a second one. The apex does as long as others may follow it."""
        return self.revisits

    def _first(self) -> Visit:
        page, plan = self._take()
        self._made(page, plan, self.revisits)
        self._in_flight.add(page)
        if not self.revisits:
            self.past_reference = self.past_reference or self._past_middle()
            return Visit(page, _ONLY, plan)
        last = not self._waiting() and len(self._in_flight) == 1  # another in flight may have to be tried again later
        self._only = page if self._apex and last else None
        return Visit(page, Slot.FIRST if self._only is None else Slot.ONLY, plan)

    def _made(self, page: PageId, plan: Plan, twice: bool) -> None:
        self._visited.append(page)
        self._marks.append(TWICE * twice | HOPELESS * (plan is _HOPELESS))
        self._owed += twice

    def _past_middle(self) -> bool:
        """Single visits: T is when half of them are made."""
        visits = self.visits
        return 2 * visits > max(self.setting.size, visits + self._waiting())

    def _second(self) -> Visit | None:
        while self._revisited < len(self._visited) and self._owed > (self._only is not None):
            page, mark = self._turn()
            if mark & TWICE and page not in self._closed and page != self._only:
                return self._revisit(page, mark)
        return None

    def _ahead(self) -> list[PageId]:
        """The revisits, in order, as long as none has been handed out and no visit is to come."""
        if not self.revisits or self._revisited or self._waiting() or self._in_flight:
            return []
        pages = [
            page
            for page, mark in zip(self._visited, self._marks, strict=True)
            if mark & TWICE and page not in self._closed and page != self._only
        ]
        return pages[::-1] if self._last_first else pages

    def reorder(self, pages: Sequence[PageId]) -> None:
        """Revisit these pages, in this order."""
        marks = dict(zip(self._visited, self._marks, strict=True))
        ordered = pages[::-1] if self._last_first else pages
        self._visited = array("q", ordered)
        self._marks = bytearray(marks[page] for page in ordered)

    def _turn(self) -> tuple[PageId, int]:
        """The visited page whose turn in the second phase it is, and its mark."""
        at = len(self._visited) - 1 - self._revisited if self._last_first else self._revisited
        self._revisited += 1
        return self._visited[at], self._marks[at]

    def _revisit(self, page: PageId, mark: int) -> Visit:
        self._owed -= 1
        self.past_reference = True
        return Visit(page, Slot.SECOND, Plan.HOPELESS if mark & HOPELESS else Plan.HOPEFUL)

    def revisit_after_all(self, page: PageId) -> bool:
        """The apex is as good as any other page: T lies behind it."""
        if page == self._only:
            self._only = None
        return self._apex

    def finished(self, visit: Visit, captured: bool) -> None:
        """A visit is finished, one that was handed out or one made before a restart."""
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
