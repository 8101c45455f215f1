"""| Ends a site that cannot go on, or that another process has taken over, while the other sites go on. Loaded then."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from sharc_crawler.errors import SharcError, StoppedCaptureError, StrategyError, Superseded
from sharc_crawler.live.failures.failed_exchanges import file_limit
from sharc_crawler.live.failures.fatal_errors import fails

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sharc_crawler.live.session import Session
    from sharc_crawler.live.setup.places import Place


logger = logging.getLogger(__name__)


def end(crawler: Crawler, session: Session, site: str, error: Exception) -> str:
    """End a site that cannot go on. Returns why the whole crawl stops, or "" if other sites go on."""
    then = lose(session, site, error)
    if session.sites.done or (session.drop_in and not isinstance(error, StoppedCaptureError)):
        return f"The crawl stops{then}"
    logger.error("The capture of %s stops%s The other sites continue.", site, f"{then.removesuffix('.')}.")
    fails(crawler)
    return ""


def lose(session: Session, site: str, error: Exception) -> str:
    """Give the site up; returns the rest of the sentence that says why."""
    if isinstance(error, StoppedCaptureError):
        session.lost[site] = error
        session.sites.stop(site)
        return f": {error}. {_way_out(session, error)}"
    if isinstance(error, Superseded):
        supersede(session, site, error)
        return f", and writes nothing more: {error}"
    if not session.drop_in:
        _leave(session, site, error)
    return f", its state cannot be written: {error}{file_limit()}. The same command resumes it."


def supersede(session: Session, site: str, error: Superseded) -> None:
    """Stop a site whose state another process has taken over."""
    if session.drop_in:  # its sites share one folder
        session.superseded = True
        return
    _leave(session, site, error)
    place = session.places.pop(site)
    session.superseded |= place.folder == session.config.output
    task = asyncio.ensure_future(_abandon(session, site, place))
    session.leaving.add(task)
    task.add_done_callback(session.leaving.discard)


def _leave(session: Session, site: str, error: Exception) -> None:
    session.lost[site] = error
    forget(session, site)


async def _abandon(session: Session, site: str, place: Place) -> None:
    """Leave the site's files to their new owner."""
    place.suspend()
    with suppress(SharcError):  # an ended writer holds no files
        await session.archivist.abandon(site)


def forget(session: Session, site: str) -> None:
    """Discard what is in flight for a site, and ask for nothing more of it."""
    for number, lease in list(session.leases.items()):
        if lease.fetch.site == site:
            del session.leases[number]
            session.sites.give_back(lease.fetch, session.clock.now())
    session.sites.remove(site)


def _way_out(session: Session, error: Exception) -> str:
    """What to do after a strategy was stopped or a host stayed silent."""
    if session.drop_in and not session.config.resume:
        return "It began without SHARC_RESUME=True: begin anew, in another folder."
    how = ", with it mended or another strategy" if isinstance(error, StrategyError) else ""
    return f"The same command resumes it{how}."
