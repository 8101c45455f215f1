"""Budgets of site captures: requests, bytes, time. Visits stop while there is room for their revisits.

A page that is visited but never revisited costs requests and proves nothing. So a visit is made only if the rest of
the budget suffices for all revisits due by then. If pages turn out larger than expected, the largest revisits are given
up until the others fit: one large file does not cost many small pages their revisits.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from statistics import median_low
from typing import NamedTuple
from urllib.parse import urlsplit

from sharc_crawler.frontier.capture import PREFIX, Spending
from sharc_crawler.frontier.hosts import Task
from sharc_crawler.model import EMBEDDED, Instant, Kind, Outcome, PageId, Result, Seconds, Slot
from sharc_crawler.plural import counted
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.pages import PageTable
from sharc_crawler.state.rows import VisitRow
from sharc_crawler.state.spec import CaptureSpec

TESTED = 12  #: pages answered 304 usually downloaded in full beside the audited share
_REVISITED = EMBEDDED | {Kind.PAGE}


class _Cost(NamedTuple):
    """Requests, bytes and seconds: those left, or those that something needs."""

    requests: float
    size: float
    time: Seconds


class SiteBudget(Spending):
    """What a capture has spent and may still spend; at least one of the three is bounded."""

    def __init__(self, spec: CaptureSpec, started: Instant) -> None:
        super().__init__()
        self._spec = spec
        self._started = started
        self._requests = 0
        self.room = spec.max_requests or math.inf
        self._sizes: dict[PageId, int] = {}  #: bytes of the visit
        self._suffixes: dict[str, tuple[int, int]] = {}  #: suffix of URLs → downloads, bytes
        self._due: set[PageId] = set()  #: to be revisited if the visit succeeds: room is kept for them
        self._due_bytes = 0
        self._validated: set[PageId] = set()  #: to be revisited with validators: some 304s will be tested
        #: heap of due revisits by negative size; may contain pages released since
        self._largest: list[tuple[int, PageId]] = []
        self._seeds: set[PageId] = set()  #: not visited yet: room is kept for them
        self._listed: set[PageId] = set()  #: pages of sitemaps not visited yet: room is kept before other pages

    def why_not(self, task: Task, kind: Kind, url: str, now: Instant) -> str | None:
        """Return which bound forbids a download, or ``None``; robots.txt only needs time."""
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
    def ends(self) -> Instant:  # type: ignore[override]
        """When the time budget ends; infinity: there is none."""
        return self._started + self.paused + self._spec.max_time if self._spec.max_time else math.inf

    def spare(self, now: Instant) -> float:
        """Return about how many requests are left that no due revisit needs."""
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
        """Count all former fetches in the order of their ends; those before a capture began anew cost nothing."""
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
        """Keep room for the visits and revisits of seeds until they are visited."""
        self._seeds.update(seeds)

    def keep_listed(self, known: Iterable[PageId], pages: PageTable) -> None:
        """Keep room for queued pages that a sitemap names, before others are visited."""
        queued = (page for page in known if pages.states[page] == State.QUEUED and page not in self._seeds)
        self._listed.update(filter(pages.listed, queued))

    def leased(self, task: Task, kind: Kind) -> None:
        """Count a request; keep room for its revisit."""
        self._requests += 1
        self.room = max(self.room - 1, 0)
        self._let_go(task.page)
        if self._revisited(task, kind):
            self._due.add(task.page)

    def ended(self, task: Task, url: str, outcome: Outcome, finished: bool) -> None:
        """Count the end of a request."""
        super().ended(task, url, outcome, finished)
        if finished:
            self._let_go(task.page)  # a visit taken from a former capture was never leased
            due = task.page in self._due
            if due and task.slot is Slot.FIRST and task.page in self._sizes and outcome.result is not Result.OK:
                return  # a second look that failed: the first visit stands, and its revisit is due
            self._release(task.page)
            if outcome.result is Result.OK and task.slot is not Slot.SECOND:
                self._measured(task.page, url, outcome.length, due)
                if due and outcome.validators:
                    self._validated.add(task.page)
        self._give_up_the_largest()

    def forgone(self, task: Task, reason: str) -> None:
        """Count a download that was not made."""
        super().forgone(task, reason)
        self._let_go(task.page)
        self._release(task.page)

    def _let_go(self, page: PageId) -> None:
        """Keep no more room for a page's visit."""
        self._seeds.discard(page)
        self._listed.discard(page)

    def _revisited(self, task: Task, kind: Kind) -> bool:
        """Will the page be revisited?"""
        if task.slot is Slot.FIRST:
            return kind in _REVISITED
        return task.slot is Slot.ONLY and kind is Kind.PAGE and self.all_revisited

    def _release(self, page: PageId) -> None:
        """Keep no more room for a page's revisit."""
        if page in self._due:
            self._due.remove(page)
            self._due_bytes -= self._sizes.get(page, 0)

    def _measured(self, page: PageId, url: str, size: int, due: bool) -> None:
        """Note the size of a visit; ``due``: keep room for its revisit."""
        made, total = self._suffixes.get(_suffix(url), (0, 0))
        self._suffixes[_suffix(url)] = made + 1, total + size
        self._sizes[page] = size
        if due:
            self._due.add(page)
            self._due_bytes += size
            heapq.heappush(self._largest, (-size, page))

    def _give_up_the_largest(self) -> None:
        """Give up the largest revisits while the room kept exceeds the bytes left."""
        if self._spec.max_bytes:
            while self._largest and self._due_bytes > self._spec.max_bytes - self.received:
                self._release(heapq.heappop(self._largest)[1])

    def _left(self, kind: Kind, now: Instant) -> _Cost:
        """Return what is left of each bound; sitemaps, which come before pages, may take half."""
        spec = self._spec
        share = 0.5 if kind is Kind.SITEMAP and not self._due else 1.0
        return _Cost(
            share * spec.max_requests - self._requests,
            share * spec.max_bytes - self.received,
            self.ends - (1.0 - share) * spec.max_time - now,
        )

    def _need(self, task: Task, kind: Kind, url: str, now: Instant) -> _Cost:
        """Return what a download needs together with all due revisits."""
        if task.slot is Slot.SECOND:
            if kind is Kind.SITEMAP:  # the reading at T decides how the capture goes on
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
        listed, left = 2 * len(self._listed), self._left(kind, now)  # their bytes and time are hardly known
        some = min(listed * self._expected(""), left.size / 2), min(listed * self._pace(now), left.time / 2)
        return _Cost(requests + listed, size + some[0], time + some[1])

    @property
    def _tests(self) -> int:
        """Full downloads that will test 304s: room is kept for them."""
        share, most = self._spec.audit, len(self._validated)
        return min(most, math.ceil(share * most) + TESTED) if share else 0

    def _expected(self, suffix: str) -> float:
        """Return the bytes a visit will take: the mean for its suffix; for a new suffix the median of all means."""
        if found := self._suffixes.get(suffix):
            made, total = found
            return total / made
        return median_low(total / made for made, total in self._suffixes.values()) if self._suffixes else 0.0

    def _pace(self, now: Instant) -> Seconds:
        """Return the mean seconds per request so far."""
        return self._ran(now) / max(1, self._requests)

    def _waits(self, now: Instant) -> Seconds:
        """Return the waits for another second before asking a page again: at the first revisit and each test."""
        return (1 + self._tests) * max(0.0, 1.0 - self._pace(now))

    def _ran(self, now: Instant) -> Seconds:
        return now - self._started - self.paused


def _suffix(url: str) -> str:
    """Return the suffix of a URL's path, which tells a PDF from a page before the download.

    >>> _suffix("http://a.example/annual/REPORT.pdf?v=2"), _suffix("http://a.example/news/")
    ('.pdf', '')
    """
    return PurePosixPath(urlsplit(url).path).suffix.lower()
