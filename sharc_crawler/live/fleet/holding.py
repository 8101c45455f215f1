"""| The sites that a worker holds, and what claiming and ending do with them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from sharc_crawler.errors import SharcError, StoreUnavailable, Superseded
from sharc_crawler.fleet.ledger import SiteState, Tenure
from sharc_crawler.live.failures.lost_sites import forget
from sharc_crawler.live.fleet.clerk import AGAIN, Clerk
from sharc_crawler.live.fleet.events import log_event
from sharc_crawler.live.fleet.robots import SharedRobots

if TYPE_CHECKING:
    from sharc_crawler.live.fleet.history import SharedHistory
    from sharc_crawler.live.fleet.keeping import Keeping
    from sharc_crawler.live.fleet.place import FleetPlace
    from sharc_crawler.live.session import Session
    from sharc_crawler.model import Fetch

REST = 0.05  #: seconds between two looks whether a site is at rest

logger = logging.getLogger(__name__)


class Holdings:
    """The sites of a worker, from claim to end. ``history``: keeps in the ledger what captures teach; or None."""

    session: Session
    close: Callable[[], None]  #: ends the engine

    def __init__(self, clerk: Clerk, kept: Keeping, history: SharedHistory | None) -> None:
        self.clerk, self.kept, self.history = clerk, kept, history
        self.places: dict[str, FleetPlace] = {}  #: by site
        self.going: set[str] = set()  #: sites being begun, ended or handed over
        self.gate = Gate(clerk.may_send)
        self.robots = SharedRobots(clerk)  #: of machines that several sites ask
        self.leaving = False
        self._tasks: set[asyncio.Task[None]] = set()

    def epoch(self, site: str) -> int | None:
        """The epoch in which a site is held; ``None``: it has not begun."""
        return self.places[site].epoch if site in self.places else None

    # -- a site goes -------------------------------------------------------------------------------------------------

    async def rest(self, site: str) -> Tenure:
        """Wait until nothing of a site is in flight and the journal has everything; nothing more is sent."""
        session, clerk = self.session, self.clerk
        session.sites.hold(site)
        self._take_back(site)
        while (held := clerk.held.get(site)) is not None and site in session.sites:
            if held.safe and not any(lease.fetch.site == site for lease in session.leases.values()):
                return held.tenure
            await asyncio.sleep(REST)
        raise Superseded(f"{site} is another worker's")

    @contextmanager
    def leave_alone(self, site: str) -> Iterator[None]:
        """While ending or handing over a site: an error is logged, and the site left to whoever claims it next."""
        self.going.add(site)
        why: Exception | None = None
        try:
            yield
        except Superseded as error:
            why = error
            if site in self.clerk.held:  # otherwise it was logged before
                log_event("superseded", site=site, epoch=self.epoch(site), reason=str(error))
        except (SharcError, OSError) as error:
            why = error
            log_event("cannot-end", site=site, epoch=self.epoch(site), reason=str(error))
        finally:
            self.going.discard(site)
        if why:
            self.drop(site, str(why))

    def drop(self, site: str, why: str = "") -> None:
        """Leave a site to whoever claims it next: nothing more is sent or written for it here."""
        held, place = self.clerk.held.get(site), None
        self.clerk.forget(site)
        if site in self.session.sites:
            self.forget(site)
        if site in self.places:
            place = self.gone(site)
        if held or place:
            self.going.add(site)  # do not claim it again before its files are closed
            self.start(self._abandon(site, place, held.tenure.epoch if held else None, why))

    async def _abandon(self, site: str, place: FleetPlace | None, epoch: int | None, why: str) -> None:
        """Let go of the files. With an ``epoch``, release the site; for a term nobody claims it."""
        try:
            if place:
                with suppress(SharcError):  # an ended writer holds no files
                    await self.session.archivist.abandon(site)
                await self.discard(place)
            if epoch is not None:
                with suppress(StoreUnavailable):  # its term will run out
                    clerk = self.clerk
                    await clerk.ask(clerk.ledger.release, site, epoch, SiteState.WAITING, why, clerk.term)
        finally:
            self.going.discard(site)

    async def discard(self, place: FleetPlace) -> None:
        """Remove a site's local state."""
        await place.leave()
        place.discard()
        await asyncio.to_thread(self.kept.let_go, place.folder)

    def gone(self, site: str) -> FleetPlace:
        """Forget the place of a site, and return it."""
        self.session.masks.pop(site, None)
        del self.session.places[site]
        return self.places.pop(site)

    def forget(self, site: str) -> None:
        """Discard what is in flight for a site."""
        self._take_back(site)
        forget(self.session, site)

    def _take_back(self, site: str) -> None:
        """Give back what was decided, so that its host is not busy should the site return."""
        for fetch in (*self.gate.taken_back(site), *self.robots.taken_back(site)):
            self.session.sites.give_back(fetch, self.session.clock.now())

    async def release(self, tenure: Tenure, state: SiteState, reason: str = "") -> bool:
        """Release a site; ``False``: it was another worker's already."""
        released = await self.certain(self.clerk.ledger.release, tenure.site, tenure.epoch, state, reason)
        self.clerk.forget(tenure.site)
        return released

    async def certain(self, method: Callable[..., bool], *values: object) -> bool:
        """Ask the ledger until it answers."""
        while True:
            with suppress(StoreUnavailable):
                return await self.clerk.ask(method, *values)
            await asyncio.sleep(AGAIN)

    # -- what runs beside --------------------------------------------------------------------------------------------

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work in the background; a bug of ours ends the worker."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("event=fault reason=%r", f"{type(error).__name__}: {error}", exc_info=error)
            self.close()

    def end(self) -> None:
        """Cancel background work."""
        for task in self._tasks:
            task.cancel()


# -- pages that are decided, and wait until the journal has what they rest on ------------------------------------------


class Gate:
    """Holds decided fetches until the journal has what they rest on; ``may_send``: whether a site may be asked now.

    >>> from sharc_crawler.model import NO_VALIDATORS, Fetch, Kind, Plan, Slot
    >>> gate = Gate(lambda site: True)
    >>> what = 0, "a.example", "http://a.example/", Kind.PAGE, Slot.FIRST, Plan.HOPEFUL
    >>> gate.keep(Fetch(1, *what, "a.example", 1, NO_VALIDATORS, 0.0))
    >>> gate.sendable() is None, gate.open("a.example"), gate.open("b.example")
    (True, True, False)
    >>> gate.sendable().site, gate.sendable()
    ('a.example', None)
    """

    def __init__(self, may_send: Callable[[str], bool]) -> None:
        self._may_send = may_send
        self._kept: dict[str, Fetch] = {}
        self._sendable: dict[str, Fetch] = {}

    def keep(self, fetch: Fetch) -> None:
        """Hold a fetch back."""
        self._kept[fetch.site] = fetch

    def open(self, site: str) -> bool:
        """Let a site's fetch be sent, as the journal has all its steps; returns whether there was one."""
        fetch = self._kept.pop(site, None)
        if fetch is not None:
            self._sendable[site] = fetch
        return fetch is not None

    def sendable(self) -> Fetch | None:
        """A fetch that may be sent now."""
        for site in self._sendable:
            if self._may_send(site):
                return self._sendable.pop(site)
        return None

    def taken_back(self, site: str) -> Iterator[Fetch]:
        """The fetches of a site, which are not to be sent any more."""
        for kept in (self._kept, self._sendable):
            if fetch := kept.pop(site, None):
                yield fetch
