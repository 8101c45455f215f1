"""Reports what a worker's sites did to the ledger, many in one statement, and renews the worker's terms.

A site is asked for its next page once the journal has its last step. Nothing is sent later than two thirds of a term
after the ledger was last asked about it, by a clock that cannot be set: any partition or pause ends there. The ledger
is used by one thread, one statement at a time.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from math import ceil
from threading import Event, Thread
from time import monotonic
from typing import ParamSpec, Protocol, TypeVar

from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.fleet.journal import SMALL, lines_of, packed
from sharc_crawler.fleet.ledger import FleetLedger, JournalStep, Pulse, Renewal, Tenure
from sharc_crawler.live.fleet.events import log_event
from sharc_crawler.live.in_thread import by_thread
from sharc_crawler.model import Instant, Seconds
from sharc_crawler.storage.plain import joined

P = ParamSpec("P")


class Facts(Protocol):
    """The progress of a site: pages, visits, bytes."""

    def __call__(self, site: str) -> tuple[int, int, int]:
        """The figures of a site now."""


T = TypeVar("T")

SEND = 2 / 3  #: share of a term, after which nothing is sent
RENEW = 1 / 5  #: share of a term between two renewals
HANGS: Seconds = 900.0  #: of a busy reactor, after which the worker ends; a strategy that hangs is stopped after 600
ROWS = 1_000  #: journal rows merged into one
AGAIN: Seconds = 0.5  #: until the ledger is asked again
A_SITE: Seconds = 0.002  #: for which a step waits for others', per held site
SHORTEST: Seconds = 0.03  #: also with few sites: a statement costs nearly as much as a page
LONGEST: Seconds = 0.25

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class HeldSite:
    """A site that this worker holds."""

    tenure: Tenure
    seq: int
    until: float  #: nothing is sent after this, by the monotonic clock
    waiting: list[str] = field(default_factory=list)  #: lines that the journal lacks
    shared: bool = False  #: other sites ask its machine, too
    merged: int = 0  #: last merged step, as far as known
    going: JournalStep | None = None  #: the step being written, the same until it is answered

    @property
    def safe(self) -> bool:
        """Whether the journal has everything."""
        return not self.waiting and self.going is None


class Clerk:
    """Mediates between a worker and its ledger.

    Callbacks: ``written`` with a site once the journal has all its steps, ``superseded`` with a site and its epoch once
    it is another's, ``renewed`` with each renewal's answer. ``facts`` gives the progress of a site, ``room`` the number
    of sites that the worker takes.
    """

    def __init__(self, ledger: FleetLedger, worker: str, term: Seconds) -> None:
        self.ledger, self.worker, self.term = ledger, worker, term
        self.held: dict[str, HeldSite] = {}
        self.room = 0
        self.skew: Seconds = 0.0
        self.superseded_steps = 0
        self.away = False  #: the ledger did not answer last time
        self.facts: Facts = lambda _: (0, 0, 0)
        self.written: Callable[[str], None] = lambda _: None
        self.superseded: Callable[[str, int], None] = lambda _site, _epoch: None
        self.renewed: Callable[[Renewal], None] = lambda _: None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._told = asyncio.Event()

    async def ask(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a ledger method, called in the ledger's thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: method(*args, **kwargs))

    async def time(self) -> tuple[float, Instant]:
        """When the ledger was asked for its time, by the monotonic clock, and the answer; waits for it."""
        while True:
            asked = monotonic()
            try:
                now = await self.ask(self.ledger.clock)
            except StoreUnavailable as error:
                await self._wait(error)
            else:
                self._back()
                return asked, now

    # -- sites -------------------------------------------------------------------------------------------------------

    def take(self, tenure: Tenure, asked: float) -> None:
        """Hold a site; ``asked``: when it was claimed, by the monotonic clock."""
        self.held[tenure.site] = HeldSite(tenure, tenure.seq, asked + SEND * self.term, shared=tenure.shared)

    def forget(self, site: str) -> None:
        """Stop holding a site."""
        self.held.pop(site, None)

    def append(self, site: str, line: str) -> None:
        """Journal a line of a site, if it is still held."""
        held = self.held.get(site)
        if held is not None:
            held.waiting.append(line)
            self._told.set()

    def may_send(self, site: str) -> bool:
        """Whether a site's server may be asked now."""
        held = self.held.get(site)
        return held is not None and monotonic() < held.until

    # -- the ledger is told ------------------------------------------------------------------------------------------

    async def write(self) -> None:
        """Write what sites did, until cancelled."""
        while True:
            await self._told.wait()
            self._told.clear()
            await asyncio.sleep(min(LONGEST, max(SHORTEST, A_SITE * len(self.held))))
            await self.flush()
            if any(not held.safe for held in self.held.values()):  # later steps also wait for those of other sites
                self._told.set()

    async def flush(self) -> None:
        """Write all steps, and handle the answer."""
        told = {site: held for site, held in self.held.items() if not held.safe}
        fresh = {}
        for site, held in told.items():
            if held.going is None:
                fresh[site], held.waiting = held.waiting, []
                held.going = JournalStep(site, held.tenure.epoch, held.seq + 1, b"", *self.facts(site))
        asked = monotonic()
        try:
            written = await self.ask(self._write, told, fresh)
        except StoreUnavailable as error:
            await self._wait(error)
            return
        self._back()
        for site, held in told.items():
            if self.held.get(site) is not held or held.going is None:
                continue
            if site in written:
                held.seq, held.going, held.until = held.going.seq, None, asked + SEND * self.term
                if held.safe:
                    self.written(site)
            else:
                self.lose(site)

    async def renew(self) -> None:
        """Renew the terms until cancelled, even while the reactor is busy."""
        period = RENEW * self.term
        with closing(Heartbeat(self._renewed_beside, period, ceil(HANGS / period), end_hung_worker)) as heart:
            beating = asyncio.ensure_future(heart.go_on())
            try:
                await self._renew()
            finally:
                beating.cancel()

    async def _renew(self) -> None:
        while True:
            asked, pulse = monotonic(), self._pulse()
            try:
                answer = await self.ask(self.ledger.renew, pulse, self.term)
            except StoreUnavailable as error:
                await self._wait(error)
                continue
            self._back()
            for site, epoch in pulse.held.items():
                held = self.held.get(site)
                if held is None or held.tenure.epoch != epoch:
                    continue
                if site in answer.wishes:
                    held.until = max(held.until, asked + SEND * self.term)
                    held.shared = site in answer.shared
                else:
                    self.lose(site)
            self.renewed(answer)
            await asyncio.sleep(max(0.0, asked + RENEW * self.term - monotonic()))

    def _renewed_beside(self) -> None:
        """Renew from another thread while the reactor is busy; the answer is left to the next renewal."""
        self._thread.submit(self.ledger.renew, self._pulse(), self.term).result()

    async def merge(self) -> None:
        """Merge rows of journals until cancelled, so that a site is taken over sooner."""
        while True:
            await asyncio.sleep(RENEW * self.term)
            for site, held in list(self.held.items()):
                if held.seq - held.merged >= ROWS and self.held.get(site) is held:
                    with suppress(StoreUnavailable):  # renewing logs it; the merged number is read next time
                        held.merged = await self.ask(self._merge, site, held.tenure.epoch, held.seq)

    def _merge(self, site: str, epoch: int, upto: int) -> int:
        """The last merged step. Runs in the ledger's thread."""
        done = self.ledger.merged(site)
        for after in range(done, upto - ROWS + 1, ROWS):
            body = packed([joined(lines_of(self.ledger.journal(site, after + ROWS, after)))], SMALL)
            if not self.ledger.merge(site, epoch, after, after + ROWS, body):
                break
            done = after + ROWS
        return done

    def close(self) -> None:
        """Use the ledger no more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _write(self, told: dict[str, HeldSite], fresh: dict[str, list[str]]) -> frozenset[str]:
        """Write steps; an unanswered one is repeated as it was. Runs in the ledger's thread."""
        for site, lines in fresh.items():
            if (step := told[site].going) is not None:
                told[site].going = step._replace(body=packed(lines))
        return self.ledger.step([held.going for held in told.values() if held.going is not None], self.term)

    def _pulse(self) -> Pulse:
        held = {site: one.tenure.epoch for site, one in self.held.copy().items()}
        return Pulse(self.worker, held, self.room, self.superseded_steps, self.skew)

    def lose(self, site: str) -> None:
        """Give up a site that is another worker's, or this worker's own in a new term."""
        self.superseded_steps += not self.held[site].safe
        epoch = self.held.pop(site).tenure.epoch
        self.superseded(site, epoch)

    async def _wait(self, error: StoreUnavailable) -> None:
        if not self.away:
            logger.warning("event=ledger-away reason=%r", str(error))
        self.away = True
        await asyncio.sleep(AGAIN)

    def _back(self) -> None:
        if self.away:
            logger.info("event=ledger-back")
        self.away = False


