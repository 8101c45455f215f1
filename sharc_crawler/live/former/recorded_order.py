"""The order of a recorded crawl as a strategy, from its WARC files and its log.

These say when, in which slot and by which plan each recorded exchange was decided.
"""

from __future__ import annotations

import json
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sharc_crawler.addresses.urls import canonical
from sharc_crawler.errors import MALFORMED
from sharc_crawler.instants import unix
from sharc_crawler.model import Instant, Kind, PageId, Plan, Slot, Visit
from sharc_crawler.strategies.base import Candidates, Setting, Strategy

if TYPE_CHECKING:
    from sharc_crawler.addresses.known_urls import Texts
    from sharc_crawler.archive.recorded import ArchivedExchange

LOGS = ("crawl*.jsonl", "crawl*.log")


class DecidedExchange(NamedTuple):
    """A recorded exchange, with when and as what it was decided."""

    archived: ArchivedExchange
    key: str  #: its canonical URL
    decided: Instant
    ended: Instant
    slot: Slot | None  #: ``None``: not in the log
    plan: Plan
    again: bool  #: a further attempt
    sitemap: bool  #: so the log says


def key_of(url: str) -> str:
    """The URL in canonical form."""
    return canonical(url) or url


def decided(folder: Path, every: list[ArchivedExchange], attempts: int) -> list[DecidedExchange]:
    """The exchanges with what the log says of them, in the order of decision."""
    logged = _logged(folder)
    failed: dict[str, int] = defaultdict(int)  # failed attempts in a row
    steps = []
    for one in every:
        line, key = logged.get((one.ref.file, one.ref.offset)), key_of(one.url)
        again = line["attempt"] > 1 if line else 0 < failed[key] < attempts
        failed[key] = failed[key] * again + 1 if one.failed else 0
        steps.append(
            DecidedExchange(
                one,
                key,
                unix(line["decided"]) if line else one.started,
                unix(line["time"]) if line else one.started,
                Slot(line["slot"]) if line else None,
                Plan(line["plan"]) if line else Plan.HOPEFUL,
                again,
                sitemap=line is not None and line["kind"] == Kind.SITEMAP,
            )
        )
    return sorted(steps, key=lambda step: (step.decided, step.archived.started))


def before_any_again(steps: list[DecidedExchange]) -> list[DecidedExchange]:
    """The steps before the first repeated download of a URL: where T is that of a sitemap, these are before T.

    Further attempts do not count as repeated, nor does robots.txt, which is read each day, nor do sitemaps that are
    read on the way to T: there the next download is of a new URL.
    """
    seen: set[str] = set()
    end = 0
    for number, step in enumerate(steps, 1):
        if step.key not in seen or step.again or step.key.endswith("/robots.txt"):
            end = number
        elif not step.sitemap:
            break
        if not step.archived.failed:
            seen.add(step.key)
    return steps[:end]


