"""The order of a crawl that was, as a strategy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from sharc_crawler.live.former.decided import DecidedExchange, key_of
from sharc_crawler.model import Instant, PageId, Slot, Visit
from sharc_crawler.strategies.base import Candidates, Setting, Strategy

if TYPE_CHECKING:
    from sharc_crawler.known_urls import Texts


class Recorded(Strategy):
    """Hands pages out in the order of a crawl that was.

    Where no log tells in which slot, the first download of a URL is its visit. Another one is its revisit, if no URL is
    downloaded for the first time after it: T lies between the two.
    """

    def __init__(
        self, setting: Setting, real: Strategy, steps: Iterable[DecidedExchange], urls: Callable[[], Texts]
    ) -> None:
        super().__init__(setting)
        self.revisits, self.accepts_late, self.attests = real.revisits, real.accepts_late, real.attests
        self._steps, self._urls = [step for step in steps if not step.again], urls
        self._turn = max(_firsts(self._steps), default=0.0)
        self._pages: dict[str, list[PageId]] = defaultdict(list)  # a URL to which another redirects has two
        self._visited: set[PageId] = set()
        self._under_way: set[PageId] = set()
        self._open: set[PageId] = set()  # pages that a download is still to come of
        self._turned = False

    def add(self, candidates: Candidates) -> None:
        """Add pages; they are found again by their URLs."""
        urls = self._urls()
        self._open.update(candidates.pages.tolist())
        for page in candidates.pages.tolist():
            self._pages[key_of(urls[page])].append(page)

    @property
    def is_over(self) -> bool:
        """Whether everything was downloaded."""
        return not self._open

    def is_due(self, now: Instant) -> bool:
        """Had another visit been decided by now?"""
        return any(self._visit(step) for step in self._by(now))

    def next(self, now: Instant) -> Visit | None:
        """What was decided by now and has not been handed out, as far as it is discovered."""
        for step in self._by(now):
            visit = self._visit(step)
            if visit is None:
                continue
            after_all = visit.slot is Slot.SECOND or (visit.slot is Slot.ONLY and self.revisits and not self.attests)
            if after_all and (left := self._left(visit.page)) is not None:  # robots.txt refused it
                visit = Visit(left, Slot.FIRST, step.plan)
            elif after_all and not self._turned and self._under_way:
                return None
            else:
                self._steps.remove(step)
            self._turned |= visit.slot is Slot.SECOND
            self._visited.add(visit.page)
            self._under_way.add(visit.page)
            return visit
        return None

    def _by(self, now: Instant) -> Iterator[DecidedExchange]:
        return takewhile(lambda step: step.decided <= now, list(self._steps))

    def _left(self, last: PageId) -> PageId | None:
        """A page that was never downloaded, though the turn of the last one, or T, came."""
        known = (page for pages in self._pages.values() for page in pages)
        return next((page for page in known if page != last and page not in self._visited), None)

    def _visit(self, step: DecidedExchange) -> Visit | None:
        pages = self._pages.get(step.key, [])
        new = next((page for page in pages if page not in self._visited), None)
        if new is not None and step.slot is not Slot.SECOND and not self._turned:
            return Visit(new, step.slot or (Slot.FIRST if self.revisits else Slot.ONLY), step.plan)
        again = self.revisits and (step.slot is Slot.SECOND or (step.slot is None and step.decided > self._turn))
        old = next((page for page in pages if page in self._visited - self._under_way), None)
        return Visit(old, Slot.SECOND, step.plan) if again and old is not None else None

    def finished(self, visit: Visit, captured: bool) -> None:
        """A visit has ended; if it captured the page, that may be revisited."""
        self._under_way.discard(visit.page)
        if visit.slot is not Slot.FIRST or not captured:
            self._open.discard(visit.page)
        if visit.slot is Slot.SECOND or not captured:
            self._pages[key_of(self._urls()[visit.page])].remove(visit.page)

    def reprice(self, page: PageId, rate: float) -> None:
        """The order is fixed."""

    def __len__(self) -> int:
        return 1 + len(self._steps) + len(self._pages)


def _firsts(steps: Iterable[DecidedExchange]) -> Iterator[Instant]:
    """When URLs were downloaded for the first time."""
    seen: set[str] = set()
    for step in steps:
        if step.key not in seen and step.slot is not Slot.SECOND:
            yield step.decided
        seen.add(step.key)
