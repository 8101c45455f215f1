"""A budget of requests an hour, held at every moment."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharc_crawler.model import Instant

HOUR = 3600.0


class Budget:
    """A bucket of requests: full at the start, filled by ``hourly`` requests an hour, one taken out for each sent.

    It holds a minute's requests, or 10 if that is more: in t hours never more than t·hourly + burst are sent.

    >>> budget = Budget(60)
    >>> for _ in range(10): budget.spend(0.0)
    >>> budget.ready(0.0), budget.ready(0.0, spare=5)
    (60.0, 360.0)
    """

    def __init__(self, hourly: float) -> None:
        self.hourly = hourly
        self.burst = max(10.0, hourly / 60)
        self._left = self.burst
        self._since: Instant = -math.inf

    def _fill(self, now: Instant) -> None:
        if now > self._since:
            self._left = min(self.burst, self._left + (now - self._since) * self.hourly / HOUR)
            self._since = now

    def spend(self, now: Instant) -> None:
        """A request is sent."""
        if self.hourly < math.inf:
            self._fill(now)
            self._left -= 1.0

    def ready(self, now: Instant, spare: float = 0.0) -> Instant:
        """When a request may be sent so that ``spare`` more could follow at once: ``now``, or later."""
        if self.hourly == math.inf:
            return now
        self._fill(now)
        missing = 1.0 + spare - self._left
        return now if missing <= 1e-9 else now + missing * HOUR / self.hourly
