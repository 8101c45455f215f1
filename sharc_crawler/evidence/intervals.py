"""Over which time downloads show a page: a copy from a cache shows the origin as it was, not as it is."""

from __future__ import annotations

from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from sharc_crawler.model import Instant, Outcome, Seconds

#: a Date header is cut to the second, and servers keep it for another
DATE_PRECISION: Seconds = 2.0
#: an Age, too
AGE_PRECISION: Seconds = 1.0


class Clocks:
    """How far the servers' clocks are ahead of ours, by the visits that began before the reference instant."""

    def __init__(self) -> None:
        self._seen: dict[str, list[tuple[Instant, Seconds]]] = defaultdict(list)
        self._ahead: dict[tuple[str, Instant], Seconds | None] = {}

    def saw(self, url: str, outcome: Outcome) -> None:
        """A visit brought an answer."""
        if outcome.date is not None:
            self._seen[_host(url)].append((outcome.started, outcome.date - outcome.started))

    def ahead(self, url: str, reference: Instant) -> Seconds | None:
        """Of the server of a URL; ``None``: nothing tells. Copies that are late, and slow answers, are the few.

        >>> from sharc_crawler.model import Outcome, Result
        >>> clocks = Clocks()
        >>> for date in (103.0, 104.0, 5.0):
        ...     clocks.saw("http://h/", Outcome(Result.OK, 1.0, 2.0, date=date))
        >>> clocks.ahead("http://h/x", 10.0)
        102.0
        """
        key = _host(url), reference
        if key not in self._ahead:
            seen = [ahead for started, ahead in self._seen.get(key[0], ()) if started < reference]
            self._ahead[key] = median(seen) if seen else None
        return self._ahead[key]


def reach(revisit: Outcome, visit: Outcome | None, ahead: Seconds | None) -> Instant:
    """Up to when a download shows the page: no later than its start, less the age of a copy.

    The age is what the cache says (``Age``), which is cut to the second; that of a ``Date`` before the exchange, by a
    server's clock that is ``ahead`` of ours; and a ``Date`` no later than the visit's is that of the visit's own copy.
    """
    latest = revisit.started - (0.0 if revisit.age is None else revisit.age + AGE_PRECISION)
    if revisit.date is None:
        return latest
    if ahead is not None and revisit.date + DATE_PRECISION - ahead < revisit.started:  # a copy, no slow clock
        latest = min(latest, revisit.date - DATE_PRECISION - ahead)
    if visit is not None and visit.date is not None and revisit.date <= visit.date:
        later = revisit.started - visit.started > DATE_PRECISION
        latest = min(latest, visit.started) if later else latest
    return latest


def _host(url: str) -> str:
    return urlsplit(url).netloc.lower()
