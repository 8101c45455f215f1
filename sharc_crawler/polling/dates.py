"""What a date of publication may mean by our clock: an interval, by the clock of the server that states it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sharc_crawler.model import Hints, Instant, Outcome

RESOLUTION = 1.0  #: seconds of an HTTP ``Date``


class Span(NamedTuple):
    """An instant of our clock that is known to lie between two."""

    earliest: Instant
    latest: Instant

    def after(self, start: Instant, now: Instant) -> float:
        """The part of it that lies after ``start``, of what lies before ``now``: 0..1.

        >>> Span(0.0, 100.0).after(60.0, 80.0), Span(0.0, 100.0).after(90.0, 80.0), Span(5.0, 5.0).after(5.0, 9.0)
        (0.25, 0.0, 1.0)
        """
        latest = min(self.latest, now)
        if start <= self.earliest:
            return 1.0
        return max(latest - start, 0.0) / (latest - self.earliest) if latest > start else 0.0


def published(hints: Hints | None, outcome: Outcome) -> Span | None:
    """When a page came to be, by the answer that names it; ``None``: it does not say.

    The server's clock showed ``Date`` (plus ``Age``, of a copy from a cache) between the request and the end of its
    answer: by so much it is ahead of ours, or behind, to the second. A stated date is an instant of that clock,
    somewhere in the interval that its text denotes: a bare date is a whole day.

    >>> from sharc_crawler.model import Hints, Outcome, Result
    >>> slow = Outcome(Result.OK, 1000.0, 1000.5, date=400.0)  # ten minutes behind
    >>> published(Hints(published=390.0, published_precision=1.0), slow)
    Span(earliest=989.0, latest=991.5)
    """
    if hints is None or hints.published is None:
        return None
    earliest, latest = hints.published, hints.published + hints.published_precision
    if outcome.date is None:
        return Span(earliest, latest)
    shown = outcome.date + (outcome.age or 0.0)
    return Span(earliest + outcome.started - (shown + RESOLUTION), latest + outcome.ended - shown)
