"""A worker: claims sites, has each captured by the engine that they share, and hands over what it may not keep."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.errors import SharcError, SiteError, StoreUnavailable, StrategyError, Superseded
from sharc_crawler.fleet.journal import lines_of
from sharc_crawler.fleet.ledger import SiteState, Wish
from sharc_crawler.live.fleet.beginning import begin_site, journal
from sharc_crawler.live.fleet.clerk import AGAIN, RENEW
from sharc_crawler.live.fleet.gate import Gate
from sharc_crawler.live.fleet.pacing import Turns
from sharc_crawler.live.fleet.place import FleetPlace, write_end
from sharc_crawler.live.fleet.purse import Purse
from sharc_crawler.live.fleet.robots import SharedRobots, take
from sharc_crawler.live.fleet.saying import say
from sharc_crawler.live.writing.space import is_full

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator
    from typing import Any

    from sharc_crawler.fleet.ledger import Renewal, Tenure
    from sharc_crawler.frontier.store import HostRow
    from sharc_crawler.live.fleet.clerk import Clerk
    from sharc_crawler.live.fleet.keeping import Keeping
    from sharc_crawler.live.session import Session
    from sharc_crawler.model import Fetch, Seconds

LOOK: Seconds = 1.0  #: between two looks for sites, where there were none
AT_ONCE = 20  #: sites that are claimed together
REST: Seconds = 0.05  #: between two looks whether a site is at rest
STOPPED = "by order (sharc fleet stop)"  #: in words
NOTHING = "no page was captured"

logger = logging.getLogger(__name__)


class FleetWorker:
    """The sites that a process of a fleet holds, from their claim to their end.

    ``room``: sites held at most; ``until_done``: it ends when no site of the fleet is left to capture; ``by_address``:
    all names of one address are one machine; ``shares_history``: what captures teach is kept in the ledger.
    """

    def __init__(
        self,
        clerk: Clerk,
        kept: Keeping,
        room: int,
        *,
        until_done: bool = False,
        by_address: bool = False,
        shares_history: bool = False,
    ) -> None:
        self._clerk, self._kept, self._room, self._until_done = clerk, kept, room, until_done
        self._shares_history = shares_history
        self.turns = Turns(clerk, by_address=by_address)  #: at machines that others ask, too
        self.robots = SharedRobots(clerk)  #: of machines that several sites ask
        self.purse = Purse(clerk, RENEW * clerk.term)  #: what may be spent of the fleet's budget
        self.places: dict[str, FleetPlace] = {}  #: by site
        self._gate = Gate(clerk.may_send)
        self._going: set[str] = set()  #: sites that are being ended or handed over
        self._not_before = 0.0  #: no site is claimed
        self._looked = -math.inf  #: when the sites of silent owners were claimed last
        self._extra = 0  #: sites beyond this worker's share, as it was told last
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending = asyncio.Lock()  #: one site at a time: a report takes memory
        self._leaving = False
        self.ended = dict.fromkeys(SiteState, 0)

    async def begin(self, session: Session, wake: Callable[[], None], close: Callable[[], None]) -> None:
        """Begin to work; ``wake`` has the engine ask again, ``close`` ends it."""
        self._session, self._wake, self._close = session, wake, close
        clerk = self._clerk
        clerk.facts, clerk.room = self._facts, self._room
        clerk.written, clerk.superseded, clerk.renewed = self._written, self._superseded, self._renewed
        await self._go_by_its_clock()
        for work in (
            clerk.write(),
            clerk.renew(),
            clerk.merge(),
            self.turns.reserve(),
            self.purse.fill(),
            self._look_for_sites(),
        ):
            self._start(work)
        say("begins", worker=clerk.worker, room=self._room, term=clerk.term)

    async def _go_by_its_clock(self) -> None:
        """All workers' times are by the ledger's clock: what comes after a visit bears a later time, wherever it is."""
        asked, now = await self._clerk.time()
        self._clerk.skew = self._session.clock.set(now + (time.monotonic() - asked) / 2)

    # -- what the scheduler asks -------------------------------------------------------------------------------------

    def sendable(self) -> Fetch | None:
        """A fetch that waited for the journal."""
        return self._gate.sendable()

    def may_go(self, fetch: Fetch) -> bool:
        """May it be sent now? Else it is kept, and comes when it may."""
        site = fetch.site
        held = self._clerk.held.get(site)
        may = held is not None and held.safe and self._clerk.may_send(site) and site not in self._going
        if may and not self.robots.may_be_known(fetch):
            return True
        self._session.sites.hold(site)
        if may:
            self._start(self._known_or_read(fetch))
            return False
        self._gate.keep(fetch)
        if held is not None and held.safe:
            self._written(site)
        return False

    async def _known_or_read(self, fetch: Fetch) -> None:
        """A robots.txt that another site's capture may have read already; else this one does."""
        session = self._session
        known = await self.robots.look(fetch)
        if not self.robots.answered(fetch):
            return
        if known is None:
            self._gate.keep(fetch)
            self._written(fetch.site)
            return
        try:
            take(session.sites, fetch, *known, session.clock.now())
        except SiteError as error:
            self.cannot_go_on(error.site, error.cause)

    # -- what the ledger answers -------------------------------------------------------------------------------------

    def _written(self, site: str) -> None:
        """The journal has all that a site did: it goes on, or is over."""
        sites = self._session.sites
        if site in self._going or site in self.robots or site not in sites:
            return
        if not self._gate.open(site):
            if sites[site].done:
                self._start(self._end(site, SiteState.DONE))
            else:
                sites.go_on(site)
        self._wake()

    def _superseded(self, site: str, epoch: int) -> None:
        """It is another's: nothing more is sent or written for it."""
        say("superseded", site=site, epoch=epoch)
        if site not in self._going:  # else whatever is done with it finds out
            self._drop(site)

    def _renewed(self, answer: Renewal) -> None:
        places = self.places
        self._leaving |= answer.draining
        for site, wish in answer.wishes.items():
            if site in places and site not in self._going:
                if wish is Wish.STOP:
                    self._start(self._end(site, SiteState.STOPPED))
                elif wish is Wish.PAUSE or self._leaving:
                    self._start(self._hand_over(site))
        extra, self._extra = min(self._extra, answer.surplus), answer.surplus
        if extra:  # twice: others may not have told of what they claimed meanwhile
            self._not_before = time.monotonic() + self._clerk.term / 2  # else it would be claimed again at once
            resting = sorted(set(places) - self._going, key=lambda site: self._clerk.held[site].seq)
            for site in resting[:extra]:
                self._start(self._hand_over(site))
        if self._leaving and not places and not self._going:
            self._close()
        self._wake()

    def _facts(self, site: str) -> tuple[int, int, int]:
        """Pages, visits and bytes of a site by now."""
        if site not in self._session.sites:
            return 0, 0, 0
        capture = self._session.sites[site].capture
        counts = capture.counts
        return counts.pages - counts.late, counts.visits + counts.revisits, capture.budget.received

    # -- sites come --------------------------------------------------------------------------------------------------

    async def _look_for_sites(self) -> None:
        """Claim sites while there is room for them."""
        clerk = self._clerk
        while not self._leaving:
            claimed: list[Tenure] = []
            free = self._room - len(clerk.held)
            if free > 0 and time.monotonic() >= self._not_before and not self.purse.used_up:
                asked = time.monotonic()
                with suppress(StoreUnavailable):  # renewing says so
                    silent = asked >= self._looked + RENEW * clerk.term
                    most = min(free, AT_ONCE)
                    given = await clerk.ask(clerk.ledger.claim, clerk.worker, most, clerk.term, silent=silent)
                    self._looked = asked if silent else self._looked
                    claimed = [tenure for tenure in given if not await self._still_here(tenure)]
            for tenure in claimed:
                clerk.take(tenure, asked)
            for tenure in claimed:
                await self._take(tenure)
            if not claimed:
                if self._until_done and self.purse.used_up:
                    say("budget-used-up", held=len(clerk.held))
                    self._leaving = True  # what is held is handed over, when renewing comes round
                    return
                if self._until_done and not clerk.held and await self._nothing_is_left():
                    self._close()
                    return
                await asyncio.sleep(LOOK)

    async def _nothing_is_left(self) -> bool:
        try:
            states = (await self._clerk.ask(self._clerk.ledger.status)).states
        except StoreUnavailable:
            return False
        return not (states.get(SiteState.WAITING) or states.get(SiteState.HELD))

    async def _still_here(self, tenure: Tenure) -> bool:
        """Has this worker yet to let go of a site that it held before? Then it gives the new term back."""
        site = tenure.site
        if not (site in self._going or site in self.places or site in self._session.sites):
            return False
        say("not-begun", site=site, epoch=tenure.epoch, reason="this worker is letting go of it from its last term")
        if site in self._clerk.held:
            self._clerk.lose(site)
        await self._clerk.ask(self._clerk.ledger.release, site, tenure.epoch)
        return True

    async def _take(self, tenure: Tenure) -> None:
        """Begin a site, or go on with it; one that cannot be captured has failed."""
        site = tenure.site
        error: SharcError | OSError | None = None
        self._going.add(site)
        try:
            if self._shares_history:
                await self._take_in_history(site)
            shared = {"shares_history": self._shares_history}
            await begin_site(tenure, self._clerk, self._session, self._kept, self._placed, **shared)
        except (SharcError, OSError) as one:
            error = one
            await self._not_begun(tenure, error)
        finally:
            self._going.discard(site)
        if error:
            self._drop(site)
        elif self._clerk.held[site].safe:
            self._written(site)

    async def _take_in_history(self, site: str) -> None:
        from sharc_crawler.live.fleet.history import take_in  # only where there is one

        bodies = await self._clerk.ask(self._clerk.ledger.history, site)
        await asyncio.to_thread(take_in, site, bodies, Path(self._session.config.history or ""))

    async def _not_begun(self, tenure: Tenure, error: SharcError | OSError) -> None:
        """Say why, and whose affair that is."""
        site = tenure.site
        if site not in self._clerk.held:  # it is another's: that has been said
            return
        away = isinstance(error, StoreUnavailable) or (isinstance(error, OSError) and bool(self._kept.objects))
        ours = away or is_full(error) or bool(self._session.space.lacking())
        # else its term runs out, and somebody tries again
        failed = not ours and await self._release(tenure, SiteState.FAILED, str(error))
        say("failed" if failed else "not-begun", site=site, epoch=tenure.epoch, reason=str(error))

    def _placed(self, tenure: Tenure, folder: Path) -> FleetPlace:
        """Where a site is kept from now on."""
        session, site = self._session, tenure.site
        told, read = partial(self._told, site), self._read
        place = FleetPlace(folder, tenure.epoch, session.config, session.clock, session.stores, told, read)
        self.places[site] = session.places[site] = place
        return place

    def _told(self, site: str, line: str, received: int) -> None:
        """A site did something, and received so many bytes: it waits until the journal has it."""
        self._clerk.append(site, line)
        self.purse.receive(received)
        if site in self._session.sites:
            self._session.sites.hold(site)

    def _read(self, rows: Iterable[HostRow]) -> None:
        """A site read these hosts' robots.txt."""
        self._start(self.robots.keep(list(rows), self._session.clock.now()))

    # -- sites go ----------------------------------------------------------------------------------------------------

    def cannot_go_on(self, site: str, error: Exception) -> None:
        """By its strategy, it has failed; what cannot be written here is left to whoever claims it next."""
        self._session.sites.stop(site)
        if site in self._going:
            return
        if isinstance(error, StrategyError):
            self._start(self._end(site, SiteState.FAILED, str(error)))
        else:
            say("cannot-go-on", site=site, epoch=self._epoch(site), reason=str(error))
            self._drop(site)

    async def _end(self, site: str, state: SiteState, why: str = "") -> None:
        """A site is done, or is to stop, or fails: its folder gets what a crawl of it alone would leave."""
        if site in self._going:  # it was told twice in one turn of the reactor
            return
        with self._leave_alone(site):
            tenure = await self._rest(site)
            async with self._ending:
                stopped = "" if state is SiteState.DONE else why or STOPPED
                reason = await self._finished(tenure, stopped) or why
                if state is SiteState.DONE:  # there is nothing to go on with
                    await self._certain(self._clerk.ledger.forget_journal, site, tenure.epoch)
            state = SiteState.FAILED if reason else state
            if await self._release(tenure, state, reason):
                place = self._gone(site)
                place.clear()
                await asyncio.to_thread(self._kept.let_go, place.folder)
                self.ended[state] += 1
                say("ended", site=site, epoch=tenure.epoch, state=state.value, reason=reason)
            else:
                await self._discard(self._gone(site))

    async def _finished(self, tenure: Tenure, stopped: str) -> str:
        """Everything of a site is written; why it failed all the same."""
        session, site = self._session, tenure.site
        if site not in self._clerk.held or site not in self.places:
            raise Superseded(f"{site} was another worker's when its end came round")
        place, seq = self.places[site], self._clerk.held[site].seq
        captured = session.sites[site].capture.counts.captured
        await session.archivist.end(site)
        self._forget(site)
        bodies = await journal(self._clerk, site, seq)
        if not self._clerk.may_send(site):
            raise Superseded(f"{site} may be another worker's")
        await asyncio.to_thread(self._kept.gather, place.folder)
        place.finish()
        await asyncio.to_thread(place.keep_journal, lines_of(bodies))
        learned = await asyncio.to_thread(write_end, place.folder, stopped, session.config)
        await asyncio.to_thread(self._kept.deliver, place.folder)
        if self._shares_history:
            await self._certain(self._clerk.ledger.remember, site, tenure.epoch, learned)
        return "" if captured or stopped else NOTHING

    async def _hand_over(self, site: str) -> None:
        """Somebody else is to go on with a site."""
        if site in self._going:
            return
        with self._leave_alone(site):
            tenure = await self._rest(site)
            await self._session.archivist.end(site)
            self._forget(site)
            await self._release(tenure, SiteState.WAITING)
            await self._discard(self._gone(site))
            say("handed-over", site=site, epoch=tenure.epoch)

    def _drop(self, site: str) -> None:
        """Whoever claims a site next goes on with it: nothing more is sent or written for it here."""
        self._clerk.forget(site)
        if site in self._session.sites:
            self._forget(site)
        if site in self.places:
            self._going.add(site)  # it is not claimed again before its files are let go of
            self._start(self._abandon(site, self._gone(site)))

    async def _abandon(self, site: str, place: FleetPlace) -> None:
        try:
            with suppress(SharcError):  # a writer that has ended holds no files
                await self._session.archivist.abandon(site)
            await self._discard(place)
        finally:
            self._going.discard(site)

    async def _discard(self, place: FleetPlace) -> None:
        """What lies here counts no more."""
        place.discard()
        await asyncio.to_thread(self._kept.let_go, place.folder)

    async def _rest(self, site: str) -> Tenure:
        """Nothing more is asked of a site, what is in flight has come, and the journal has it."""
        session, clerk = self._session, self._clerk
        session.sites.hold(site)
        self._take_back(site)
        while (held := clerk.held.get(site)) is not None and site in session.sites:
            if held.safe and not any(lease.fetch.site == site for lease in session.leases.values()):
                return held.tenure
            await asyncio.sleep(REST)
        raise Superseded(f"{site} is another worker's")

    def _epoch(self, site: str) -> int | None:
        """In which it is held here; ``None``: it has not begun."""
        return self.places[site].epoch if site in self.places else None

    def _gone(self, site: str) -> FleetPlace:
        del self._session.places[site]
        return self.places.pop(site)

    def _forget(self, site: str) -> None:
        """What is in flight for a site counts no more."""
        self._take_back(site)
        self._session.forget(site)

    def _take_back(self, site: str) -> None:
        """What was decided is not sent; else its host would stay busy, should the site come back."""
        for fetch in (*self._gate.taken_back(site), *self.robots.taken_back(site)):
            self._session.sites.give_back(fetch, self._session.clock.now())

    async def _release(self, tenure: Tenure, state: SiteState, reason: str = "") -> bool:
        released = await self._certain(self._clerk.ledger.release, tenure.site, tenure.epoch, state, reason)
        self._clerk.forget(tenure.site)
        return released

    async def _certain(self, method: Callable[..., bool], *values: object) -> bool:
        """Ask the ledger until it answers; renewals go on meanwhile."""
        while True:
            with suppress(StoreUnavailable):
                return await self._clerk.ask(method, *values)
            await asyncio.sleep(AGAIN)

    @contextmanager
    def _leave_alone(self, site: str) -> Iterator[None]:
        """While it is being ended or handed over; what is in the way is said, and left to whoever claims it next."""
        self._going.add(site)
        whole = False
        try:
            yield
            whole = True
        except Superseded as error:
            if site in self._clerk.held:  # else that has been said
                say("superseded", site=site, epoch=self._epoch(site), reason=str(error))
        except (SharcError, OSError) as error:
            say("cannot-end", site=site, epoch=self._epoch(site), reason=str(error))
        finally:
            self._going.discard(site)
        if not whole:
            self._drop(site)

    # -- the end -----------------------------------------------------------------------------------------------------

    async def leave(self) -> None:
        """The engine has ended: hand over what is left, as long as a term lasts."""
        self._leaving = True
        session, clerk = self._session, self._clerk
        for number, lease in list(session.leases.items()):  # they never came
            del session.leases[number]
            session.sites.give_back(lease.fetch, session.clock.now())
        for site in set(self.places) - self._going:
            if site in session.sites:
                self._start(self._end(site, SiteState.DONE) if session.sites[site].done else self._hand_over(site))
        deadline = time.monotonic() + clerk.term
        while (self.places or self._going) and time.monotonic() < deadline:
            await asyncio.sleep(REST)
        with suppress(StoreUnavailable):
            await self.purse.give_back()
            await clerk.ask(clerk.ledger.leave, clerk.worker)
        for task in self._tasks:
            task.cancel()
        clerk.close()
        say("ends", worker=clerk.worker, left=len(self.places))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("event=fault reason=%r", f"{type(error).__name__}: {error}", exc_info=error)
            self._close()
