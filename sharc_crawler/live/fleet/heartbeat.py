"""Keeps what a worker holds while its reactor is busy: a site of a million pages may take it ten seconds to decide.

Nothing is sent on what is renewed so: that takes a renewal which the worker has asked for itself. A worker that hangs
for good loses its sites all the same, some terms later.
"""

from __future__ import annotations

from concurrent.futures import CancelledError
from contextlib import suppress
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from sharc_crawler.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from sharc_crawler.model import Seconds


class Heartbeat:
    """Calls ``renew`` each ``period`` in which the worker has not done so, from the second on, for ``most`` seconds."""

    def __init__(self, renew: Callable[[], object], period: Seconds, most: Seconds) -> None:
        self._renew, self._period, self._most = renew, period, most
        self._last = monotonic()
        self._over = Event()
        self._thread = Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()

    def beat(self) -> None:
        """The worker renews by itself."""
        self._last = monotonic()

    def close(self) -> None:
        """It holds nothing any more."""
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(self._period):
            if 2 * self._period < monotonic() - self._last < self._most:
                with suppress(StoreUnavailable, RuntimeError, CancelledError):  # it asks again; or nobody does any more
                    self._renew()
