"""| A worker: claims sites, captures them with one engine, and hands over those that it may not keep."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from sharc_crawler.errors import SiteError, StoreUnavailable
from sharc_crawler.fleet.ledger import Renewal, SiteState, Wish
from sharc_crawler.live.fleet.claiming import Claims
from sharc_crawler.live.fleet.clerk import RENEW, Clerk
from sharc_crawler.live.fleet.ending import Endings
from sharc_crawler.live.fleet.events import log_event
from sharc_crawler.live.fleet.holding import REST, Holdings
from sharc_crawler.live.fleet.pacing import Turns
from sharc_crawler.live.fleet.purse import Purse
from sharc_crawler.live.fleet.robots import take

if TYPE_CHECKING:
    from sharc_crawler.live.fleet.history import SharedHistory
    from sharc_crawler.live.fleet.keeping import Keeping
    from sharc_crawler.live.session import Session
    from sharc_crawler.model import Fetch


class FleetWorker:
    """What a process of a fleet does with its sites.

    ``room``: most sites held; ``until_done``: end when no site is left to capture; ``by_address``: all names of an
    address are one machine; ``history``: keeps what captures teach in the ledger.
    """

    def __init__(
        self,
        clerk: Clerk,
        kept: Keeping,
        room: int,
        *,
        until_done: bool = False,
        by_address: bool = False,
        history: SharedHistory | None = None,
    ) -> None:
        self._clerk, self._room = clerk, room
        self.turns = Turns(clerk, by_address=by_address)  #: at machines that other workers ask, too
        self.purse = Purse(clerk, RENEW * clerk.term)  #: share of the fleet's budget
        self.holdings = Holdings(clerk, kept, history)
        self.endings = Endings(self.holdings)
        self._claims = Claims(self.holdings, self.purse, room, until_done=until_done)
        self._extra = 0  #: sites above this worker's share, by the last renewal

    async def begin(self, session: Session, wake: Callable[[], None], close: Callable[[], None]) -> None:
        """Begin to work; ``wake`` has the engine ask again, ``close`` ends it."""
        self._session, self._wake = session, wake
        holdings, clerk = self.holdings, self._clerk
        holdings.session, holdings.close = session, close
        clerk.facts, clerk.room = self._facts, self._room
        clerk.written, clerk.superseded, clerk.renewed = self.written, self._superseded, self._renewed
        self._claims.begun = self.written
        await self._go_by_its_clock()
        for work in (
            clerk.write(),
            clerk.renew(),
            clerk.merge(),
            self.turns.reserve(),
            self.purse.fill(),
            self._claims.look(),
        ):
            holdings.start(work)
        log_event("begins", worker=clerk.worker, room=self._room, term=clerk.term)

    async def _go_by_its_clock(self) -> None:
        """Use the ledger's clock, so that times ascend across workers."""
        asked, now = await self._clerk.time()
        self._clerk.skew = self._session.clock.set(now + (time.monotonic() - asked) / 2)

    # -- what the scheduler asks -------------------------------------------------------------------------------------

    def sendable(self) -> Fetch | None:
        """A fetch that waited for the journal."""
        return self.holdings.gate.sendable()

    def may_go(self, fetch: Fetch) -> bool:
        """May the fetch be sent now? Otherwise it is kept for later."""
        holdings, site = self.holdings, fetch.site
        held = self._clerk.held.get(site)
        may = held is not None and held.safe and self._clerk.may_send(site) and site not in holdings.going
        if may and not holdings.robots.may_be_known(fetch):
            return True
        self._session.sites.hold(site)
        if may:
            holdings.start(self._known_or_read(fetch))
            return False
        holdings.gate.keep(fetch)
        if held is not None and held.safe:
            self.written(site)
        return False

    async def _known_or_read(self, fetch: Fetch) -> None:
        """Use a robots.txt that another capture has read, or read it."""
        holdings, session = self.holdings, self._session
        known = await holdings.robots.look(fetch)
        if not holdings.robots.answered(fetch):
            return
        if known is None:
            holdings.gate.keep(fetch)
            self.written(fetch.site)
            return
        try:
            take(session.sites, fetch, *known, session.clock.now())
        except SiteError as error:
            self.endings.cannot_go_on(error.site, error.cause)

    # -- what the ledger answers -------------------------------------------------------------------------------------

    def written(self, site: str) -> None:
        """Let a site go on, or end it, as the journal has all its steps."""
        holdings, sites = self.holdings, self._session.sites
        if site in holdings.going or site in holdings.robots or site not in sites:
            return
        if not holdings.gate.open(site):
            if sites[site].done:
                holdings.start(self.endings.end(site, SiteState.DONE))
            else:
                sites.go_on(site)
        self._wake()

    def _superseded(self, site: str, epoch: int) -> None:
        """Drop a site that another worker owns."""
        log_event("superseded", site=site, epoch=epoch)
        if site not in self.holdings.going:  # otherwise the step under way notices
            self.holdings.drop(site)

    def _renewed(self, answer: Renewal) -> None:
        holdings, endings = self.holdings, self.endings
        holdings.leaving |= answer.draining
        for site, wish in answer.wishes.items():
            if site in holdings.places and site not in holdings.going:
                if wish is Wish.STOP:
                    holdings.start(endings.end(site, SiteState.STOPPED))
                elif wish is Wish.PAUSE or holdings.leaving:
                    holdings.start(endings.hand_over(site))
        extra, self._extra = min(self._extra, answer.surplus), answer.surplus
        if extra:  # only the second time: others may not have reported new claims
            self._claims.not_before = time.monotonic() + self._clerk.term / 2  # else it would be claimed again at once
            resting = sorted(set(holdings.places) - holdings.going, key=lambda site: self._clerk.held[site].seq)
            for site in resting[:extra]:
                holdings.start(endings.hand_over(site))
        if holdings.leaving and not holdings.places and not holdings.going:
            holdings.close()
        self._wake()

    def _facts(self, site: str) -> tuple[int, int, int]:
        """Pages, visits and bytes of a site now."""
        if site not in self._session.sites:
            return 0, 0, 0
        capture = self._session.sites[site].capture
        counts = capture.counts
        return counts.pages - counts.late, counts.visits + counts.revisits, capture.budget.received

    # -- the end -----------------------------------------------------------------------------------------------------

    async def leave(self) -> None:
        """Hand over what is left after the engine has ended, within a term."""
        holdings, session, clerk = self.holdings, self._session, self._clerk
        holdings.leaving = True
        for number, lease in list(session.leases.items()):  # they were never sent
            del session.leases[number]
            session.sites.give_back(lease.fetch, session.clock.now())
        for site in set(holdings.places) - holdings.going:
            if site in session.sites:
                done = session.sites[site].done
                holdings.start(self.endings.end(site, SiteState.DONE) if done else self.endings.hand_over(site))
        deadline = time.monotonic() + clerk.term
        while (holdings.places or holdings.going) and time.monotonic() < deadline:
            await asyncio.sleep(REST)
        with suppress(StoreUnavailable):
            await self.purse.give_back()
            await clerk.ask(clerk.ledger.leave, clerk.worker)
        holdings.end()
        clerk.close()
        log_event("ends", worker=clerk.worker, left=len(holdings.places))
