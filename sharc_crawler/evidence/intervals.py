"""Over which time downloads show a page: a copy from a cache shows the origin as it was, not as it is."""

from __future__ import annotations

from array import array
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant, Outcome, Seconds

#: a Date header is cut to the second, and servers keep it for another
DATE_PRECISION: Seconds = 2.0
#: an Age, too
AGE_PRECISION: Seconds = 1.0
#: between two clocks: one of them is wrong
FAR: Seconds = 600.0
#: share of answers that agree on what their server's clock is, if they are no copies
MOST = 0.75


class Clocks:
    """How far the servers' clocks are ahead of ours, by the visits that began before the reference instant."""

    def __init__(self) -> None:
        self._seen = defaultdict[str, "array[float]"](lambda: array("d"))  # of each visit: start, ahead, took
        self._ahead: dict[tuple[str, Instant], Seconds | None] = {}

    def saw(self, url: str, outcome: Outcome) -> None:
        """A visit brought an answer."""
        if outcome.date is not None:
            took = outcome.ended - outcome.started  # 0: nobody knows, as of records alone
            self._seen[_host(url)].extend((outcome.started, outcome.date - outcome.started, took))

    def ahead(self, url: str, reference: Instant) -> Seconds | None:
        """Of the server of a URL; ``None``: nothing tells. Copies that are late, and slow answers, are the few.

        Where they are many, no clock is behind the Date of a fresh answer by more than that took.
        """
        key = _host(url), reference
        if key not in self._ahead:
            started, ahead, took = np.array(self._seen.get(key[0], ())).reshape(-1, 3).T
            before = started < reference
            self._ahead[key] = _clock(ahead[before], took[before]) if before.any() else None
        return self._ahead[key]

    def before(self, url: str, reference: Instant) -> NDArray[np.float64]:
        """Of the visits to the server of a URL before T, in their order: how far their Date was ahead of them."""
        started, ahead, _ = np.array(self._seen.get(_host(url), ())).reshape(-1, 3).T
        order = np.argsort(started, kind="stable")
        return ahead[order][started[order] < reference]


def _clock(ahead: NDArray[np.float64], took: NDArray[np.float64]) -> Seconds:
    """The middle, if it lies within most downloads (each began so long before its Date, and took so long)."""
    middle, most, least = float(np.median(ahead)), ahead[took > 0], (ahead - took)[took > 0]
    agree = (least - AGE_PRECISION <= middle) & (middle <= most + AGE_PRECISION)
    return middle if np.count_nonzero(agree) >= MOST * len(agree) else max(middle, float(least.max()))


def reach(revisit: Outcome, visit: Outcome | None, ahead: Seconds | None) -> Instant:
    """Up to when a download shows the page: no later than its start, less the age of a copy.

    The age is what the cache says (``Age``), which is cut to the second; that of a ``Date`` before the exchange, by a
    server's clock that is ``ahead`` of ours; and a ``Date`` no later than the visit's is that of the visit's own copy.
    """
    latest = revisit.started - (0.0 if revisit.age is None else revisit.age + AGE_PRECISION)
    if revisit.date and ahead is not None and revisit.date + DATE_PRECISION - ahead < revisit.started:
        latest = min(latest, revisit.date - DATE_PRECISION - ahead)  # a copy, no slow clock
    if visit and no_later(revisit, visit) and revisit.started - visit.started > DATE_PRECISION:
        latest = min(latest, visit.started)
    return latest


def no_later(answer: Outcome, former: Outcome | None) -> bool:
    """Is an answer by its Date no later than a former one of the same URL? Then it is a copy of that one, or older."""
    return bool(former and former.date and answer.date and answer.date <= former.date)


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].partition("?")[0].lower()  # urlsplit takes ten times as long
