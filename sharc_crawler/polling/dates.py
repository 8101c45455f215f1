"""What a date of publication may mean by our clock: an interval, by the clock of the server that states it."""

from __future__ import annotations

from typing import NamedTuple

from sharc_crawler.model import Hints, Instant, Outcome, PageId

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


class Dating:
    """Whose dates are believed: a list that dates pages after they had been seen tells of its own making.

    >>> dating = Dating()
    >>> dating.reads("/feed"); dating.dates(7); dating.disproved()
    >>> dating.reads("/feed"); dating.dates_again(late=True); dating.disproved(), dating.believed
    ({7}, False)
    """

    def __init__(self) -> None:
        self._url = ""
        self._dated: dict[str, set[PageId]] = {}  #: by each list
        self._false: set[str] = set()
        self._late = 0  #: of the pages that it dates again, those after they had been seen, less the others

    def reads(self, url: str) -> None:
        """An answer of this list is being read."""
        self._url, self._late = url, 0

    @property
    def believed(self) -> bool:
        """Are the dates of the list that is being read?"""
        return self._url not in self._false

    def dates(self, page: PageId) -> None:
        """It gives a page its date."""
        self._dated.setdefault(self._url, set()).add(page)

    def dates_again(self, late: bool) -> None:
        """It dates a page that had been seen, after that or not."""
        self._late += 1 if late else -1

    def disproved(self) -> set[PageId] | None:
        """It has been read: the pages that had their dates from it, if these are none, as is seen now."""
        if self._late <= 0 or not self.believed:
            return None
        self._false.add(self._url)
        return self._dated.pop(self._url, set())
