"""A plug-in that does not return to the crawl, or a pattern: nothing else is heard meanwhile, Ctrl-C neither.

Looked at once a minute, by a signal. Where the same call of a strategy, partition, store or source of rates is under
way at ten looks in a row, an error is raised in it. So it is stopped and named like one that raises. A machine that
slept has one look more, not hundreds. Patterns that try one URL for seconds are stopped, too:
the next URL takes as long, and a longer one takes days.
"""

from __future__ import annotations

import atexit
import signal
import threading
from pathlib import Path
from types import FrameType

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.scope import Scope
from sharc_crawler.rates import guarded as sources
from sharc_crawler.storage import guarded as stores
from sharc_crawler.strategies import door
from sharc_crawler.subsites import make as partitions

_DOORS = [vars(one) for one in (door, partitions, stores, sources)]  #: where others' code is called
EVERY = 60.0  #: seconds
LOOKS = 10  #: at one call
PATTERNS = Scope.why_not_anew.__code__  #: where ``include`` and ``exclude`` are tried
TRIES = 10  #: looks at one URL that is held against them, a sixtieth of ``EVERY`` apart


class UnansweredError(Exception):
    """A plug-in was called and has not returned for long."""


class Watch:
    """Looks at what the main thread does."""

    def __init__(self, looks: int = LOOKS, every: float = EVERY) -> None:
        self._most, self._every = looks, every
        self._call: FrameType | None = None
        self._looks = 0

    def begin(self) -> None:
        """Until the process ends; once. Where the signal is somebody else's, nothing is done."""
        ours = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        if ours and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL:
            signal.signal(signal.SIGALRM, self.look)
            signal.setitimer(signal.ITIMER_REAL, self._every, self._every)
            atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)  # later a signal would end the process

    def look(self, _signal: int, frame: FrameType | None) -> None:
        """End a call that is the one of so many looks before."""
        call = _call(frame)
        self._looks = self._looks + 1 if call is self._call else 1
        self._call = call  # held, so that no other can be taken for it
        if frame is not None and call is not None and call.f_code is PATTERNS:
            self._look_closer(call, frame)
        elif frame is not None and call is not None and self._looks % self._most == 0:  # while it is told, no more
            where = f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"
            raise UnansweredError(f"no answer at {self._looks} looks, {self._every:g} s apart; it was at {where},")

    def _look_closer(self, call: FrameType, frame: FrameType) -> None:
        """Patterns take microseconds: where they are met, they are looked at again soon."""
        if self._looks > TRIES:
            raise _endless(call, frame, self._every / 60 * TRIES)
        signal.setitimer(signal.ITIMER_REAL, self._every / 60, self._every)


def _call(frame: FrameType | None) -> FrameType | None:
    """The call of a plug-in that is under way, or of patterns; ``None``: none is."""
    within = False
    while frame is not None:
        if frame.f_code is PATTERNS:
            return frame
        if any(frame.f_globals is one for one in _DOORS):
            return frame if within else None
        within, frame = True, frame.f_back
    return None


def _endless(call: FrameType, frame: FrameType, seconds: float) -> UsageError:
    """A pattern that ends with no answer; ``frame``: where it is tried."""
    name, pattern = "exclude" if frame is call else "include", frame.f_locals["pattern"].pattern
    return UsageError(
        f"{name}={pattern!r} comes to no end: it was tried for {seconds:g} s at {call.f_locals['url']}. A repetition of"
        " what is repeated, (x+)+, does that. Give a plainer one: the same command goes on with it"
    )
