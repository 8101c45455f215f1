"""A token bucket, for the requests of an instant crawl and the queries to an archive."""

from __future__ import annotations

import math

from sharc_crawler.model import Instant, Seconds


class TokenBucket:
    """Starts full and gains ``rate`` tokens per second up to ``burst``: t seconds give at most t·rate + burst.

    >>> bucket = TokenBucket(rate=0.5, burst=1)
    >>> bucket.take(0.0), bucket.take(0.0), bucket.take(2.0)
    (0.0, 2.0, 0.0)
    >>> bucket.ready(2.0), TokenBucket(rate=math.inf, burst=math.inf).ready(2.0)
    (4.0, 2.0)
    """

    def __init__(self, rate: float, burst: float) -> None:
        self.rate = rate
        self.burst = burst
        self._left = float(burst)
        self._since: Instant = -math.inf
        self._closed: Instant = -math.inf

    def _fill(self, now: Instant) -> None:
        if now > self._since:
            self._left = min(self.burst, self._left + (now - self._since) * self.rate)
            self._since = now

    def ready(self, now: Instant, spare: float = 0.0) -> Instant:
        """Return when a token may be taken so that ``spare`` more are left: ``now`` or later."""
        if now < self._closed:
            return self._closed
        if self.rate == math.inf:
            return now
        self._fill(now)
        missing = 1.0 + spare - self._left
        return now if missing <= 1e-9 else now + missing / self.rate

    def spend(self, now: Instant) -> None:
        """Take a token even if there is none: the next ones come later."""
        self._fill(now)
        self._left -= 1.0

    def take(self, now: Instant) -> Seconds:
        """Take a token and return 0, or return the seconds to wait."""
        if (wait := self.ready(now) - now) > 0.0:
            return wait
        self.spend(now)
        return 0.0

    def close(self, until: Instant) -> None:
        """Give no token before ``until``, and no burst then."""
        self._closed = max(self._closed, until)
        self._fill(until)  # nothing accrues until then
        self._left = min(self._left, 1.0)
