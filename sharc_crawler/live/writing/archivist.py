"""| Has exchanges written by another process, while the crawl goes on."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sharc_crawler.bodies.spool import Octets, in_memory
from sharc_crawler.live.writing.child import Child
from sharc_crawler.live.writing.messages import NotArchivedError, line, order_to_describe, order_to_keep
from sharc_crawler.model import CaptureRef, Exchange

if TYPE_CHECKING:
    from sharc_crawler.archive.options import Original, Resource
    from sharc_crawler.live.requests import Lease

logger = logging.getLogger(__name__)

PROCESS = "sharc_crawler.live.writing.writer_process"


class Archivist:
    """Has exchanges written. Many are synced together, and then they count; a large one does not hold up others.

    ``terms``: returns the arguments of :class:`~sharc_crawler.live.writing.writer_process.Writers`, once needed.
    """

    def __init__(self, terms: Callable[[], dict[str, Any]]) -> None:
        self.awaited = False  #: the scheduler has nothing to do but wait for a write
        self.written: Callable[[], None] = lambda: None  #: called then, once an exchange is on disk or cannot be
        self.notes: list[str] = []  #: events that the reports are to note; whoever notes them removes them
        self._terms = terms
        self._child: Child | None = None
        self._sites: set[str] = set()  # sites whose files are to be finished
        self._waiting: dict[int, tuple[asyncio.Future[CaptureRef], Octets]] = {}  # large ones are on disk
        self._number = 0
        self.held = 0  #: bytes in memory of exchanges that are not on disk yet
        self._orders: list[bytes] = []  # of this turn of the reactor: sent and synced together
        self._giving: asyncio.Handle | None = None
        self.turn = asyncio.Lock()  #: held by an order until it is done
        self._done: asyncio.Future[dict[str, Any] | None] | None = None  # the answer to an order: None, or an error

    @property
    def pending(self) -> int:
        """Number of exchanges that are not on disk yet."""
        return len(self._waiting)

    async def open(self, site: str, place: tuple[str, str] | None = None) -> None:
        """Make the writer of a site ready, which repairs what a crash left open; raises what prevents it.

        ``place``: folder and run of a site that is added during the crawl.
        """
        await self._order("open", site=site, **({"place": place} if place else {}))
        self._sites.add(site)

    async def end(self, site: str) -> None:
        """Finish the files of a site that gets no more exchanges; raises what prevents it."""
        await self._order("end", site=site)
        self._sites.discard(site)

    async def abandon(self, site: str) -> None:
        """Leave a site's files to their new owner."""
        self._sites.discard(site)
        await self._order("abandon", site=site)

    def keep(self, site: str, exchange: Exchange, original: Original | None = None) -> asyncio.Future[CaptureRef]:
        """Have an exchange written (a 304: as a revisit of ``original``); the future gets its place once synced."""
        return self._handed(site, exchange.response, lambda number: order_to_keep(site, exchange, original, number))

    def describe(self, site: str, resources: Sequence[Resource]) -> asyncio.Future[CaptureRef]:
        """Have records written that the crawl made itself; the future gets the place of the first."""
        return self._handed(site, b"", lambda number: order_to_describe(site, resources, number))

    def _handed(self, site: str, held: Octets, order: Callable[[int], list[bytes]]) -> asyncio.Future[CaptureRef]:
        """Give an order that is answered once it is synced; ``held`` stays in memory until then."""
        future: asyncio.Future[CaptureRef] = asyncio.get_running_loop().create_future()
        try:
            self._process()
        except NotArchivedError as error:
            future.set_exception(error)
            future.exception()
            return future
        self._sites.add(site)
        self._number += 1
        self._waiting[self._number] = (future, held)
        self.held += in_memory(held)
        self._orders += order(self._number)
        if self._giving is None:
            self._giving = asyncio.get_running_loop().call_soon(self._give)
        return future

    async def finish(self) -> None:
        """Return once everything is on disk, or cannot be."""
        if self._waiting:
            await asyncio.wait([future for future, _ in self._waiting.values()])

    async def close(self) -> None:
        """Finish all files, including those of a process that died; nothing is taken after this."""
        if not self._sites and self._child is None:
            return
        try:
            for site in sorted(self._sites):
                await self._order("open", site=site)
            await self._order("close")
        finally:
            if self._child is not None:
                self._child.close()
            self._child = None
            self._sites.clear()

    def _process(self) -> Child:
        if self._child is None:
            try:
                self._child = Child(PROCESS, self._receive, self._process_ended)
            except OSError as error:
                why = f"the process that writes WARC files cannot be started: {error}"
                raise NotArchivedError(why) from error
            self._child.send(line(self._terms()))
        return self._child

    async def _order(self, what: str, **more: object) -> None:
        """Give another kind of order; one at a time."""
        async with self.turn:
            self._give()
            child = self._process()
            self._done = asyncio.get_running_loop().create_future()
            child.send(line({"do": what, **more}))
            if error := await self._done:
                from sharc_crawler.live.writing.errors_as_json import error_of  # only after an error

                raise error_of(error)

    def _give(self) -> None:
        if self._orders:
            self._process().send(*self._orders, line({"do": "sync"}))
        self._forget()

    def _forget(self) -> None:
        if self._giving is not None:
            self._giving.cancel()
        self._orders, self._giving = [], None

    def _receive(self, answer: bytes) -> None:
        message = json.loads(answer)
        if "kept" in message:
            for number, one in message["kept"]:
                self._answered(number, one)
            self._tell()
        elif "log" in message:
            logger.log(message["level"], "%s", message["log"])
            self.notes += message["notes"]
        else:
            self._report(message["done"])

    def _answered(self, number: int, kept: list[Any] | dict[str, Any]) -> None:
        future, held = self._waiting.pop(number)
        self.held -= in_memory(held)
        if future.cancelled():  # nobody waits any more; it is written all the same
            return
        if isinstance(kept, dict):
            from sharc_crawler.live.writing.errors_as_json import error_of

            future.set_exception(error_of(kept))
            future.exception()  # marks it as seen, so that asyncio logs no unretrieved error
        else:
            future.set_result(CaptureRef(*kept))

    def _process_ended(self, code: int) -> None:
        """Handle the end of the process: what it had not answered is not archived. Another may be started."""
        self._child = None
        self._forget()
        from sharc_crawler.live.writing.errors_as_json import of_an_end  # rarely needed

        why, note = of_an_end(code, self._terms().get("writer", ""), len(self._waiting))
        self.notes.append(note)
        logger.warning("%s", note)
        for number in list(self._waiting):
            self._answered(number, why)
        self._report(why)
        self._tell()

    def _report(self, done: dict[str, Any] | None) -> None:
        if self._done and not self._done.done():
            self._done.set_result(done)

    def _tell(self) -> None:
        if self.awaited:
            self.awaited = False
            self.written()


def conclude(lease: Lease) -> None:
    """End a visit: it counts once its exchange is on disk; otherwise it has failed, or is repeated."""
    if lease.written is None:
        return
    assert lease.outcome is not None, "noted before it is written"
    if (error := lease.written.exception()) is None:
        lease.outcome = lease.outcome._replace(capture=lease.written.result())
    else:
        from sharc_crawler.live.failures.failed_exchanges import unarchived  # rarely needed

        unarchived(lease, error)