def _logged(folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Log lines by the place of their record; damaged lines are skipped."""
    lines = (
        line
        for path in sorted(folder.glob(LOGS[0]))
        for text in path.read_text(encoding="utf-8", errors="replace").splitlines()
        if (line := _line(text))
    )
    return {(line["warc"], line["offset"]): line for line in lines}


def _line(text: str) -> dict[str, Any] | None:
    try:
        line: dict[str, Any] = json.loads(text)
        _ = line["warc"], line["offset"], unix(line["decided"]), unix(line["time"]), line["attempt"] > 1
        _ = Slot(line["slot"]), Plan(line["plan"]), Kind(line["kind"])
    except MALFORMED:
        return None
    return line


class Recorded(Strategy):
    """Hands pages out in the order of a recorded crawl.

    Where no log says in which slot, the first download of a URL is its visit. A later one is its revisit, if no URL is
    first downloaded after it: T lies between the two.
    """

    def __init__(
        self, setting: Setting, real: Strategy, steps: Iterable[DecidedExchange], urls: Callable[[], Texts]
    ) -> None:
        super().__init__(setting)
        self.revisits, self.accepts_late, self.attests = real.revisits, real.accepts_late, real.attests
        self._steps, self._urls = [step for step in steps if not step.again], urls
        self._places: dict[str, list[int]] = defaultdict(list)  # the steps of each URL
        for place, step in enumerate(self._steps):
            self._places[step.key].append(place)
        self._known: list[int] = []  # steps of discovered URLs that have not been handed out, in their order
        self._turn = max(_firsts(self._steps), default=0.0)
        self._pages: dict[str, list[PageId]] = defaultdict(list)  # a URL that another one redirects to has two
        self._visited: set[PageId] = set()
        self._unvisited: dict[PageId, None] = {}  # in the order in which they were added
        self._under_way: set[PageId] = set()
        self._open: set[PageId] = set()  # pages with downloads still to come
        self._turned = False

    def add(self, candidates: Candidates) -> None:
        """Add pages, and the steps of their URLs."""
        urls = self._urls()
        self._open.update(candidates.pages.tolist())
        for page in candidates.pages.tolist():
            key = key_of(urls[page])
            if key not in self._pages:
                for place in self._places[key]:
                    insort(self._known, place)
            self._pages[key].append(page)
            self._unvisited[page] = None

    @property
    def is_over(self) -> bool:
        """Whether everything was downloaded."""
        return not self._open

    def is_due(self, now: Instant) -> bool:
        """Was another visit decided by now?"""
        return any(self._visit(self._steps[place]) for place in self._by(now))

    def next(self, now: Instant) -> Visit | None:
        """The next visit that was decided by now and is known by now."""
        for place in self._by(now):
            step = self._steps[place]
            visit = self._visit(step)
            if visit is None:
                continue
            after_all = visit.slot is Slot.SECOND or (visit.slot is Slot.ONLY and self.revisits and not self.attests)
            if after_all and (left := self._left(visit.page)) is not None:  # robots.txt refused it
                visit = Visit(left, Slot.FIRST, step.plan)
            elif after_all and not self._turned and self._under_way:
                return None
            else:
                self._known.remove(place)
            self._turned |= visit.slot is Slot.SECOND
            self._visited.add(visit.page)
            self._unvisited.pop(visit.page, None)
            self._under_way.add(visit.page)
            return visit
        return None

    def _by(self, now: Instant) -> Iterator[int]:
        return takewhile(lambda place: self._steps[place].decided <= now, self._known)

    def _left(self, last: PageId) -> PageId | None:
        """A page that was never downloaded before the last one's turn, or before T."""
        return next((page for page in self._unvisited if page != last), None)

    def _visit(self, step: DecidedExchange) -> Visit | None:
        pages = self._pages.get(step.key, [])
        new = next((page for page in pages if page not in self._visited), None)
        if new is not None and step.slot is not Slot.SECOND and not self._turned:
            return Visit(new, step.slot or (Slot.FIRST if self.revisits else Slot.ONLY), step.plan)
        again = self.revisits and (step.slot is Slot.SECOND or (step.slot is None and step.decided > self._turn))
        old = next((page for page in pages if page in self._visited and page not in self._under_way), None)
        return Visit(old, Slot.SECOND, step.plan) if again and old is not None else None

    def finished(self, visit: Visit, captured: bool) -> None:
        """Record the end of a visit; a page that was captured may be revisited."""
        self._under_way.discard(visit.page)
        if visit.slot is not Slot.FIRST or not captured:
            self._open.discard(visit.page)
        if visit.slot is Slot.SECOND or not captured:
            self._pages[key_of(self._urls()[visit.page])].remove(visit.page)

    def reprice(self, page: PageId, rate: float) -> None:
        """Do nothing: the order is fixed."""

    def __len__(self) -> int:
        return 1 + len(self._known) + len(self._pages)


def _firsts(steps: Iterable[DecidedExchange]) -> Iterator[Instant]:
    """When each URL was first downloaded."""
    seen: set[str] = set()
    for step in steps:
        if step.key not in seen and step.slot is not Slot.SECOND:
            yield step.decided
        seen.add(step.key)
