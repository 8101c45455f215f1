"""A crawl's clock: the time of day at its start, then ticks. Setting the system clock moves nothing, a sleep does."""

from __future__ import annotations

import time
from collections.abc import Callable
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler
from scrapy.utils.asyncio import CallLaterResult, call_later

from sharc_crawler.model import Instant, Seconds

_TICKING = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))  #: on Linux; on macOS
_READ_AT_ONCE: Seconds = 0.1


def ticks() -> float:
    """Seconds of a clock that cannot be set, and that counts while the machine sleeps."""
    return time.monotonic() if _TICKING is None else time.clock_gettime(_TICKING)


class Clock:
    """Unix seconds that never run backwards.

    >>> clock = Clock()
    >>> clock.now() <= clock.now()
    True
    """

    def __init__(self) -> None:
        self._anchor = self._system = time.time() - ticks()

    def now(self) -> Instant:
        """The current instant."""
        return self._anchor + ticks()

    def set(self, instant: Instant) -> Seconds:
        """Follow another clock, which shows this instant; returns how far this one was ahead of it."""
        ahead = self.now() - instant
        self._anchor -= ahead
        return ahead

    def step(self) -> Seconds:
        """How far the system clock was set since the last call, or since the start; negative: it was set back."""
        began = ticks()
        offset = time.time() - began
        if ticks() - began > _READ_AT_ONCE:
            return 0.0  # the process was delayed between the two readings, which say nothing then
        before, self._system = self._system, offset
        return offset - before

    def at(self, monotonic: float) -> Instant:
        """The instant of a :func:`time.monotonic` reading."""
        return self.now() - (time.monotonic() - monotonic)

    def until(self, instant: Instant) -> float:
        """Seconds from now until ``instant``; 0 if it is past."""
        return max(0.0, instant - self.now())


_clocks: WeakKeyDictionary[Crawler, Clock] = WeakKeyDictionary()


def clock_of(crawler: Crawler) -> Clock:
    """The clock of a crawl, shared so that decisions, exchanges and records agree on the time."""
    return _clocks.setdefault(crawler, Clock())


LONGEST = 3600.0  #: seconds for which a timer is set at most


class Alarm:
    """A timer that rings once; setting it again replaces the former time."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._timer: CallLaterResult | None = None

    def set(self, seconds: float) -> None:
        """Ring in ``seconds``, not before."""
        self.cancel()
        self._timer = call_later(min(seconds, LONGEST), self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._ring()

    def cancel(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
