"""| Continues a former run: from its state, as far as the WARC files confirm it, or from state made again from them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sharc_crawler.archive.options import USUAL
from sharc_crawler.instants import iso
from sharc_crawler.live.former.history import parts_of
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.live.monitoring.progress import Snapshot
from sharc_crawler.plural import counted
from sharc_crawler.state.rows import SOLE, Batch, CaptureRow
from sharc_crawler.storage.trying_again import reopened, require_whole, unreached
from sharc_crawler.uncollected import uncollected

if TYPE_CHECKING:
    from sharc_crawler.frontier.opening import Parts
    from sharc_crawler.frontier.sites import Sites
    from sharc_crawler.live.clock import Clock
    from sharc_crawler.live.session import Session
    from sharc_crawler.live.setup.places import Place
    from sharc_crawler.state.spec import CaptureSpec

COMPARING = "comparing the state with the WARC files"
logger = logging.getLogger(__name__)


class Continuation:
    """Continues what a former run began."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._config = session.config
        self._now = session.clock.now()

    async def with_one(self, place: Place, spec: CaptureSpec, *, lost: bool) -> None:
        """Continue a site's capture, or try it again if nobody answered. ``lost``: first make its state again."""
        if lost:
            await self._rebuild(place, spec)
        with busy("reading what was captured", self._config.progress) as share:
            saved = self._founded(place, self._tried_again(place))
            go_on_in_time(saved, self._session.clock)
            saved = await self._borne_out(place, saved, partial(share, part=COMPARING))
            saved.captures[SOLE] = self._on_new_terms(saved.captures[SOLE], spec)
            share(0, 0, "putting back what was captured")
            frontier = self._session.sites.restore(saved, self._session.clock.now(), place)
        self._session.run = str(frontier.capture.spec.settings["run"])
        self._session.gone_on = True

    async def with_spider(self) -> tuple[dict[str, Batch], dict[str, str]] | None:
        """Continue a project's own spider: its state by site, and what it kept; ``None``: there is nothing."""
        session = self._session
        if session.file is None:
            return None
        place = session.places[session.name]
        saved = place.store.load()
        require_whole(saved)
        saved = self._founded(place, saved)
        go_on_in_time(saved, self._session.clock)
        if not saved.captures:
            return None
        for number, row in saved.captures.items():
            saved.captures[number] = self._on_new_terms(row, replace(row.spec, strategy=self._config.strategy))
        session.run = next(str(row.spec.settings["run"]) for row in saved.captures.values())
        found = {}
        with uncollected():
            for part, batch in session.file.parts(saved):
                frontier = session.sites.restore(batch, session.clock.now(), part)
                found[frontier.capture.spec.site] = batch
        session.gone_on = True
        await session.finish_former({session.name})
        return found, saved.kept

    def _tried_again(self, place: Place) -> Batch:
        saved = place.store.load()
        for number in unreached(saved):
            saved = reopened(saved, number)
            _withdraw(place, saved, number)
            row = saved.captures[number]
            note = f"tried again at {iso(self._now)}: nothing had been captured until then"
            saved.captures[number] = row._replace(notes=(*row.notes, note))
            place.store.replace(saved)
        return saved

    async def _rebuild(self, place: Place, spec: CaptureSpec) -> None:
        """Make the lost state of a capture again."""
        from sharc_crawler.live.former.rebuilding import rebuild, set_logs_aside  # rarely needed
        from sharc_crawler.live.reading.document import detector_of  # rarely needed

        session, config = self._session, self._config
        detector, when = detector_of(config.detector, config.masks), iso(self._now)
        made = partial(rebuild, former=session.former, known=session.known_pages)
        specs = [session.bounded(spec)]
        found = await asyncio.to_thread(made, place.folder, specs, config.politeness, self._parts(), detector, when)
        _withdraw(place, found.state, *found.state.captures)
        place.store.replace(found.state)
        place.store.commit(Batch(links=found.links))
        set_logs_aside(place.folder)
        place.begin_log()

    def _parts(self) -> Parts:
        """The parts with which captures are rebuilt."""
        former, parts = self._session.former, parts_of(self._session.history, self._config)
        return former.known_to(parts) if former else parts

    def _founded(self, place: Place, saved: Batch) -> Batch:
        """The state without what rests on visits that the store has lost."""
        from sharc_crawler.storage.withdrawing import founded  # a new capture cannot have lost anything

        found = founded(saved, iso(self._now))
        if found is not saved:
            logger.warning("Some visits are missing from the state of %s: they are repeated.", place.folder)
            _withdraw(place, found, *found.captures)
            place.store.replace(found)
        return found

    async def _borne_out(self, place: Place, saved: Batch, progress: Callable[[int, int], None]) -> Batch:
        """The state without visits whose WARC records are gone: they are fetched again."""
        if not self._config.warc or self._config.writer != USUAL:
            return saved
        from sharc_crawler.live.former.state_check import relied_on  # only if there are some

        found = await relied_on(saved, place.folder, iso(self._now), progress)
        if found is not saved:
            _withdraw(place, found, *found.captures)
            place.store.replace(found)
        return found

    def _on_new_terms(self, row: CaptureRow, spec: CaptureSpec) -> CaptureRow:
        """The capture with another strategy, limits or scope, if these were given."""
        settings = {**row.spec.settings, **spec.settings}
        new = {name: getattr(spec, name) for name in ("strategy", "include", "exclude")}
        other = [f"begun with {name}={as_given(was)}" for name in new if (was := getattr(row.spec, name)) != new[name]]
        bounded = self._session.bounded(replace(row.spec, settings=settings, **new))
        return row._replace(spec=bounded, notes=(*row.notes, *other))


