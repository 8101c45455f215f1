"""Keeps what a worker holds while its reactor is busy: a site of a million pages may take it ten seconds to decide.

Nothing is sent on what is renewed so: that takes a renewal which the worker has asked for itself. A worker that hangs
for good keeps nothing: after some periods it is told so. They are counted, so none goes by while a process is stopped.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
from concurrent.futures import CancelledError
from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.live.aside import by_thread
from sharc_crawler.live.fleet.saying import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from sharc_crawler.model import Seconds

FAILED = 1  #: exit code of a worker that hung
TOLD: Seconds = 10.0  #: for its last words: whoever reads them may hang, too


class Heartbeat:
    """Calls ``renew`` each ``period`` in which the reactor did not beat, from the second on.

    After ``most`` of them in a row it calls ``hung`` instead, and nothing more.
    """

    def __init__(self, renew: Callable[[], object], period: Seconds, most: int, hung: Callable[[], object]) -> None:
        self._renew, self._period, self._most, self._hung = renew, period, most, hung
        self._missed = 0  # periods without a beat
        self._over = Event()
        self._thread = Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()

    async def go_on(self) -> None:
        """Beat, in the reactor: whether the ledger answers it does not matter."""
        while True:
            self._missed = 0
            await asyncio.sleep(self._period / 2)

    def close(self) -> None:
        """It holds nothing any more."""
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(self._period):
            self._missed += 1
            if self._missed > self._most:
                self._hung()
                return
            if self._missed > 1:
                with suppress(StoreUnavailable, RuntimeError, CancelledError):  # it asks again; or nobody does any more
                    self._renew()


def end_hung_worker() -> None:
    """Others have its sites once their terms are over; whoever keeps workers running starts another in its place."""
    with suppress(TimeoutError):
        by_thread(_tell).result(TOLD)
    os._exit(FAILED)


def _tell() -> None:
    say("hangs", reason="its reactor did nothing for too long: it ends; where its threads were follows")
    faulthandler.dump_traceback()
