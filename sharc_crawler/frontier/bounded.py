"""What one site capture may cost: requests, bytes, time. Visits end while there is room for their revisits.

A page that is visited and never revisited is of unknown coherence: it costs, and proves nothing. So a visit is made
only if what is left afterwards suffices for all revisits due by then. Where something turns out larger than expected,
the largest revisits lose their room, until all others fit: one large file does not cost many small pages theirs.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from statistics import median_low
from typing import NamedTuple
from urllib.parse import urlsplit

from sharc_crawler.frontier.budget import PREFIX, Spending
from sharc_crawler.frontier.hosts import Task
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.pages import PageTable
from sharc_crawler.frontier.rows import VisitRow
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.model import EMBEDDED, Instant, Kind, Outcome, PageId, Result, Seconds, Slot
from sharc_crawler.plural import counted

TESTED = 12  #: pages answered 304 that are downloaded in full beside the share that is audited, mostly
_REVISITED = EMBEDDED | {Kind.PAGE}


class _Cost(NamedTuple):
    """Requests, bytes and seconds; of what is bounded, those left, and those that something takes."""

    requests: float
    size: float
    time: Seconds


class SiteBudget(Spending):
    """What a capture has spent, and whether it may spend more: at least one of the three is bounded."""

    def __init__(self, spec: CaptureSpec, started: Instant) -> None:
        super().__init__()
        self._spec = spec
        self._started = started
        self._requests = 0
        self.room = spec.max_requests or math.inf
        self._sizes: dict[PageId, int] = {}  #: bytes of the visit
        self._suffixes: dict[str, tuple[int, int]] = {}  #: of URLs → downloads, bytes
        self._due: set[PageId] = set()  #: to be revisited, if only the visit comes off: room is kept for them
        self._due_bytes = 0
        self._validated: set[PageId] = set()  #: to be revisited, and with validators: some 304s are tested
        #: of these, as a heap of negative sizes; also those released since
        self._largest: list[tuple[int, PageId]] = []
        self._seeds: set[PageId] = set()  #: to be visited yet: room is kept for them, whenever their turn comes
        self._listed: set[PageId] = set()  #: the same of what sitemaps name; of pages that links lead to

    def why_not(self, task: Task, kind: Kind, url: str, now: Instant) -> str | None:
        """Which bound forbids it; robots.txt is read as long as there is time."""
        if kind is Kind.ROBOTS and now < self.ends:
            return None
        spec = self._spec
        left = self._left(kind, now)
        need = self._need(task, kind, url, now)
        for name, bound, unit, lacking in (
            ("max_requests", spec.max_requests, "", left.requests < need.requests),
            ("max_bytes", spec.max_bytes, "B", left.size < need.size or left.size <= 0),
            ("max_time", spec.max_time, "s", left.time < need.time or left.time <= 0),
        ):
            if bound and lacking:
                asked = f", asked {counted(task.attempt - 1, 'time')} in vain" if task.attempt > 1 else ""
                return f"{PREFIX}{name}={bound:.10g}{unit} has no room left for it{asked}"
        return None

    @property
    def ends(self) -> Instant:
        """Infinity: time is not bounded."""
        return self._started + self.paused + self._spec.max_time if self._spec.max_time else math.inf

    def spare(self, now: Instant) -> float:
        """Requests, about, that room is kept for by no revisit that is due."""
        spec, left = self._spec, self._left(Kind.PAGE, now)
        kept = len(self._due) + 2 * (len(self._seeds) + len(self._listed)) + self._tests
        made = max(1, self._requests)
        rooms = (
            (spec.max_requests, left.requests - kept),
            (spec.max_bytes, (left.size - self._due_bytes) * made / max(1, self.received)),
            (spec.max_time, (left.time - self._waits(now)) * made / max(1e-9, self._ran(now)) - kept),
        )
        return min((room for bound, room in rooms if bound), default=math.inf)

    def restore(self, visits: Sequence[VisitRow], pages: PageTable) -> None:
        """All former fetches, in the order in which they ended; those before a capture began anew cost it nothing."""
        for visit in visits:
            task = Task(visit.page, visit.slot, visit.plan, visit.attempt)
            if visit.outcome.started < self._started:
                continue
            if visit.attempt:
                self.leased(task, pages.kinds[visit.page])
                self.ended(task, pages.urls[visit.page], visit.outcome, visit.finished)
                continue
            never_visited = pages.kinds[visit.page] is Kind.PAGE and visit.slot is not Slot.SECOND
            reason = visit.outcome.error or ""
            left = reason.startswith(PREFIX)
            self.listed += left and never_visited and pages.listed(visit.page)
            if left or never_visited:
                self.forgone(task, reason)

    def keep_room(self, seeds: Iterable[PageId]) -> None:
        """For their visits and their revisits, until they are visited."""
        self._seeds.update(seeds)

    def keep_listed(self, known: Iterable[PageId], pages: PageTable) -> None:
        """Room for those that a sitemap names and that wait for their visit, before others are visited."""
        queued = (page for page in known if pages.states[page] == State.QUEUED and page not in self._seeds)
        self._listed.update(filter(pages.listed, queued))

    def leased(self, task: Task, kind: Kind) -> None:
        """A request is made; what is visited will be revisited."""
        self._requests += 1
        self.room = max(self.room - 1, 0)
        self._let_go(task.page)
        if self._revisited(task, kind):
            self._due.add(task.page)

    def ended(self, task: Task, url: str, outcome: Outcome, finished: bool) -> None:
        """It ended so."""
        super().ended(task, url, outcome, finished)
        if finished:
            self._let_go(task.page)  # one that a former capture stands for was never asked for
            due = task.page in self._due
            if due and task.slot is Slot.FIRST and task.page in self._sizes and outcome.result is not Result.OK:
                return  # a second look that showed nothing: its visit stands, and its revisit is due
            self._release(task.page)
            if outcome.result is Result.OK and task.slot is not Slot.SECOND:
                self._measured(task.page, url, outcome.length, due)
                if due and outcome.validators:
                    self._validated.add(task.page)
        self._give_up_the_largest()

    def forgone(self, task: Task, reason: str) -> None:
        """A download was not made."""
        super().forgone(task, reason)
        self._let_go(task.page)
        self._release(task.page)

    def _let_go(self, page: PageId) -> None:
        """No room is kept for its visit."""
        self._seeds.discard(page)
        self._listed.discard(page)

    def _revisited(self, task: Task, kind: Kind) -> bool:
        """Will the page be revisited?"""
        if task.slot is Slot.FIRST:
            return kind in _REVISITED
        return task.slot is Slot.ONLY and kind is Kind.PAGE and self.all_revisited

    def _release(self, page: PageId) -> None:
        """No room is kept for it."""
        if page in self._due:
            self._due.remove(page)
            self._due_bytes -= self._sizes.get(page, 0)

    def _measured(self, page: PageId, url: str, size: int, due: bool) -> None:
        """A visit took so many bytes; is its revisit due?"""
        made, total = self._suffixes.get(_suffix(url), (0, 0))
        self._suffixes[_suffix(url)] = made + 1, total + size
        self._sizes[page] = size
        if due:
            self._due.add(page)
            self._due_bytes += size
            heapq.heappush(self._largest, (-size, page))

    def _give_up_the_largest(self) -> None:
        """Keep no more room than there is."""
        if self._spec.max_bytes:
            while self._largest and self._due_bytes > self._spec.max_bytes - self.received:
                self._release(heapq.heappop(self._largest)[1])

    def _left(self, kind: Kind, now: Instant) -> _Cost:
        """Of each bound; sitemaps, which come before all pages, may take half of it."""
        spec = self._spec
        share = 0.5 if kind is Kind.SITEMAP and not self._due else 1.0
        return _Cost(
            share * spec.max_requests - self._requests,
            share * spec.max_bytes - self.received,
            self.ends - (1.0 - share) * spec.max_time - now,
        )

    def _need(self, task: Task, kind: Kind, url: str, now: Instant) -> _Cost:
        """What a download takes with all revisits that are due after it."""
        if task.slot is Slot.SECOND:
            if kind is Kind.SITEMAP:  # what is read at T decides how the capture goes on
                return _Cost(1, 0, 0)
            kept = 0 if task.page in self._due else self._due_bytes
            return _Cost(1, kept + self._sizes.get(task.page, 0), 0)
        own = 2 if self._revisited(task, kind) and task.page not in self._due else 1
        seeds = 0 if task.page in self._seeds else 2 * len(self._seeds)
        requests = len(self._due) + own + seeds + self._tests
        size = self._due_bytes + own * self._expected(_suffix(url)) + seeds * self._expected("")
        time = requests * self._pace(now) + self._waits(now)
        if kind is not Kind.PAGE or task.page in self._seeds or task.page in self._listed:
            return _Cost(requests, size, time)
        listed, left = 2 * len(self._listed), self._left(kind, now)  # how much bytes and time it takes is hardly known
        some = min(listed * self._expected(""), left.size / 2), min(listed * self._pace(now), left.time / 2)
        return _Cost(requests + listed, size + some[0], time + some[1])

    @property
    def _tests(self) -> int:
        """Downloads in full of pages answered 304, that room is kept for."""
        share, most = self._spec.audit, len(self._validated)
        return min(most, math.ceil(share * most) + TESTED) if share else 0

    def _expected(self, suffix: str) -> float:
        """Bytes of a visit: the mean of its suffix, or the suffixes' median for the first of one."""
        if found := self._suffixes.get(suffix):
            made, total = found
            return total / made
        return median_low(total / made for made, total in self._suffixes.values()) if self._suffixes else 0.0

    def _pace(self, now: Instant) -> Seconds:
        """What a request took so far, on average."""
        return self._ran(now) / max(1, self._requests)

    def _waits(self, now: Instant) -> Seconds:
        """Until a page may be asked for in another second: by the first revisit, and by each test after its 304."""
        return (1 + self._tests) * max(0.0, 1.0 - self._pace(now))

    def _ran(self, now: Instant) -> Seconds:
        return now - self._started - self.paused


def _suffix(url: str) -> str:
    """What tells a PDF from a page before either is downloaded.

    >>> _suffix("http://a.example/annual/REPORT.pdf?v=2"), _suffix("http://a.example/news/")
    ('.pdf', '')
    """
    return PurePosixPath(urlsplit(url).path).suffix.lower()