# -- keeping what a worker holds while its reactor is busy -------------------------------------------------------------

# The reactor may take ten seconds to decide on a site of a million pages. A term renewed here permits no request: that
# takes a renewal by the worker itself. A worker that hangs for good keeps nothing: after some periods it is ended.
# Periods are counted, so none passes while the process is stopped.


FAILED = 1  #: exit code of a worker that hung
TOLD: Seconds = 10.0  #: for its last log lines, whose reader may hang, too


class Heartbeat:
    """Calls ``renew`` per ``period`` without the reactor, from the second on; after ``most`` in a row, ``hung``."""

    def __init__(self, renew: Callable[[], object], period: Seconds, most: int, hung: Callable[[], object]) -> None:
        self._renew, self._period, self._most, self._hung = renew, period, most, hung
        self._missed = 0  # periods in which the reactor did not run
        self._over = Event()
        self._thread = Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()

    async def go_on(self) -> None:
        """Beat, in the reactor, whether or not the ledger answers."""
        while True:
            self._missed = 0
            await asyncio.sleep(self._period / 2)

    def close(self) -> None:
        """End the thread."""
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(self._period):
            self._missed += 1
            if self._missed > self._most:
                self._hung()
                return
            if self._missed > 1:
                with suppress(StoreUnavailable, RuntimeError, CancelledError):  # it asks again, unless it has ended
                    self._renew()


def end_hung_worker() -> None:
    """End the process: others take its sites when their terms are over, and a supervisor starts another worker."""
    with suppress(TimeoutError):
        by_thread(_tell).result(TOLD)
    os._exit(FAILED)


def _tell() -> None:
    log_event("hangs", reason="its reactor did nothing for too long: it ends; where its threads were follows")
    faulthandler.dump_traceback()
