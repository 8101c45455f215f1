"""The time at which downloads show a page: a cache's copy shows an earlier state of the origin."""

from __future__ import annotations

from array import array
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant, Outcome, Seconds

#: seconds: a Date is cut to the second, and servers reuse it for another one
DATE_PRECISION: Seconds = 2.0
#: seconds: an Age is cut, too
AGE_PRECISION: Seconds = 1.0
#: seconds between two clocks from which one of them must be wrong
FAR: Seconds = 600.0
#: minimum share of answers that agree on their server's clock, if they are no copies
MOST = 0.75


class Clocks:
    """How far servers' clocks are ahead of ours, by the visits that began before T."""

    def __init__(self) -> None:
        self._seen = defaultdict[str, "array[float]"](lambda: array("d"))  # by host: start, ahead, duration of visits
        self._ahead: dict[tuple[str, Instant], Seconds | None] = {}
        self._set_right: dict[tuple[str, Instant], bool] = {}

    def add(self, url: str, outcome: Outcome) -> None:
        """Enter the answer of a visit."""
        if outcome.date is not None:
            took = outcome.ended - outcome.started  # 0: unknown, as from records
            self._seen[_host(url)].extend((outcome.started, outcome.date - outcome.started, took))

    def ahead(self, url: str, reference: Instant) -> Seconds | None:
        """Return how far the clock of a URL's server is ahead; ``None`` if unknown.

        Old copies and slow answers are few; else a bound is used: no fresh answer's Date is ahead by its duration.
        """
        key = _host(url), reference
        if key not in self._ahead:
            started, ahead, took = np.array(self._seen.get(key[0], ())).reshape(-1, 3).T
            before = started < reference
            self._ahead[key] = _clock(ahead[before], took[before]) if before.any() else None
        return self._ahead[key]

    def set_right(self, url: str, reference: Instant) -> bool:
        """Was the clock of a URL's server, far ahead of ours, set right before T?"""
        key = _host(url), reference
        if key not in self._set_right:  # once for all revisits: it reads all visits
            from sharc_crawler.evidence.set_clocks import set_right  # rare

            started, ahead, _ = np.array(self._seen[key[0]]).reshape(-1, 3).T
            order = np.argsort(started, kind="stable")
            self._set_right[key] = set_right(ahead[order][started[order] < reference])
        return self._set_right[key]


def _clock(ahead: NDArray[np.float64], took: NDArray[np.float64]) -> Seconds:
    """Return the median, if it agrees with most downloads (their start before Date, and their duration)."""
    middle, most, least = float(np.median(ahead)), ahead[took > 0], (ahead - took)[took > 0]
    agree = (least - AGE_PRECISION <= middle) & (middle <= most + AGE_PRECISION)
    return middle if np.count_nonzero(agree) >= MOST * len(agree) else max(middle, float(least.max()))


def reach(revisit: Outcome, visit: Outcome | None, ahead: Seconds | None) -> Instant:
    """Return the instant up to which a download shows the page: its start, less the age of a copy.

    A copy is told by its ``Age`` (cut to the second), by a ``Date`` before the exchange (the server's clock is
    ``ahead`` of ours), or by a ``Date`` no later than the visit's: it is then the visit's own copy.
    """
    latest = revisit.started - (0.0 if revisit.age is None else revisit.age + AGE_PRECISION)
    if revisit.date and ahead is not None and revisit.date + DATE_PRECISION - ahead < revisit.started:
        latest = min(latest, revisit.date - DATE_PRECISION - ahead)  # a copy, not a slow clock
    if visit and no_later(revisit, visit) and revisit.started - visit.started > DATE_PRECISION:
        latest = min(latest, visit.started)
    return latest


def on_time(answer: Outcome) -> bool:
    """Has an answer the time of our own clock?"""
    return answer.date is not None and abs(answer.date - answer.started) <= DATE_PRECISION


def no_later(answer: Outcome, former: Outcome | None) -> bool:
    """Is an answer's Date no later than that of a former answer? Then it is a copy of that one, or older."""
    return bool(former and former.date and answer.date and answer.date <= former.date)


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].partition("?")[0].lower()  # urlsplit takes ten times as long
