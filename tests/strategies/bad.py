"""Strategies that break their port's contract, each in its way, after some good visits."""

from __future__ import annotations

from asyncio import CancelledError
from itertools import repeat
from typing import TYPE_CHECKING, Any

from sharc_crawler.model import Slot, Visit
from sharc_crawler.strategies.base import Strategy

if TYPE_CHECKING:
    from sharc_crawler.model import Instant, PageId
    from sharc_crawler.strategies.base import Candidates, Setting

GOOD = 3  #: visits before the first bad one


class Good(Strategy):
    """First visits in the order of discovery, then revisits in the same."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.waiting: list[PageId] = []
        self.visited: list[PageId] = []
        self.open: set[PageId] = set()
        self.made = 0

    def add(self, candidates: Candidates) -> None:
        self.waiting += candidates.pages.tolist()

    def next(self, now: Instant) -> Visit | None:
        self.made += 1
        if self.made > GOOD and self.waiting and (bad := self.bad()) is not None:
            return bad
        if self.waiting:
            page = self.waiting.pop(0)
            self.open.add(page)
            return Visit(page, Slot.FIRST)
        if self.open or not self.visited:
            return None
        return Visit(self.visited.pop(0), Slot.SECOND)

    def bad(self) -> Visit | None:
        """What it should not decide; None: nothing bad (yet)."""
        return None

    def finished(self, visit: Visit, captured: bool) -> None:
        if visit.page in self.waiting:  # made before a restart
            self.waiting.remove(visit.page)
        self.open.discard(visit.page)
        if visit.slot is Slot.FIRST and captured:
            self.visited.append(visit.page)
        elif visit.page in self.visited:
            self.visited.remove(visit.page)

    def reprice(self, page: PageId, rate: float) -> None:
        pass

    def __len__(self) -> int:
        return 2 * len(self.waiting) + len(self.visited)


class Early(Good):
    """Revisits before all first visits are over."""

    def bad(self) -> Visit | None:
        return Visit(self.visited.pop(0), Slot.SECOND) if self.visited else None


class InFlight(Good):
    """Revisits as soon as nothing waits, whatever is under way (which shows where requests overlap)."""

    def next(self, now: Instant) -> Visit | None:
        if not self.waiting and self.open and self.visited:
            return Visit(self.visited.pop(0), Slot.SECOND)
        return super().next(now)


class Twice(Good):
    """Hands a first visit out again."""

    def bad(self) -> Visit | None:
        return Visit(self.visited[0], Slot.FIRST) if self.visited else None


class ThreeTimes(Good):
    """Hands a revisit out again."""

    def next(self, now: Instant) -> Visit | None:
        visit = super().next(now)
        if visit and visit.slot is Slot.SECOND:
            self.again = getattr(self, "again", visit)
            return self.again
        return visit


class Never(Good):
    """Says that nothing is left, and pages wait."""

    def next(self, now: Instant) -> Visit | None:
        return None if self.made >= GOOD else super().next(now)


class NeverAgain(Good):
    """Says that nothing is left before the revisits."""

    def next(self, now: Instant) -> Visit | None:
        return super().next(now) if self.waiting else None


class Foreign(Good):
    """Hands out a page that it was not given."""

    def bad(self) -> Visit | None:
        return Visit(1_000_000, Slot.FIRST)


class Negative(Good):
    """Hands out a page number that no page has."""

    def bad(self) -> Visit | None:
        return Visit(-1, Slot.FIRST)


class Once(Good):
    """Makes single visits, and hands out first ones of two."""

    revisits = False


class Lonely(Good):
    """Gives a page its only visit while others wait."""

    def bad(self) -> Visit | None:
        return Visit(self.waiting.pop(0), Slot.ONLY) if len(self.waiting) > 1 else None


class Late(Good):
    """Goes on with first visits after its first revisit."""

    def next(self, now: Instant) -> Visit | None:
        visit = super().next(now)
        if visit and visit.slot is Slot.SECOND and not self.past_reference:
            self.past_reference = True
            self.kept = visit
        elif visit and visit.slot is Slot.SECOND:
            return Visit(self.kept.page, Slot.FIRST)
        return visit


class NoVisit(Good):
    """Answers with a number."""

    def bad(self) -> Visit | None:
        return self.waiting.pop(0)  # type: ignore[return-value]


class Raising(Good):
    """Raises when it is asked."""

    def bad(self) -> Visit | None:
        raise KeyError("no such page")


class RaisingWhenTold(Good):
    """Raises when it is told of an end."""

    def finished(self, visit: Visit, captured: bool) -> None:
        super().finished(visit, captured)
        if len(self.visited) >= GOOD:
            raise ZeroDivisionError("division by zero")


class RaisingWhenGiven(Good):
    """Raises when it is given pages."""

    def add(self, candidates: Candidates) -> None:
        super().add(candidates)
        if self.made >= GOOD:
            raise RuntimeError("too many pages")


class Overwhelmed(Good):
    """Raises when it is given more pages than it likes: on a large site, and on no small one."""

    MOST = 30

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.given = 0

    def add(self, candidates: Candidates) -> None:
        super().add(candidates)
        self.given += len(candidates)
        if self.given > self.MOST and self.made >= GOOD:
            raise RuntimeError("too many pages")


class Ahead(Good):
    """Names revisits ahead that are none."""

    def revisits_ahead(self) -> list[PageId]:
        return [1_000_000]


class AheadTwice(Good):
    """Names a revisit ahead twice."""

    def revisits_ahead(self) -> list[PageId]:
        return [] if self.waiting or self.open or not self.visited else [self.visited[0]] * 2


class AheadWords(Good):
    """Names no pages, but words."""

    def revisits_ahead(self) -> Any:
        return ["1"]


class AheadForEver(Good):
    """Names the same revisit ahead, without end."""

    def revisits_ahead(self) -> Any:
        return repeat(1)


class AheadNothing(Good):
    """Names nothing, which is no list."""

    def revisits_ahead(self) -> Any:
        return None


class Exiting(Good):
    """Ends the process, as it thinks."""

    def bad(self) -> Visit | None:
        raise SystemExit(0)


class Cancelled(Good):
    """Raises what asyncio cancels tasks by, which is no Exception."""

    def bad(self) -> Visit | None:
        raise CancelledError


class BeyondExceptions(Good):
    """Raises what is no Exception, of its own."""

    def bad(self) -> Visit | None:
        class EndOfAllError(BaseException):
            pass

        raise EndOfAllError("over")


class WithoutWords(Good):
    """Raises what cannot be told."""

    def bad(self) -> Visit | None:
        class UnsayableError(Exception):
            def __str__(self) -> str:
                raise ValueError("no words")

        raise UnsayableError


class Unprintable(Good):
    """Decides what cannot be told."""

    def bad(self) -> Any:
        class Nothing:
            def __repr__(self) -> str:
                raise ValueError("no words")

        return Nothing()


class Verbose(Good):
    """Raises more than anybody reads."""

    def bad(self) -> Visit | None:
        raise ValueError("no " * 100_000 + "end")


class Unwilling(Good):
    """Takes no pace."""

    ready = False

    @property
    def setting(self) -> Setting:
        return self.given

    @setting.setter
    def setting(self, setting: Setting) -> None:
        if self.ready:
            raise ValueError("mine")
        self.given, self.ready = setting, True


class PastAsking(Good):
    """Raises when it is asked whether T has passed."""

    attests = True

    @property
    def past_reference(self) -> bool:
        raise ValueError("when?")

    @past_reference.setter
    def past_reference(self, value: bool) -> None:
        pass


#: each with what the error says of it
BAD = {
    Early: "a revisit comes after all first visits",
    Twice: r"visited once in each slot \(page \d+ in slot 'first', which is 'DUE' there\)",
    ThreeTimes: r"page \d+ in slot 'second', which is '(IN_SECOND|OVER)' there",
    Never: r"it says that nothing is left, and page \d+ was never handed out",
    NeverAgain: r"it says that nothing is left, and page \d+ was never revisited",
    Foreign: "page 1000000 in slot 'first', which is 'NOT_GIVEN' there",
    Negative: "page -1 in slot 'first', which is 'NOT_GIVEN' there",
    Once: "it makes single visits",
    Lonely: "only the last page may be visited once",
    Late: r"page \d+ in slot 'first', which is '(IN_SECOND|OVER)' there",
    NoVisit: r"it decided \d+, which is no Visit",
    Raising: r"it raised KeyError: 'no such page' \(bad.py, line \d+\) when it was asked for the next visit",
    RaisingWhenTold: r"it raised ZeroDivisionError: .* \(bad.py, line \d+\) when it was told of the end of",
    RaisingWhenGiven: r"it raised RuntimeError: too many pages \(bad.py, line \d+\) when it was given",
    Ahead: "it names the page among its revisits ahead",
    AheadTwice: "it names a page twice among its revisits ahead",
    AheadWords: "it says that its revisits ahead are list, which is no list of pages",
    AheadForEver: "it says that its revisits ahead are repeat, which is no list of pages",
    AheadNothing: "it says that its revisits ahead are NoneType, which is no list of pages",
    Exiting: r"it raised SystemExit: 0 \(bad.py, line \d+\) when it was asked for the next visit",
    Cancelled: r"it raised CancelledError: +\(bad.py, line \d+\) when it was asked for the next visit",
    BeyondExceptions: r"it raised EndOfAllError: over \(bad.py, line \d+\) when it was asked for the next visit",
    WithoutWords: r"it raised UnsayableError: a UnsayableError without words \(bad.py, line \d+\) when",
    Unprintable: "it decided a Nothing without words, which is no Visit",
    Verbose: r"it raised ValueError: (no ){100} \(bad.py, line \d+\) when",
    Unwilling: r"it raised ValueError: mine \(bad.py, line \d+\) when it was told its pace",
    PastAsking: r"it raised ValueError: when\? \(bad.py, line \d+\) when it was asked whether T has passed",
}
