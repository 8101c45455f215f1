"""| Ends sites that are done, stopped or failed, and hands over those that others are to continue."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.errors import MALFORMED, StoppedCaptureError, Superseded
from sharc_crawler.fleet.journal import lines_of
from sharc_crawler.fleet.ledger import SiteState, Tenure
from sharc_crawler.live.fleet.beginning import journal
from sharc_crawler.live.fleet.events import log_event
from sharc_crawler.live.fleet.place import write_end
from sharc_crawler.report.words import short
from sharc_crawler.report.write import DATA

if TYPE_CHECKING:
    from sharc_crawler.live.fleet.holding import Holdings

STOPPED = "by order (sharc fleet stop)"  #: in words
NOTHING = "no page was captured"


class Endings:
    """Ends sites, or hands them over."""

    def __init__(self, holdings: Holdings) -> None:
        self._of = holdings
        self.turn = asyncio.Lock()  #: one site at a time, as a report takes memory
        self.ended = dict.fromkeys(SiteState, 0)

    def cannot_go_on(self, site: str, error: Exception) -> None:
        """Fail a site that its strategy or host stopped; leave one that cannot be written here to others."""
        worker = self._of
        worker.session.sites.stop(site)
        if site in worker.going:
            return
        if isinstance(error, StoppedCaptureError):
            worker.start(self.end(site, SiteState.FAILED, str(error)))
        else:
            log_event("cannot-go-on", site=site, epoch=worker.epoch(site), reason=str(error))
            worker.drop(site, str(error))

    async def end(self, site: str, state: SiteState, why: str = "") -> None:
        """End a site: its folder gets what a crawl of it alone would leave."""
        worker = self._of
        if site in worker.going:  # reported twice in one turn of the reactor
            return
        with worker.leave_alone(site):
            tenure = await worker.rest(site)
            async with self.turn:
                stopped = "" if state is SiteState.DONE else why or STOPPED
                reason = await self._finished(tenure, stopped) or why
                if state is SiteState.DONE:  # nothing is left to continue
                    await worker.certain(worker.clerk.ledger.forget_journal, site, tenure.epoch)
            state = SiteState.FAILED if reason else state
            if await worker.release(tenure, state, reason):
                place = worker.gone(site)
                place.clear()
                await asyncio.to_thread(worker.kept.let_go, place.folder)
                self.ended[state] += 1
                log_event("ended", site=site, epoch=tenure.epoch, state=state.value, reason=reason)
            else:
                await worker.discard(worker.gone(site))

    async def _finished(self, tenure: Tenure, stopped: str) -> str:
        """Write everything of a site; returns why it failed all the same, or ""."""
        worker, site = self._of, tenure.site
        clerk, kept, session = worker.clerk, worker.kept, worker.session
        if site not in clerk.held or site not in worker.places:
            raise Superseded(f"{site} was another worker's when its end came round")
        place, seq = worker.places[site], clerk.held[site].seq
        captured = session.sites[site].capture.counts.captured
        await session.archivist.end(site)
        worker.forget(site)
        bodies = await journal(clerk, site, seq)
        await place.whole()
        there = await asyncio.to_thread(kept.gather, place.folder)
        self._check(site)
        place.finish()
        await asyncio.to_thread(place.accompany, lines_of(bodies))
        masks = worker.history.masks_of(site) if worker.history else None
        learned = await asyncio.to_thread(write_end, place.ready, stopped, session.config, masks)
        why = "" if captured or stopped else await asyncio.to_thread(_why_nothing, place.ready)
        await asyncio.to_thread(kept.deliver, place.folder, place.ready, there, partial(self._check, site))
        if worker.history:
            await worker.certain(clerk.ledger.remember, site, tenure.epoch, *learned)
        return why

    def _check(self, site: str) -> None:
        """Raise if another worker may hold the site: its files must not be overwritten. For any thread."""
        if not self._of.clerk.may_send(site):
            raise Superseded(f"{site} may be another worker's")

    async def hand_over(self, site: str) -> None:
        """Release a site that somebody else is to continue."""
        worker = self._of
        if site in worker.going:
            return
        with worker.leave_alone(site):
            tenure = await worker.rest(site)
            await worker.session.archivist.end(site)
            worker.forget(site)
            await worker.release(tenure, SiteState.WAITING)
            await worker.discard(worker.gone(site))
            log_event("handed-over", site=site, epoch=tenure.epoch)


def _why_nothing(folder: Path) -> str:
    """Why no page was captured: the reason of most pages, by the report."""
    try:
        (report,) = json.loads((folder / DATA).read_bytes())["captures"]
        reason = next(iter(report["not_captured"]["reasons"]), "")
    except (OSError, *MALFORMED):
        reason = ""
    return f"{NOTHING}: {short(reason, 200)}" if reason else NOTHING
