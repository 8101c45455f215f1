"""One timer that makes the engine ask the scheduler again when something falls due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.asyncio import call_later

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.utils.asyncio import CallLaterResult

LONGEST = 3600.0  #: seconds a timer is set for at most


class Alarm:
    """At most one pending timer; a sooner time replaces it."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._timer: CallLaterResult | None = None

    def set(self, seconds: float) -> None:
        """Ring in ``seconds`` (not before), instead of whenever it was set for."""
        self.cancel()
        self._timer = call_later(min(seconds, LONGEST), self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._ring()

    def cancel(self) -> None:
        """Do not ring."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
