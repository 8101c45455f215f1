"""| Claims sites while the worker has room, and begins or continues each."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.errors import DataError, SharcError, StoreUnavailable
from sharc_crawler.fleet.ledger import SiteState, Tenure
from sharc_crawler.live.fleet.beginning import begin_site
from sharc_crawler.live.fleet.clerk import RENEW
from sharc_crawler.live.fleet.events import log_event
from sharc_crawler.live.fleet.keeping import WAY_OUT, ElsewhereError
from sharc_crawler.live.fleet.place import FleetPlace
from sharc_crawler.live.writing.space import is_full

if TYPE_CHECKING:
    from sharc_crawler.live.fleet.holding import Holdings
    from sharc_crawler.live.fleet.purse import Purse
    from sharc_crawler.model import Seconds
    from sharc_crawler.state.rows import HostRow

LOOK: Seconds = 1.0  #: between two looks for sites when there were none
AT_ONCE = 20  #: sites claimed together
SILENT = 3  #: owners in a row that ended while beginning a site: the site may have ended them


class Claims:
    """Claims sites and begins them; ``begun`` is called with a site that may be asked for a page."""

    def __init__(self, holdings: Holdings, purse: Purse, room: int, *, until_done: bool) -> None:
        self._of, self._purse, self._room, self._until_done = holdings, purse, room, until_done
        self.begun: Callable[[str], None] = lambda _: None
        self.not_before = 0.0  #: no site is claimed before
        self._had: dict[str, int] = {}  #: sites that this worker kept, and the step after which they made none
        self._looked = -math.inf  #: when sites of silent owners were last claimed

    async def look(self) -> None:
        """Claim sites while there is room."""
        worker, clerk, purse = self._of, self._of.clerk, self._purse
        while not worker.leaving:
            claimed: list[Tenure] = []
            free = self._room - len(clerk.held)
            if free > 0 and time.monotonic() >= self.not_before and not purse.used_up:
                claimed = await self._claimed(min(free, AT_ONCE))
            for tenure in claimed:
                await self._take(tenure)
            if not claimed:
                if self._until_done and purse.used_up:
                    log_event("budget-used-up", held=len(clerk.held))
                    worker.leaving = True  # its sites are handed over at the next renewal
                    return
                if self._until_done and not clerk.held and await self._nothing_is_left():
                    worker.close()
                    return
                await asyncio.sleep(LOOK)

    async def _claimed(self, most: int) -> list[Tenure]:
        clerk, asked = self._of.clerk, time.monotonic()
        claimed: list[Tenure] = []
        silent = asked >= self._looked + RENEW * clerk.term
        self._looked = asked if silent else self._looked
        try:
            given = await clerk.ask(clerk.ledger.claim, clerk.worker, most, clerk.term, silent=silent)
            claimed = [tenure for tenure in given if not await self._still_here(tenure)]
        except StoreUnavailable:  # renewing logs it; owners with expired terms renew first
            self._looked = time.monotonic()
        for tenure in claimed:
            clerk.take(tenure, asked)
        return claimed

    async def _nothing_is_left(self) -> bool:
        clerk = self._of.clerk
        try:
            states = (await clerk.ask(clerk.ledger.status)).states
        except StoreUnavailable:
            return False
        return not (states.get(SiteState.WAITING) or states.get(SiteState.HELD))

    async def _still_here(self, tenure: Tenure) -> bool:
        """Is this worker still letting go of the site from its last term? Then the new term is given back."""
        worker, clerk, site = self._of, self._of.clerk, tenure.site
        if not (site in worker.going or site in worker.places or site in worker.session.sites):
            return False
        why = "this worker is letting go of it from its last term"
        log_event("not-begun", site=site, epoch=tenure.epoch, reason=why)
        if site in clerk.held:
            clerk.lose(site)
        await clerk.ask(clerk.ledger.release, site, tenure.epoch)
        return True

    async def _take(self, tenure: Tenure) -> None:
        """Begin or continue a site; one that cannot be captured has failed."""
        worker, site = self._of, tenure.site
        error: SharcError | OSError | None = None
        worker.going.add(site)
        try:
            _check_former(tenure)
            if worker.history:
                await worker.history.take_in(worker.clerk, site)
            await begin_site(tenure, worker.clerk, worker.session, worker.kept, self._placed, worker.history)
        except (SharcError, OSError) as one:
            error = one
            await self._not_begun(tenure, error)
        finally:
            worker.going.discard(site)
        if error:
            worker.drop(site, str(error))
        else:
            worker.start(self._copied(site, worker.places[site]))
            if worker.clerk.held[site].safe:
                self.begun(site)

    async def _copied(self, site: str, place: FleetPlace) -> None:
        """Leave a site whose copy cannot be written to whoever claims it next."""
        worker = self._of
        try:
            if place.copied is not None:
                await place.copied
        except (SharcError, OSError) as error:
            if worker.places.get(site) is place and site not in worker.going:  # otherwise the step under way notices
                log_event("cannot-go-on", site=site, epoch=place.epoch, reason=str(error))
                worker.session.sites.stop(site)
                worker.drop(site, str(error))

    async def _not_begun(self, tenure: Tenure, error: SharcError | OSError) -> None:
        """Report why, and release the site if it is its own fault."""
        worker, site = self._of, tenure.site
        if site not in worker.clerk.held:  # another worker has it, which was logged
            return
        if isinstance(error, ElsewhereError):
            await self._not_here(tenure, error)
            return
        away = isinstance(error, StoreUnavailable) or (isinstance(error, OSError) and bool(worker.kept.objects))
        ours = away or is_full(error) or bool(worker.session.space.lacking())
        # otherwise another worker tries again after a term
        failed = not ours and await worker.release(tenure, SiteState.FAILED, str(error))
        log_event("failed" if failed else "not-begun", site=site, epoch=tenure.epoch, reason=str(error))

    async def _not_here(self, tenure: Tenure, error: ElsewhereError) -> None:
        """Release a site whose files others may find. If nobody has for a term, and it was kept here, it has failed."""
        self.not_before = time.monotonic() + self._of.clerk.term
        gone = self._had.get(tenure.site) == tenure.seq
        why = "this worker's --output is another than theirs, or is not mounted here"
        if tenure.site in self._had:
            self._had[tenure.site] = tenure.seq
            why = f"it was moved or removed while it was captured, or is no longer mounted here; {WAY_OUT}"
        state, reason = SiteState.FAILED if gone else SiteState.WAITING, f"{error}: {why}"
        await self._of.release(tenure, state, reason)
        log_event("failed" if gone else "not-begun", site=tenure.site, epoch=tenure.epoch, reason=reason)

    def _placed(self, tenure: Tenure, folder: Path) -> FleetPlace:
        """Make the place of a site."""
        worker, session, site = self._of, self._of.session, tenure.site
        journal, read = partial(self._journal, site), self._read
        place = FleetPlace(folder, tenure.epoch, session.config, session.stores, journal, read)
        worker.places[site] = session.places[site] = place
        self._had[site] = -1
        return place

    def _journal(self, site: str, line: str, received: int) -> None:
        """Journal what a site did and received; the site waits until it is written."""
        self._of.clerk.append(site, line)
        self._purse.receive(received)
        if site in self._of.session.sites:
            self._of.session.sites.hold(site)

    def _read(self, rows: Iterable[HostRow]) -> None:
        """Share the robots.txt of these hosts."""
        worker = self._of
        worker.start(worker.robots.keep(list(rows), worker.session.clock.now()))


def _check_former(tenure: Tenure) -> None:
    if tenure.silent >= SILENT:
        what = f"{tenure.silent} workers in a row, {tenure.former} the last, ended without a word as they began with it"
        way_out = "see how they ended (memory? its strategy?), then `sharc fleet requeue`"
        raise DataError(f"{what}: it may have ended them; {way_out}")
