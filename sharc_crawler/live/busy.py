"""Work that may take long says so: a line after two seconds, and from then on. Ctrl-C is heard meanwhile, too."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from sharc_crawler.errors import SharcError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import NoReturn, TextIO

    from sharc_crawler.model import Seconds

PATIENCE: Seconds = 2.0
AGAIN: Seconds = 10.0  #: where the line is not rewritten
CLEAR = "\r\x1b[2K"


class StoppedError(SharcError):
    """Ctrl-C ended a piece of work that the reactor waits for."""


@contextmanager
def busy(what: str, told: bool = True, out: TextIO | None = None, patience: Seconds = PATIENCE) -> Iterator[None]:
    """Tell a person what takes so long, on a terminal each second; unless nobody is to be ``told``.

    >>> import time
    >>> with busy("writing the report", out=sys.stdout, patience=0.01):
    ...     time.sleep(0.2)
    writing the report … 0 s
    """
    if not told:
        yield
        return
    ended, teller = threading.Event(), out or sys.stderr
    thread = threading.Thread(target=_tell, args=(what, teller, ended, patience), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _tell(what: str, out: TextIO, ended: threading.Event, patience: Seconds) -> None:
    began, terminal = monotonic(), out.isatty()
    wait = patience
    while not ended.wait(wait):
        text = f"{what} … {monotonic() - began:.0f} s"
        out.write(f"{CLEAR}{text}" if terminal else f"{text}\n")
        out.flush()
        wait = 1.0 if terminal else AGAIN
    if terminal and wait != patience:
        out.write(CLEAR)
        out.flush()


@contextmanager
def stoppable() -> Iterator[None]:
    """Within, Ctrl-C and SIGTERM raise :class:`StoppedError`: a reactor would hear of them when all is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = {number: signal.signal(number, _stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - the signal module's
    raise StoppedError(f"stopped by {signal.Signals(number).name}")
