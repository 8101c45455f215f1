"""| Begins a claimed site, or continues it where its former owner left it."""

from __future__ import annotations

import asyncio
import gzip
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.errors import DataError, StoreUnavailable, Superseded, UsageError
from sharc_crawler.fleet.journal import lines_of, state_of
from sharc_crawler.live.fleet.events import log_event
from sharc_crawler.live.fleet.order import check_addresses, continued, delay_of, epoch_note, folder_of, ordered, run_of
from sharc_crawler.live.fleet.place import JOURNAL, FleetPlace
from sharc_crawler.live.former.continuing import go_on_in_time
from sharc_crawler.live.former.known import known_pages
from sharc_crawler.live.in_thread import by_thread
from sharc_crawler.uncollected import uncollected

if TYPE_CHECKING:
    from sharc_crawler.fleet.ledger import Tenure
    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.live.fleet.clerk import Clerk
    from sharc_crawler.live.fleet.history import SharedHistory
    from sharc_crawler.live.fleet.keeping import Keeping
    from sharc_crawler.live.session import Session
    from sharc_crawler.state.rows import Batch
    from sharc_crawler.state.spec import CaptureSpec


async def begin_site(
    tenure: Tenure,
    clerk: Clerk,
    session: Session,
    kept: Keeping,
    placed: Callable[[Tenure, Path], FleetPlace],
    history: SharedHistory | None = None,
) -> None:
    """Add a site to the session; it is held back until the journal has what it did before.

    ``placed`` makes its place; ``history``: what the ledger has of former captures. Raises
    :class:`~sharc_crawler.errors.SharcError` or :class:`OSError` where that fails.
    """
    site = tenure.site
    masks = history.masks_of(site) if history else None
    spec, given = ordered(tenure.arguments, session.config, shares_history=history is not None, masks=masks)
    check_addresses(spec, session.config)
    state, folder = await _former_state(clerk, tenure), folder_of(kept.folder, tenure)
    while state is None and (there := await asyncio.to_thread(kept.holds, folder)):
        if not await clerk.ask(clerk.ledger.further, site, tenure.epoch):
            raise Superseded(f"{site} is another worker's by now")
        tenure = tenure._replace(round=tenure.round + 1)
        folder = folder_of(kept.folder, tenure)
        why = f"{there} holds another capture"
        log_event("further-round", site=site, epoch=tenure.epoch, folder=str(folder), reason=why)
    if state is not None:
        await asyncio.to_thread(_check_no_later, kept, folder, state)
    run = run_of(tenure)
    await asyncio.to_thread(kept.take_over, folder, tenure.epoch, state)
    _check_still_held(clerk, site)
    place = placed(tenure, folder)
    await _open_files(session, site, (str(folder), run))
    _check_still_held(clerk, site)
    if masks and masks.exists():
        session.masks[site] = str(masks)
    now = session.clock.now()
    note = epoch_note(tenure, clerk.worker, clerk.skew, now)
    if state is None:
        frontier = _begun(replace(spec, settings={**spec.settings, "run": run}), session, place, note)
    else:
        place.take_over(state)
        state = continued(state, run, note)
        go_on_in_time(state, session.clock)  # the former owner's clock may differ
        frontier = await _gone_on_with(state, session, place)
        _check_still_held(clerk, site)
        place.copy_beside()
        now = session.clock.now()
    frontier.change_delay(delay_of(given, session.config))
    for host in frontier.ledger.hosts:  # the former owner may have sent a request a moment ago
        host.pace.pause(now + host.delay)
    session.sites.hold(site)  # until it has begun and the journal has its earlier steps
    log_event("claimed", site=site, epoch=tenure.epoch, step=tenure.seq, former=tenure.former)


def _begun(spec: CaptureSpec, session: Session, place: FleetPlace, note: str) -> Frontier:
    """Begin a new capture, with the pages of its history."""
    now = session.clock.now()
    settings = {**spec.settings, "lots": secrets.token_hex(8)}
    frontier = session.sites.open(replace(spec, settings=settings), now, place)
    frontier.note(note)
    if session.history:
        frontier.schedule(known_pages(spec.site, session.history), now)
    return frontier


async def _gone_on_with(state: Batch, session: Session, place: FleetPlace) -> Frontier:
    """Restore the former owner's capture, in a thread: a large site takes long, and terms are to be renewed."""
    sites, now = session.sites, session.clock.now()
    frontier = sites.new(place)

    def recall() -> None:
        with uncollected():
            frontier.recall(state, now)

    await asyncio.wrap_future(by_thread(recall))
    return sites.restored(frontier, state)


async def _open_files(session: Session, site: str, place: tuple[str, str]) -> None:
    try:
        await session.archivist.open(site, place)
    except UsageError as error:
        if session.config.objects:  # it worked at the worker's start, so the store is unreachable
            raise StoreUnavailable(str(error)) from error
        raise


def _check_still_held(clerk: Clerk, site: str) -> None:
    if site not in clerk.held:
        raise Superseded(f"{site}: it took too long to begin")


async def _former_state(clerk: Clerk, tenure: Tenure) -> Batch | None:
    """The state that former owners left; ``None``: there is none."""
    if not tenure.seq:
        return None
    bodies = await journal(clerk, tenure.site, tenure.seq)
    return await asyncio.to_thread(lambda: state_of(lines_of(bodies)))


def _check_no_later(kept: Keeping, folder: Path, state: Batch) -> None:
    """Refuse a ledger restored from a backup that knows less than the capture that ended in the folder."""
    ended = kept.read(folder, JOURNAL)
    if ended and len(state_of(gzip.decompress(ended).decode().splitlines()).visits) > len(state.visits):
        why = f"the capture in {folder} has ended, and the ledger knows only a part of it (restored from a backup?)"
        raise DataError(f"{why}; `sharc fleet drop` and `add` the site to have it captured in a further folder")


async def journal(clerk: Clerk, site: str, upto: int) -> list[bytes]:
    """The journal of a site, up to a step."""
    return await clerk.ask(lambda: list(clerk.ledger.journal(site, upto)))