def go_on_in_time(saved: Batch, clock: Clock) -> None:
    """Set the clock forward where it was set back meanwhile: later events must have later times."""
    begun = max((row.started for row in saved.captures.values()), default=0.0)
    latest = max((visit.outcome.ended for visit in saved.visits), default=begun)
    if (ahead := latest - clock.now()) > 0:
        clock.set(latest)
        last = "the last visit" if saved.visits else "its beginning"
        note = f"the system clock had been set back by {ahead:.0f} s or more when the capture went on: times go on"
        for number, row in saved.captures.items():
            saved.captures[number] = row._replace(notes=(*row.notes, f"{note} from {last}"))


def _withdraw(place: Place, state: Batch, *numbers: int) -> None:
    """Withdraw the certificates of captures that go on, and note what else is set aside."""
    from sharc_crawler.certificate.withdrawal import certified_as, withdraw  # rarely needed

    for number in numbers:
        row = state.captures[number]
        digest = certified_as(place.folder, row.spec.site)
        aside = withdraw(place.folder, row.spec.site)
        if digest or aside:
            confirmed = f": what had confirmed that lies in {aside}" if aside else ""
            note = f"its certificate of before ({digest or 'damaged'}) was withdrawn{confirmed}"
            state.captures[number] = row._replace(notes=(*row.notes, note))


def as_given(value: object) -> str:
    """A setting's value as a user gives it.

    >>> as_given(("a", "b")), as_given(())
    ('a b', '(none)')
    """
    if isinstance(value, tuple):
        return " ".join(value) or "(none)"
    return "(none)" if value is None else str(value)


def goes_on(sites: Sites) -> str:
    """The line that says how far a former run came."""
    if sites.polls:
        from sharc_crawler.live.setup.modes import done  # only for instant crawls

        return f"resumes where it was: {done(sites.polls)}\n"
    made = Snapshot.of(sites)
    revisited = f", {made.revisits:,} revisited" if made.revisits else ""
    return f"resumes where it was: {made.visits:,} of {counted(made.pages, 'known page')} visited{revisited}\n"
