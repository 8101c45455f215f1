"""What one site capture may cost: requests, bytes, time. Visits end while there is room for their revisits.

A page that is visited and never revisited is of unknown coherence: it costs, and proves nothing. So a visit is made
only if what is left afterwards suffices for all revisits due by then; revisits are made until nothing is left.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.model import Kind, Result, Slot

if TYPE_CHECKING:
    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.model import Instant, Outcome, PageId, Seconds

PREFIX, REACHED = "budget: ", " is reached"  #: around the bound, in the reason why something was not fetched
_REVISITED = frozenset({Kind.PAGE, Kind.RESOURCE})


class _Cost(NamedTuple):
    """Requests, bytes and seconds; of what is bounded, those left, and those that something takes."""

    requests: float
    size: float
    time: Seconds


class SiteBudget:
    """What a capture has spent, and whether it may spend more. Restored by telling it of all former fetches."""

    def __init__(self, spec: CaptureSpec, started: Instant) -> None:
        self._spec = spec
        self._bounded = bool(spec.max_requests or spec.max_bytes or spec.max_time)
        self._started = started
        self._requests = 0
        self._bytes = 0
        self._due: dict[PageId, int] = {}  #: to be revisited, if only the visit comes off → bytes of the visit
        self._due_bytes = 0
        self.seeds: set[PageId] = set()  #: to be visited yet: room is kept for them, whenever their turn comes
        self.all_revisited = True  #: also what was taken for the last visit, if another one comes after it
        self.paused: Seconds = 0.0  #: when no process was running
        self.left: Counter[Slot] = Counter()  #: downloads that were not made

    def why_not(self, task: Task, kind: Kind, now: Instant) -> str | None:
        """Which bound forbids a download; ``None``: none does. robots.txt is always read."""
        if not self._bounded or kind is Kind.ROBOTS:
            return None
        spec = self._spec
        left = self._left(kind, now)
        need = self._need(task, kind, now)
        for name, bound, unit, lacking in (
            ("max_requests", spec.max_requests, "", left.requests < need.requests),
            ("max_bytes", spec.max_bytes, "B", left.size < need.size or left.size <= 0),
            ("max_time", spec.max_time, "s", left.time < need.time or left.time <= 0),
        ):
            if bound and lacking:
                return f"{PREFIX}{name}={bound:,.10g}{unit}{REACHED}"
        return None

    def leased(self, task: Task, kind: Kind) -> None:
        """A request is made; what is visited will be revisited."""
        self._requests += 1
        self.seeds.discard(task.page)
        if task.slot is Slot.SECOND:
            self._settle(task.page)
        elif self._bounded and self._revisited(task, kind):
            self._due.setdefault(task.page, 0)

    def ended(self, task: Task, outcome: Outcome, settled: bool) -> None:
        """It ended so."""
        self._bytes += outcome.length
        if task.page in self._due and settled:
            self._settle(task.page)
            if outcome.result is Result.OK:
                self._due[task.page] = outcome.length
                self._due_bytes += outcome.length

    def forgone(self, task: Task) -> None:
        """A download was not made."""
        self.seeds.discard(task.page)
        self.left[task.slot] += 1

    def note(self) -> str | None:
        """What a reader must know at the end."""
        visits, revisits = self.left.total() - self.left[Slot.SECOND], self.left[Slot.SECOND]
        if not visits and not revisits:
            return None
        return f"the budget was reached; downloads not made for it: {visits:,} first ones, {revisits:,} second ones"

    def _revisited(self, task: Task, kind: Kind) -> bool:
        """Will the page be revisited?"""
        if task.slot is Slot.FIRST:
            return kind in _REVISITED
        return task.slot is Slot.ONLY and kind is Kind.PAGE and self.all_revisited

    def _settle(self, page: PageId) -> None:
        self._due_bytes -= self._due.pop(page, 0)

    def _left(self, kind: Kind, now: Instant) -> _Cost:
        """Of each bound; sitemaps, which come before all pages, may take half of it."""
        spec = self._spec
        share = 0.5 if kind is Kind.SITEMAP and not self._due else 1.0
        return _Cost(
            share * spec.max_requests - self._requests,
            share * spec.max_bytes - self._bytes,
            share * spec.max_time - self._ran(now),
        )

    def _need(self, task: Task, kind: Kind, now: Instant) -> _Cost:
        """What a download takes with all revisits that are due after it; a page is taken to be as large as the mean."""
        if task.slot is Slot.SECOND:
            return _Cost(1, 0, 0)
        own = 2 if self._revisited(task, kind) and task.page not in self._due else 1
        made = max(1, self._requests)
        if task.page not in self.seeds:
            own += 2 * len(self.seeds)
        requests = len(self._due) + own
        return _Cost(requests, self._due_bytes + own * self._bytes / made, requests * self._ran(now) / made)

    def _ran(self, now: Instant) -> Seconds:
        return now - self._started - self.paused
