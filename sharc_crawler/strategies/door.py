"""The door between frontier and strategy: checks each decision of the strategy.

Strategies may be third-party code, and a capture's claims rest on their decisions: all first visits before all second
ones, no page twice, none left out. A strategy that breaks this contract, or raises, is stopped with an error that names
strategy, page and state. It is not called again, and what was captured so far stays. Each check takes constant time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NoReturn, TypeVar

from sharc_crawler.errors import StrategyError
from sharc_crawler.model import Instant, PageId, Plan, Slot, Visit
from sharc_crawler.plural import counted
from sharc_crawler.strategies.base import Candidates, Setting, Strategy

T = TypeVar("T")


class Standing(IntEnum):
    """State of a page in its strategy."""

    NOT_GIVEN = 0
    WAITING = 1
    IN_FIRST = 2  #: its first visit, of two, is under way
    IN_ONLY = 3
    DUE = 4  #: its second visit is due
    ONCE = 5  #: its only visit is made; a second one may follow if other pages came after it
    IN_SECOND = 6
    OVER = 7


#: legal decisions: (standing, slot) → new standing
DECISIONS: dict[tuple[int, Slot], Standing] = {
    (Standing.WAITING, Slot.FIRST): Standing.IN_FIRST,
    (Standing.WAITING, Slot.ONLY): Standing.IN_ONLY,
    (Standing.DUE, Slot.SECOND): Standing.IN_SECOND,
    (Standing.ONCE, Slot.SECOND): Standing.IN_SECOND,
}
#: local names: looking up an enum's member takes a quarter of a microsecond (Python 3.11), and a decision needs ten
_SECOND, _ONLY, _FIRST = Slot.SECOND, Slot.ONLY, Slot.FIRST
_NOT_GIVEN, _WAITING, _DUE, _OVER = map(int, (Standing.NOT_GIVEN, Standing.WAITING, Standing.DUE, Standing.OVER))
_IN_SECOND = int(Standing.IN_SECOND)
_UNDER_WAY = frozenset({Standing.IN_FIRST, Standing.IN_ONLY, Standing.IN_SECOND})
_AFTER: dict[Slot, int] = {Slot.FIRST: Standing.DUE, Slot.ONLY: Standing.ONCE, Slot.SECOND: Standing.OVER}


class Door:
    """A strategy with checks; ``name``: as the user wrote it.

    >>> from sharc_crawler.strategies.base import Candidates, Setting
    >>> from sharc_crawler.strategies.make import make_strategy
    >>> door = Door(make_strategy("bfs", Setting()), "bfs")
    >>> door.add(Candidates.of([0, 1], [0.1, 0.2]))
    >>> door.next(0.0).slot.value
    'first'
    """

    def __init__(self, strategy: Strategy, name: str) -> None:
        self.strategy = strategy
        self.name = name
        self.stopped: StrategyError | None = None  #: why it was stopped
        self.revisits = strategy.revisits
        self.attests = strategy.attests
        self.accepts_late = strategy.accepts_late  #: may pages still be added after T?
        self._setting = strategy.setting
        self._next = strategy.next  # bound once: faster
        self._finished = strategy.finished
        self._pages = bytearray()  # standing of each page
        self.first_visits_waiting = 0  #: pages not handed out yet
        self._due = 0  # revisits due
        self._firsts = self._seconds = 0  # first and second visits under way
        self._turned = False  # a second visit has been decided, or T is fixed

    @property
    def past_reference(self) -> bool:
        """Has the strategy handed out a visit after T?"""
        try:
            return bool(self.strategy.past_reference)
        except BaseException as error:
            raise self._failed(error, "it was asked whether T has passed") from error

    @property
    def setting(self) -> Setting:
        """What the strategy knows about its capture."""
        return self._setting

    @setting.setter
    def setting(self, setting: Setting) -> None:
        self._setting = setting
        self._ask("it was told its pace", None, setattr, self.strategy, "setting", setting)

    # -- decisions ----------------------------------------------------------------------------------------------

    def next(self, now: Instant) -> Visit | None:
        """Return the strategy's decision; raise :class:`~sharc_crawler.errors.StrategyError` if it is illegal."""
        if self.stopped is not None:
            raise self.stopped
        try:
            visit = self._next(now)
        except BaseException as error:
            raise self._failed(error, "it was asked for the next visit") from error
        if visit is None:
            if (self.first_visits_waiting or self._due) and not self._firsts and not self._seconds:
                from sharc_crawler.strategies.refused import left_out  # rare

                page, why = left_out(self._pages, self.first_visits_waiting)
                self._refuse(why, page)
            return None
        good = type(visit) is Visit and type(visit.page) is int
        if not good or type(visit.slot) is not Slot or type(visit.plan) is not Plan:
            from sharc_crawler.strategies.refused import fault_of, words  # rare

            why = fault_of(visit)
            self._refuse(f"it decided {words(visit)}, which is no Visit(page, slot, plan) and not None: {why}")
        page, slot, pages = visit.page, visit.slot, self._pages
        standing = pages[page] if 0 <= page < len(pages) else _NOT_GIVEN
        then = DECISIONS.get((standing, slot))
        if then is None:
            self._refuse("the page is given to it once, and visited once in each slot", page, slot)
        if slot is not _SECOND:
            if slot is _ONLY or self._turned or not self.revisits:
                self._check_first(page, slot)
            self.first_visits_waiting -= 1
            self._firsts += 1
        else:
            if not self._turned or not self.revisits:
                self._check_second(page)
            self._due -= standing == _DUE
            self._seconds += 1
            self._turned = True
        pages[page] = then
        return visit

    def _check_first(self, page: PageId, slot: Slot) -> None:
        if slot is _FIRST and not self.revisits:
            self._refuse("it makes single visits: there is no second slot to come", page, slot)
        if self._turned and (slot is _FIRST or not self.accepts_late):
            self._refuse("the reference instant has passed: a first visit comes too late", page, slot)
        if self.revisits and slot is _ONLY and not self.attests and (self.first_visits_waiting > 1 or self._firsts):
            self._refuse(f"with revisits only the last page may be visited once; {self._open_firsts(1)}", page, slot)

    def _check_second(self, page: PageId) -> None:
        if not self.revisits:
            self._refuse("it makes single visits: there is no second slot", page, Slot.SECOND)
        if not self._turned and (self._firsts or (self.first_visits_waiting and not self.accepts_late)):
            self._refuse(f"a revisit comes after all first visits; {self._open_firsts()}", page, Slot.SECOND)

    def _open_firsts(self, but: int = 0) -> str:
        return f"{self.first_visits_waiting - but} more pages wait for theirs, {self._firsts} are under way"

    # -- notifications ------------------------------------------------------------------------------------------

    def add(self, candidates: Candidates) -> None:
        """Add discovered pages."""
        numbers = candidates.pages.tolist()
        pages = self._pages
        if (missing := max(numbers, default=-1) + 1 - len(pages)) > 0:
            pages.extend(bytes(missing))
        for page in numbers:
            pages[page] = _WAITING
        self.first_visits_waiting += len(numbers)
        if self.stopped is None:
            try:
                self.strategy.add(candidates)
            except BaseException as error:
                self._failed(error, f"it was given {counted(len(numbers), 'page')}", numbers[0] if numbers else None)

    def finished(self, visit: Visit, captured: bool) -> None:
        """Report the end of a visit, decided here or before a restart."""
        page, slot = visit.page, visit.slot
        standing = self._pages[page]
        if standing == _IN_SECOND:
            self._seconds -= 1
        elif standing in _UNDER_WAY:
            self._firsts -= 1
        elif standing == _WAITING:
            self.first_visits_waiting -= 1
        elif standing == _DUE:
            self._due -= 1
        if slot is _SECOND:
            self._turned = True
        then = _AFTER[slot] if captured and (self.revisits or slot is not _FIRST) else _OVER
        self._due += then == _DUE
        self._pages[page] = then
        if self.stopped is None:
            try:
                self._finished(visit, captured)
            except BaseException as error:
                self._failed(error, f"it was told of the end of {slot.value} visit", page)

    def waits_for(self, page: PageId) -> bool:
        """Is the page known but not handed out yet?"""
        return page < len(self._pages) and self._pages[page] == _WAITING

    def linked(self, pages: Sequence[PageId]) -> None:
        """Report the pages that a document links to."""
        if self.stopped is None:
            try:
                self.strategy.linked(pages)
            except BaseException as error:
                self._failed(error, f"it was told of {counted(len(pages), 'link')}")

    def reprice(self, page: PageId, rate: float) -> None:
        """Change a page's rate."""
        self._ask(f"it was told the rate {rate:g}", page, self.strategy.reprice, page, rate)

    def reference_passed(self) -> None:
        """Note that T is fixed."""
        self._turned = True
        self._ask("it was told that the reference instant has passed", None, self.strategy.reference_passed)

    def revisit_after_all(self, page: PageId) -> bool:
        """Will this page, in slot ``ONLY``, be revisited after all?"""
        when = "it was asked whether it revisits it after all"
        return bool(self._ask(when, page, self.strategy.revisit_after_all, page))

    @property
    def first_visits_left(self) -> int:
        """Known pages whose first visit is to come or under way."""
        return self.first_visits_waiting + self._firsts

    def revisits_ahead(self) -> list[PageId]:
        """Return the revisits to come, if their order may be changed."""
        if self.first_visits_waiting or self._firsts or not self._due or self.stopped is not None:
            return []  # there can be none: do not ask
        try:
            ahead = self.strategy.revisits_ahead()
        except BaseException as error:
            self._failed(error, "it was asked for the revisits ahead")
            return []
        if type(ahead) is not list or ahead:
            self._check_ahead(ahead)
        return ahead

    def _check_ahead(self, ahead: Sequence[PageId]) -> None:
        """Check, once per capture, that all are due and each occurs once."""
        pages = self._pages
        if type(ahead) is not list or not all(type(page) is int for page in ahead):
            self._refuse(f"it says that its revisits ahead are {type(ahead).__name__}, which is no list of pages")
        for page in ahead:
            standing = pages[page] if 0 <= page < len(pages) else Standing.NOT_GIVEN
            if (standing, Slot.SECOND) not in DECISIONS:
                self._refuse("it names the page among its revisits ahead", page, Slot.SECOND)
        if len(set(ahead)) < len(ahead):
            self._refuse("it names a page twice among its revisits ahead")

    def reorder(self, pages: Sequence[PageId]) -> None:
        """Hand out the revisits in this order."""
        self._ask(f"it was given another order of {counted(len(pages), 'revisit')}", None, self.strategy.reorder, pages)

    @property
    def visits_left(self) -> int:
        """Visits still to hand out, as far as known. (Not ``__len__``, which would make an empty strategy false.)"""
        return self._ask("it was asked how many visits are left", None, len, self.strategy) or 0

    def _ask(self, when: str, page: PageId | None, method: Callable[..., T], *about: Any) -> T | None:
        """Call the strategy; return ``None`` if it is, or is now, stopped."""
        if self.stopped is None:
            try:
                return method(*about)
            except BaseException as error:
                self._failed(error, when, page)
        return None

    # -- errors --------------------------------------------------------------------------------------------------

    def _refuse(self, why: str, page: PageId | None = None, slot: Slot | None = None) -> NoReturn:
        """Stop the strategy for an illegal decision."""
        from sharc_crawler.strategies.refused import standing_of  # rare

        where = standing_of(self._pages, page, slot)
        self.stopped = StrategyError(f"strategy={self.name!r} is stopped: {why}{where}")
        raise self.stopped

    def _failed(self, error: BaseException, when: str, page: PageId | None = None) -> StrategyError:
        """Stop the strategy after an exception, which its next decision raises; pass on Ctrl-C."""
        from sharc_crawler.strategies.refused import raised, standing_of  # rare

        where = standing_of(self._pages, page, None)
        self.stopped = StrategyError(f"strategy={self.name!r} is stopped: {raised(error)} when {when}{where}")
        return self.stopped
