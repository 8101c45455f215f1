"""What a site capture has cost so far; :mod:`~sharc_crawler.frontier.bounded` has captures with a budget."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.frontier.hosts import Task
from sharc_crawler.model import Instant, Kind, Outcome, PageId, Seconds, Slot
from sharc_crawler.state.pages import PageTable
from sharc_crawler.state.rows import VisitRow

PREFIX = "budget: "  #: begins the reasons of downloads that the budget forbids


class Spending:
    """What a capture without bounds has spent."""

    ends: Instant = math.inf  #: the end of the time budget

    def __init__(self) -> None:
        self.received = 0  #: bytes
        self.room = math.inf  #: requests left
        self.all_revisited = True  #: a page visited as the last one is revisited if more pages follow
        self.paused: Seconds = 0.0  #: time in which no process ran
        self.listed = 0  #: pages of sitemaps that the budget left out
        self.unproven: dict[PageId, str] = {}  #: page → why it was not revisited

    def why_not(self, task: Task, kind: Kind, url: str, now: Instant) -> str | None:
        """Return which bound forbids a download, or ``None``."""

    def spare(self, now: Instant) -> float:  # noqa: ARG002 - for subclasses
        """Return about how many requests are left that no due revisit needs."""
        return math.inf

    def keep_room(self, seeds: Iterable[PageId]) -> None:
        """Keep room for the visits and revisits of seeds."""

    def keep_listed(self, known: Iterable[PageId], pages: PageTable) -> None:
        """Keep room for pages that sitemaps name, before others."""

    def leased(self, task: Task, kind: Kind) -> None:
        """Count a request that is made."""

    def ended(self, task: Task, url: str, outcome: Outcome, finished: bool) -> None:  # noqa: ARG002 - for subclasses
        """Count the end of a request."""
        self.received += outcome.length

    def forgone(self, task: Task, reason: str) -> None:
        """Count a download that was not made."""
        if task.slot is Slot.SECOND:
            self.unproven[task.page] = Reason.NEVER_REVISITED.of(reason.removeprefix(PREFIX))

    def restore(self, visits: Sequence[VisitRow], pages: PageTable) -> None:  # noqa: ARG002 - for subclasses
        """Count all former fetches, in the order in which they ended."""
        self.received += sum(visit.outcome.length for visit in visits if visit.attempt)
        for visit in visits:
            if not visit.attempt and (reason := visit.outcome.error or "").startswith(PREFIX):
                self.forgone(Task(visit.page, visit.slot), reason)
