"""Has documents read by other processes, so that no document, whatever it is, holds up the crawl.

One process reads documents in order. If it takes long over one, another takes over those behind it. A process that
ends over a document (its processor time and memory are bounded) is replaced. The document is tried once more, then
only digested, and a note says what is missing.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import is_asyncio_available

from sharc_crawler.bodies.spool import Octets, in_memory
from sharc_crawler.changes.http import parse_response
from sharc_crawler.live.reading.readings import Order, Payload, Reading, Wants, unpacked_reading
from sharc_crawler.live.writing.child import Child
from sharc_crawler.live.writing.messages import line, place_of

if TYPE_CHECKING:
    from sharc_crawler.live.reading.readings import WhenRead

    Heard = Callable[["_Reader", bytes], None]
    Gone = Callable[["_Reader", int], None]

logger = logging.getLogger(__name__)

PROCESS = "sharc_crawler.live.reading.reader_process"
MOST = 6  #: processes at once
AHEAD = 8  #: documents given to a process before it has answered
SMALL = 65_536  #: bytes of an answer that is digested faster here than elsewhere
LONG = 100_000  #: bytes of a document that may take long: another process is started ahead
PATIENCE = 0.2  #: seconds of processor time for a document, while others wait behind it
STALLED = 2.0  #: the same by the clock: something else is in its way
LONGEST = 300.0  #: seconds after which a document is given up; the process's own limit is mostly sooner
DIGESTED = 1 << 20  #: bytes of a large one for each further second, as files of gigabytes are digested, too
_ATTEMPTS = 2  #: whole; after these, digests only


@dataclass(slots=True, eq=False)
class _Job:
    """A document to be read."""

    order: Order
    raw: Octets
    number: int
    future: asyncio.Future[Reading]
    deaths: int = 0  #: processes that ended over it


class _Reader:
    """A process, and the documents that it was given."""

    def __init__(self, terms: dict[str, str | None], heard: Heard, gone: Gone) -> None:
        self.jobs: deque[_Job] = deque()
        self.ready = False  #: it has started
        self.lingers = False  #: it took long over a document, and runs at low priority since
        self._child = Child(PROCESS, lambda said: heard(self, said), lambda code: gone(self, code))
        self._child.send(line(terms))
        self.begin()

    def begin(self) -> None:
        """Note that the first document is begun now."""
        self._begun, self._spent = monotonic(), self._child.spent()

    def give(self, job: _Job) -> None:
        """Give the process one more document."""
        if not self.jobs:
            self.begin()
        self.jobs.append(job)
        message = line({"number": job.number, "order": list(job.order), "size": place_of(job.raw)})
        self._child.send(message, *([job.raw] if isinstance(job.raw, bytes) else []))

    def waited(self) -> float:
        """Seconds spent on the present document, by the clock."""
        return monotonic() - self._begun if self.ready and self.jobs else 0.0

    def takes_long(self) -> bool:
        """Whether the present document takes long, by processor time where the machine is busy."""
        if (waited := self.waited()) < PATIENCE:
            return False
        return waited >= STALLED or self._child.spent() - self._spent >= PATIENCE

    def linger(self) -> None:
        """Lower the priority of the process, which takes long over a document."""
        self.lingers = True
        self._child.calm()

    def end(self) -> None:
        """End the process at once."""
        self._child.kill()
        self._child.close()

    def kill(self) -> None:
        """Kill the process; its end is then noticed like any other."""
        self._child.kill()


class Readers:
    """Has documents read. ``terms``: what :func:`~sharc_crawler.live.reading.document.detector_of` takes."""

    def __init__(self, terms: dict[str, str | None]) -> None:
        self.awaited = False  #: the scheduler has nothing to do but wait for a reading
        self.read_on: Callable[[], None] = lambda: None  #: called then, once there is one
        self._terms = terms
        self._readers: list[_Reader] = []
        self._waiting: deque[_Job] = deque()  # not given to a process yet
        self._jobs: dict[int, _Job] = {}
        self._number = 0
        self.held = 0  #: bytes in memory of unread documents
        self._tick: asyncio.TimerHandle | None = None
        self._hears = cache(is_asyncio_available)  # called for each document

    @property
    def pending(self) -> int:
        """Number of documents that are not read yet."""
        return len(self._jobs)

    def start(self) -> None:
        """Start a process before the first document comes."""
        if not self._readers and self._hears():
            self._another()

    def read(self, raw: Octets, order: Order) -> WhenRead:
        """Have a document read; the future always gets a reading, at worst one that only says why it failed."""
        if (digested := _digested(raw, order)) is not None:
            return self._at_once(digested)
        if not self._hears():
            from sharc_crawler.live.reading.document import read_here  # another reactor cannot listen to processes

            return self._at_once(read_here(raw, order, self._terms))
        self._number += 1
        job = _Job(order, raw, self._number, asyncio.get_running_loop().create_future())
        self._jobs[self._number] = job
        self.held += in_memory(raw)
        self._waiting.append(job)
        self._give()
        return job.future

    def _at_once(self, reading: Reading) -> WhenRead:
        future: WhenRead = asyncio.get_running_loop().create_future() if self._hears() else Future()
        future.set_result(reading)
        return future

    async def finish(self) -> None:
        """Return once everything is read, or cannot be."""
        if self._jobs:
            await asyncio.wait([job.future for job in self._jobs.values()])

    def close(self) -> None:
        """End all processes."""
        if self._tick:
            self._tick.cancel()
        for reader in self._readers:
            reader.end()
        self._readers.clear()

    def _another(self) -> None:
        try:
            self._readers.append(_Reader(self._terms, self._receive, self._process_ended))
        except OSError as error:
            if not self._readers:
                self._give_up(f"the process that reads documents cannot be started: {error}")

    def _give_up(self, why: str) -> None:
        for job in list(self._jobs.values()):
            self._resolve(job, Reading(problems=(why,), lost=job.order.digests))
        self._waiting.clear()

    def _give(self) -> None:
        """Give waiting documents to the least busy process; if all linger, start another."""
        if self._tick is None and self._jobs:
            self._tick = asyncio.get_running_loop().call_later(PATIENCE, self._look)
        if not self._waiting:
            return
        wanted = 2 if any(len(job.raw) > LONG for job in self._waiting) else 1  # starting one may take long
        for _ in range(len(self._readers), min(MOST, sum(reader.lingers for reader in self._readers) + wanted)):
            self._another()
        free = [reader for reader in self._readers if not reader.lingers]
        one_starts = len(free) > 1 and sum(one.ready for one in free) == 1  # then long documents wait for it
        held = list[_Job]()
        while self._waiting and free:
            reader = min(free, key=lambda one: (not one.ready, sum(len(job.raw) for job in one.jobs)))
            if len(reader.jobs) >= AHEAD:
                break
            job = self._waiting.popleft()
            if one_starts and len(job.raw) > LONG:
                held.append(job)
            else:
                reader.give(job)
        self._waiting.extendleft(reversed(held))

    def _look(self) -> None:
        """Look, now and then, for processes that take long over a document."""
        self._tick = None
        for reader in self._readers:
            if not reader.lingers and reader.takes_long():
                self._take_back(reader)
            if reader.jobs and reader.waited() > LONGEST + len(reader.jobs[0].raw) / DIGESTED:
                reader.kill()
        self._give()

    def _take_back(self, reader: _Reader) -> None:
        """Give the documents behind the present one of a slow process to others."""
        reader.linger()
        behind = [reader.jobs.pop() for _ in range(len(reader.jobs) - 1)]
        self._waiting.extendleft(job for job in behind if job.number in self._jobs)

    def _receive(self, reader: _Reader, answer: bytes) -> None:
        message = json.loads(answer)
        if "ready" in message:
            reader.ready = True
            reader.begin()
            self._give()
            return
        if reader.jobs and reader.jobs[0].number == message["number"]:
            reader.jobs.popleft()
            reader.begin()
        job = self._jobs.get(message["number"])
        if job is not None:  # otherwise another process has read it by now
            reading = unpacked_reading(message, job.order.url)
            if job.deaths >= _ATTEMPTS:
                why = "it could not be read, so its links are missing: the process that reads documents ended twice"
                reading = replace(reading, problems=(*reading.problems, why))
            self._resolve(job, reading)
        if reader.lingers and not reader.jobs and reader in self._readers:  # its last answers may come together
            self._readers.remove(reader)
            reader.end()
        self._give()
        self._tell()

    def _resolve(self, job: _Job, reading: Reading) -> None:
        self.held -= in_memory(self._jobs.pop(job.number).raw)
        if not job.future.cancelled():
            job.future.set_result(reading)

    def _process_ended(self, reader: _Reader, code: int) -> None:
        """Handle the end of a process: its document is tried again, in the end only digested."""
        self._readers.remove(reader)
        from sharc_crawler.live.writing.errors_as_json import ended_by  # rarely needed

        ended = ended_by(code, "SHARC_DETECTOR", str(self._terms["detector"]))
        logger.warning("A process that reads documents ended (%s); another one was started.", ended)
        jobs = [job for job in reader.jobs if job.number in self._jobs]
        if jobs:
            self._try_again(jobs[0], f"the reading process ended ({ended}) each time")
        self._waiting.extendleft(job for job in reversed(jobs) if job.number in self._jobs)
        self._give()
        self._tell()

    def _try_again(self, job: _Job, why: str) -> None:
        job.deaths += 1
        if job.deaths == _ATTEMPTS:
            job.order = job.order._replace(wants=Wants.NOTHING, compared=False)
        elif job.deaths > _ATTEMPTS:
            self._resolve(job, Reading(problems=(why,), lost=job.order.digests))

    def _tell(self) -> None:
        if self.awaited:
            self.awaited = False
            self.read_on()


def _digested(raw: Octets, order: Order) -> Reading | None:
    """The reading of a small answer of which only the digest is wanted (a redirect, an error, a picture)."""
    if order.wants is not Wants.NOTHING or order.compared or len(raw) > SMALL:
        return None
    message = parse_response(raw)
    if message is None:
        return Reading()
    if message.values(b"content-encoding"):
        return None
    return Reading(Payload(message.digest) if order.digests else Payload())
