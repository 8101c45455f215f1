"""One token bucket for all that is asked of an archive: steady, with a small burst, stopped by Retry-After."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharc_crawler.model import Instant, Seconds


class TokenBucket:
    """``rate`` requests a second in the long run, at most ``burst`` at once.

    >>> bucket = TokenBucket(rate=0.5, burst=1, now=0.0)
    >>> bucket.take(0.0), bucket.take(0.0), bucket.take(2.0)
    (0.0, 2.0, 0.0)
    """

    def __init__(self, rate: float, burst: int, now: Instant) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._tokens = float(burst)
        self._at = now
        self._closed = now

    def take(self, now: Instant) -> Seconds:
        """Take a token: 0. There is none: the seconds to wait before asking again."""
        self._tokens = min(self._burst, self._tokens + max(0.0, now - self._at) * self._rate)
        self._at = max(self._at, now)
        if now < self._closed:
            return self._closed - now
        if self._tokens < 1.0 - 1e-9:
            return (1.0 - self._tokens) / self._rate
        self._tokens -= 1.0
        return 0.0

    def close(self, until: Instant) -> None:
        """No token before ``until``, and then no burst: the server has had too much."""
        self._closed = max(self._closed, until)
        self._tokens = min(self._tokens, 1.0)
