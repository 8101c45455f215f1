"""| Tells a person how far a long piece of work is: after two seconds, and again and again, with the time left."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import TextIO

from sharc_crawler.model import Seconds

PATIENCE: Seconds = 2.0
AGAIN: Seconds = 10.0  #: between two lines where they are not rewritten in place
ENOUGH = 0.01  #: share of the work from which on the time left is estimated
CLEAR = "\r\x1b[2K"
LINE = f"{CLEAR}\x1b[?7l{{}}\x1b[?7h"  #: cut at the edge: of a broken line only the last row is cleared


class Share:
    """The progress of a piece of work: called with the amount done, the total (0: unchanged) and the part of the work.

    >>> share = Share("writing the report")
    >>> share(30, 90)
    >>> share.line(20.0), share.line(0.5)
    ('writing the report … 20 s, 33 %, 0:00:40 left', 'writing the report … 0 s')
    """

    def __init__(self, what: str, total: float = 0.0) -> None:
        self._what = what
        self._done, self._total = 0.0, total
        self._begun: Seconds = 0.0  #: when the present part of the work began
        self._part = ""
        self._seen: Seconds = 0.0

    def __call__(self, done: float, total: float = 0.0, part: str = "") -> None:
        """Note how much is done."""
        if part != self._part:
            self._part, self._begun = part, self._seen
        self._done, self._total = done, total or self._total

    def more(self, done: float) -> None:
        """Note that this much more is done."""
        self._done += done

    def line(self, seconds: Seconds) -> str:
        """The line for a person after this many seconds."""
        self._seen = seconds
        text = f"{self._part or self._what} … {seconds:.0f} s"
        share, took = self._done / self._total if self._total else 0.0, seconds - self._begun
        if share < ENOUGH or took < PATIENCE:
            return text
        left = timedelta(seconds=round(took * max(1 - share, 0.0) / share))
        return f"{text}, {min(share, 1.0):.0%}, {left} left".replace("%", " %")


@contextmanager
def busy(
    what: str, told: bool = True, out: TextIO | None = None, patience: Seconds = PATIENCE, *, total: float = 0.0
) -> Iterator[Share]:
    """Tell a person what takes so long, on a terminal each second; with ``told=False``, nobody.

    The block reports its progress to what this yields (``total``: amount of work, if known).

    >>> with busy("writing the report") as share:
    ...     share(30, 90)
    """
    share = Share(what, total)
    if not told:
        yield share
        return
    ended, teller = threading.Event(), out or sys.stderr
    thread = threading.Thread(target=_tell, args=(share, teller, ended, patience), daemon=True)
    thread.start()
    try:
        yield share
    finally:
        ended.set()
        thread.join()


def _tell(share: Share, out: TextIO, ended: threading.Event, patience: Seconds) -> None:
    began, terminal = monotonic(), out.isatty()
    wait = patience
    while not ended.wait(wait):
        print((LINE if terminal else "{}\n").format(share.line(monotonic() - began)), end="", file=out, flush=True)
        wait = 1.0 if terminal else AGAIN
    if terminal and wait != patience:
        print(CLEAR, end="", file=out, flush=True)
