"""Dates of publication, converted from the server's clock to intervals of ours."""

from __future__ import annotations

from typing import NamedTuple

from sharc_crawler.model import Hints, Instant, Outcome, PageId

RESOLUTION = 1.0  #: seconds of an HTTP ``Date``


class Span(NamedTuple):
    """An interval of our clock that contains an instant."""

    earliest: Instant
    latest: Instant

    def after(self, start: Instant, now: Instant) -> float:
        """Return the share, 0..1, of the interval before ``now`` that is after ``start``.

        >>> Span(0.0, 100.0).after(60.0, 80.0), Span(0.0, 100.0).after(90.0, 80.0), Span(5.0, 5.0).after(5.0, 9.0)
        (0.25, 0.0, 1.0)
        """
        latest = min(self.latest, now)
        if start <= self.earliest:
            return 1.0
        return max(latest - start, 0.0) / (latest - self.earliest) if latest > start else 0.0


def published(hints: Hints | None, outcome: Outcome) -> Span | None:
    """Return when a page was published, by the answer that names it; ``None`` if it has no date.

    The server's clock showed ``Date`` (plus the ``Age`` of a cache's copy) between the request and the end of its
    answer. This gives its difference from ours, to the second. A stated date is an instant of that clock within the
    interval that its text denotes: a bare date is a whole day.

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
    """Decides which lists' dates are trusted: not those of lists that date pages after they had been seen.

    >>> dating = Dating()
    >>> dating.reads("/feed"); dating.dates(7); dating.disproved()
    >>> dating.reads("/feed"); dating.dates_again(late=True); dating.disproved(), dating.believed
    ({7}, False)
    """

    def __init__(self) -> None:
        self._url = ""
        self._dated: dict[str, set[PageId]] = {}  #: dated pages by list
        self._false: set[str] = set()
        self._late = 0  #: seen pages dated after they were seen, minus those dated before

    def reads(self, url: str) -> None:
        """Begin to read an answer of this list."""
        self._url, self._late = url, 0

    @property
    def believed(self) -> bool:
        """Are the current list's dates trusted?"""
        return self._url not in self._false

    def dates(self, page: PageId) -> None:
        """Note a page dated by the current list."""
        self._dated.setdefault(self._url, set()).add(page)

    def dates_again(self, late: bool) -> None:
        """Note a seen page dated again; ``late``: after it had been seen."""
        self._late += 1 if late else -1

    def disproved(self) -> set[PageId] | None:
        """At the end of the answer, return the pages dated by the list if its dates have just proved wrong."""
        if self._late <= 0 or not self.believed:
            return None
        self._false.add(self._url)
        return self._dated.pop(self._url, set())
