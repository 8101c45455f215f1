"""Stops a call of a plug-in, or a pattern, that does not return: until it does, the crawl does not even hear Ctrl-C.

A signal looks once a minute. If the same call of a strategy, partition, store or source of rates is under way at
ten looks in a row, an error is raised in it, and it is handled like a plug-in that raises. A machine that slept has
one more look, not hundreds. Patterns that take seconds for one URL are stopped, too: the next URL would take as
long, and a longer one days.
"""

from __future__ import annotations

import atexit
import signal
import threading
from pathlib import Path
from types import FrameType

from sharc_crawler.addresses.scope import Scope
from sharc_crawler.errors import UsageError
from sharc_crawler.rates import guarded as sources
from sharc_crawler.storage import guarded as stores
from sharc_crawler.strategies import door
from sharc_crawler.subsites import make as partitions

_DOORS = [vars(module) for module in (door, partitions, stores, sources)]  #: modules that call plug-ins
EVERY = 60.0  #: seconds between two looks
LOOKS = 10  #: at the same call, before it is stopped
PATTERNS = Scope.why_not_anew.__code__  #: where ``include`` and ``exclude`` are matched
TRIES = 10  #: looks at one URL that is being matched, ``EVERY`` / 60 apart


class UnansweredError(Exception):
    """A plug-in call did not return for a long time."""


class Watch:
    """Watches what a thread is executing."""

    def __init__(self, looks: int = LOOKS, every: float = EVERY) -> None:
        self._most, self._every = looks, every
        self._call: FrameType | None = None
        self._looks = 0

    def begin(self) -> None:
        """Watch until the process ends; call it once. Does nothing if SIGALRM is already used."""
        ours = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        if ours and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL:
            signal.signal(signal.SIGALRM, self.look)
            signal.setitimer(signal.ITIMER_REAL, self._every, self._every)
            atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)  # a later signal would end the process

    def look(self, _signal: int, frame: FrameType | None) -> None:
        """Raise in a call that was under way at all of the last looks."""
        call = _call(frame)
        self._looks = self._looks + 1 if call is self._call else 1
        self._call = call  # kept, so that its id is not reused
        if frame is not None and call is not None and call.f_code is PATTERNS:
            self._look_closer(call, frame)
        elif frame is not None and call is not None and self._looks % self._most == 0:  # while it is handled, not again
            where = f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"
            raise UnansweredError(f"no answer at {self._looks} looks, {self._every:g} s apart; it was at {where},")

    def _look_closer(self, call: FrameType, frame: FrameType) -> None:
        """Matching takes microseconds: if it is under way, look again soon."""
        if self._looks > TRIES:
            raise _endless(call, frame, self._every / 60 * TRIES)
        signal.setitimer(signal.ITIMER_REAL, self._every / 60, self._every)


def _call(frame: FrameType | None) -> FrameType | None:
    """The plug-in call or pattern matching that is under way; ``None``: neither."""
    within = False
    while frame is not None:
        if frame.f_code is PATTERNS:
            return frame
        if any(frame.f_globals is one for one in _DOORS):
            return frame if within else None
        within, frame = True, frame.f_back
    return None


def _endless(call: FrameType, frame: FrameType, seconds: float) -> UsageError:
    """The error for a pattern that does not come to an end; ``frame``: where it is matched."""
    name, pattern = "exclude" if frame is call else "include", frame.f_locals["pattern"].pattern
    return UsageError(
        f"{name}={pattern!r} does not end: it was tried for {seconds:g} s at {call.f_locals['url']}. A repetition of"
        " what is repeated, (x+)+, does that. Give a plainer one: the same command resumes it"
    )
