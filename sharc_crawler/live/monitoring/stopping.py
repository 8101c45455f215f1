"""| Lets Ctrl-C interrupt long work for which the reactor waits."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from sharc_crawler.errors import SharcError


class StoppedError(SharcError):
    """Ctrl-C interrupted work for which the reactor was waiting."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Have Ctrl-C and SIGTERM raise :class:`StoppedError` here; the reactor would notice them afterwards."""
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
