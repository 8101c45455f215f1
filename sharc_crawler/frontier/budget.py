"""What one site capture has cost. Where an order bounds it, :mod:`~sharc_crawler.frontier.bounded` says what it may."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.frontier.hosts import Task
from sharc_crawler.frontier.pages import PageTable
from sharc_crawler.frontier.rows import VisitRow
from sharc_crawler.model import Instant, Kind, Outcome, PageId, Seconds, Slot

PREFIX = "budget: "  #: before the bound, in the reason why something was not fetched


class Spending:
    """What a capture has spent; nothing bounds it. Restored by telling it of all former fetches."""

    def __init__(self) -> None:
        self.received = 0  #: bytes
        self.room = math.inf  #: requests that it may make yet
        self.all_revisited = True  #: also what was taken for the last visit, if another one comes after it
        self.paused: Seconds = 0.0  #: when no process was running
        self.listed = 0  #: pages that sitemaps name and that it left
        self.unproven: dict[PageId, str] = {}  #: page → why it was not revisited

    def why_not(self, task: Task, kind: Kind, url: str, now: Instant) -> str | None:
        """Which bound forbids a download; ``None``: none does."""

    @property
    def ends(self) -> Instant:
        """From when on nothing is downloaded any more."""
        return math.inf

    def spare(self, now: Instant) -> float:  # noqa: ARG002 - for the bounded one
        """Requests, about, that room is kept for by nothing."""
        return math.inf

    def keep_room(self, seeds: Iterable[PageId]) -> None:
        """For pages that are to be visited whenever their turn comes."""

    def keep_listed(self, known: Iterable[PageId], pages: PageTable) -> None:
        """For those that a sitemap names, before others."""

    def leased(self, task: Task, kind: Kind) -> None:
        """A request is made."""

    def ended(self, task: Task, url: str, outcome: Outcome, finished: bool) -> None:  # noqa: ARG002 - for the bounded one
        """It ended so."""
        self.received += outcome.length

    def forgone(self, task: Task, reason: str) -> None:
        """A download was not made."""
        if task.slot is Slot.SECOND:
            self.unproven[task.page] = Reason.NEVER_REVISITED.of(reason.removeprefix(PREFIX))

    def restore(self, visits: Sequence[VisitRow], pages: PageTable) -> None:  # noqa: ARG002 - for the bounded one
        """All former fetches, in the order in which they ended."""
        self.received += sum(visit.outcome.length for visit in visits if visit.attempt)
        for visit in visits:
            if not visit.attempt and (reason := visit.outcome.error or "").startswith(PREFIX):
                self.forgone(Task(visit.page, visit.slot), reason)
