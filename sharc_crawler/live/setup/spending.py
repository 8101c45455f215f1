"""What a begun capture has spent: a smaller budget that leaves no room for its revisits would end it for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.errors import UsageError
from sharc_crawler.model import EMBEDDED, Kind, Result, Slot

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sharc_crawler.frontier.rows import Batch, CaptureRow
    from sharc_crawler.model import PageId, Seconds

_REVISITED = EMBEDDED | {Kind.PAGE}


class Spent(NamedTuple):
    """What a site capture has spent up to now, and about what its revisits take besides."""

    requests: int
    size: int  #: bytes
    ran: Seconds
    revisits: int  #: of pages and resources that were visited and wait for theirs
    due_size: int
    sitemaps: int  #: that may be read again

    def least(self) -> dict[str, tuple[float, float, str]]:
        """By bound: what is spent, what leaves room for the revisits, and the unit."""
        pace = self.ran / max(1, self.requests)
        reads = self.revisits + (self.sitemaps if self.revisits else 0)
        return {
            "max_requests": (self.requests, self.requests + reads, ""),
            "max_bytes": (self.size, self.size + self.due_size, "B"),
            "max_time": (round(self.ran), round(self.ran + pace * reads), "s"),
        }


def spent(row: CaptureRow, state: Batch) -> Spent:
    """By one of the captures in a store."""
    kinds = {page.page: page.kind for page in state.pages if page.capture == row.capture}
    made = [visit for visit in state.visits if visit.attempt and visit.page in kinds]
    sizes: dict[PageId, int] = {}
    for visit in made:
        if visit.slot is Slot.SECOND:
            sizes.pop(visit.page, None)
        elif visit.finished and visit.slot is Slot.FIRST and visit.outcome.result is Result.OK:
            sizes[visit.page] = visit.outcome.length
    due = [length for page, length in sizes.items() if kinds[page] in _REVISITED]
    paused = sum(end - start for start, end in row.interruptions)
    return Spent(
        requests=len(made),
        size=sum(visit.outcome.length for visit in made),
        ran=max((visit.outcome.ended for visit in made), default=row.started) - row.started - paused,
        revisits=len(due),
        due_size=sum(due),
        sitemaps=sum(kinds[page] is Kind.SITEMAP for page in sizes),
    )


def narrowed(row: CaptureRow, bounds: Mapping[str, float]) -> list[str]:
    """The bounds of a budget that are smaller than those that a capture began with."""
    was = {name: getattr(row.spec, name) for name in bounds}
    return [name for name, bound in bounds.items() if bound and (not was[name] or bound < was[name])]


def check_bounds(row: CaptureRow, bounds: Mapping[str, float], state: Batch, output: Path) -> None:
    """Refuse a smaller budget that leaves no room for the revisits of what was visited.

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    found = spent(row, state)
    for name in narrowed(row, bounds):
        used, least, unit = found.least()[name]
        if bounds[name] < least or bounds[name] <= used:
            due = f", and the revisits that are due take {least - used:,.10g}{unit} more" if found.revisits else ""
            before = f"{name}={was:.10g}, as before" if (was := getattr(row.spec, name)) else "none, as before"
            raise UsageError(
                f"{name}={bounds[name]:.10g}{unit} is too little to go on with the capture in output={str(output)!r}:"
                f" {used:,.10g}{unit} are used{due}. Give {name}={max(least, used + 1):.10g} or more, or {before}"
            )
