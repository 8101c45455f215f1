"""Where captures are kept: a folder with its state and its log for each site, or for a project's spider."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from sharc_crawler.archive.files import forget_drafts, replace_file, safe_name
from sharc_crawler.archive.open_files import MOST, RESERVE, OpenFiles, limit
from sharc_crawler.archive.options import USUAL
from sharc_crawler.errors import SharcError, Superseded
from sharc_crawler.frontier.store import Batch
from sharc_crawler.instants import iso
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.live.monitoring.crawl_log import CrawlLog
from sharc_crawler.live.setup.output import make_folder
from sharc_crawler.storage import opening
from sharc_crawler.storage.folders import RUNNING, SITES, folders_text, site_folders
from sharc_crawler.storage.holding import owner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from sharc_crawler.frontier.parts import Parts
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.frontier.store import ExchangeRow, FrontierStore, LinksRow
    from sharc_crawler.live.clock import Clock
    from sharc_crawler.live.config import Config
    from sharc_crawler.live.former.validators import FormerCaptures
    from sharc_crawler.model import Sighting

DESCRIPTORS = 4  #: of an open store: the file, its log, the log's index, the lock


def site_paths(output: Path, sites: Iterable[str]) -> dict[str, Path]:
    """The folder of each site: the output folder itself for one; made, and named in it, for several.

    All are made before they are named: one that is named and missing was moved elsewhere, and is left to whoever did.
    """
    names = list(sites)
    known = site_folders(output)
    if known is not None:
        return {site: path for site, path in known.items() if path.is_dir()}
    if len(names) == 1:
        return {names[0]: output}
    for site in names:
        make_folder(output / safe_name(site))
    replace_file(output / SITES, folders_text({site: safe_name(site) for site in names}))
    return {site: output / safe_name(site) for site in names}


class OpenStores:
    """The stores in use: of many sites' those that were written last are open, as many as there are descriptors for."""

    def __init__(self, at_once: int) -> None:
        self.files = OpenFiles(max(2, min(MOST, (limit() - RESERVE - 2 * at_once) // (2 * DESCRIPTORS))))


class Place:
    """A capture's folder, with its state and its log; to its frontier, a store."""

    def __init__(self, folder: Path, config: Config, clock: Clock, stores: OpenStores) -> None:
        self.folder = self.state = folder
        self._config = config
        self._clock = clock
        self._stores = stores
        self._store: FrontierStore | None = None
        self._owner = ""
        self._changed = True  #: since the log was written last
        self.log = CrawlLog(folder, self, config.log)
        self.store  # noqa: B018 - whoever else writes it is known now
        forget_drafts(folder)
        (folder / RUNNING).touch()

    @property
    def store(self) -> FrontierStore:
        """The state, open. Raises :class:`~sharc_crawler.errors.Superseded` where it was taken over meanwhile."""
        if self._store is None:
            if self._owner and owner(self.state) != self._owner:
                raise Superseded(f"output={str(self.folder)!r} was taken over by another crawl")
            self._store = self._opened()
            self._owner = owner(self.state)
        if self._config.store == opening.USUAL:  # others see to their descriptors themselves
            self._stores.files.use(self)
        return self._store

    def _opened(self) -> FrontierStore:
        return opening.begin_state(self.folder, self._config.store)

    def suspend(self) -> None:
        """Let go of the state until it is asked for again."""
        store, self._store = self._store, None
        if store is not None:
            with suppress(SharcError):
                if self._changed:  # else it would be opened again for its log alone
                    self._changed = not self.log.catch_up(store)
                store.close()

    # -- what the frontier does with it ------------------------------------------------------------------------------

    def commit(self, batch: Batch) -> None:
        """One step."""
        self.store.commit(batch)
        self._changed = True

    def links(self) -> Iterator[LinksRow]:
        """What documents linked to."""
        return self.store.links()

    def exchanges(self, after: int = 0) -> Iterator[ExchangeRow]:
        """What its log tells."""
        return self.store.exchanges(after)

    # -- where it goes on --------------------------------------------------------------------------------------------

    @property
    def is_begun(self) -> bool:
        """Does its state hold a capture?"""
        return bool(self.store.captures())

    def loaded(self) -> Batch:
        """The state as it is."""
        saved = self.store.load()
        self._go_on_in_time(saved)
        return saved

    async def gone_on_with(self) -> Batch:
        """The state as far as the WARC files bear it out; a capture that reached nobody is tried again."""
        saved = self._tried_again()
        self._go_on_in_time(saved)
        return await self._borne_out(saved)

    def _tried_again(self) -> Batch:
        from sharc_crawler.storage.trying_again import reopened, unreached

        saved = self.store.load()
        for number in unreached(saved):
            saved = reopened(saved, number)
            self._withdraw(saved, number)
            row = saved.captures[number]
            note = f"tried again at {iso(self._clock.now())}: nothing had been captured until then"
            saved.captures[number] = row._replace(notes=(*row.notes, note))
            self.store.replace(saved)
        return saved

    async def rebuild(
        self, spec: CaptureSpec, parts: Parts, former: FormerCaptures | None, known: Callable[[str], Sequence[Sighting]]
    ) -> None:
        """Make the state of this capture again, in place of what is lost."""
        from sharc_crawler.live.former.rebuilding import rebuild, set_logs_aside  # hardly ever
        from sharc_crawler.live.reading.document import detector_of  # hardly ever

        config = self._config
        detector, when = detector_of(config.detector, config.masks), iso(self._clock.now())
        made = partial(rebuild, former=former, known=known)
        found = await asyncio.to_thread(made, self.folder, [spec], config.politeness, parts, detector, when)
        self._withdraw(found.state, *found.state.captures)
        self.store.replace(found.state)
        self.store.commit(Batch(links=found.links))
        set_logs_aside(self.folder)
        self.log = CrawlLog(self.folder, self, config.log)

    def _go_on_in_time(self, saved: Batch) -> None:
        """What comes after a visit bears a later time, even where the system clock was set back meanwhile."""
        ahead = self._clock.not_before(max((visit.outcome.ended for visit in saved.visits), default=0.0))
        if ahead:
            note = f"the system clock had been set back by {ahead:.0f} s or more when the capture went on: times go on"
            for number, row in saved.captures.items():
                saved.captures[number] = row._replace(notes=(*row.notes, f"{note} from the last visit"))

    async def _borne_out(self, saved: Batch) -> Batch:
        """What the WARC files do not hold any more is fetched again."""
        if not self._config.warc or self._config.writer != USUAL:
            return saved
        from sharc_crawler.live.former.relying import relied_on  # only where there is something to go on with

        with busy("comparing the state with the WARC files", self._config.progress) as share:
            found = await relied_on(saved, self.folder, iso(self._clock.now()), share)
        if found is not saved:
            self._withdraw(found, *found.captures)
            self.store.replace(found)
        return found

    def _withdraw(self, state: Batch, *numbers: int) -> None:
        """The certificates of captures that go on; their notes say what else is set aside."""
        from sharc_crawler.certificate.withdrawal import withdraw  # hardly ever

        for number in numbers:
            row = state.captures[number]
            if aside := withdraw(self.folder, row.spec.site):
                note = f"its certificate was withdrawn: what had confirmed that lies in {aside}"
                state.captures[number] = row._replace(notes=(*row.notes, note))

    # -- its log, and its end ----------------------------------------------------------------------------------------

    def catch_up(self) -> None:
        """Write what is new to the log."""
        if self._changed:
            self._changed = not self.log.catch_up()

    def ended(self) -> None:
        """Everything is written, the report too: nothing is left to go on with but what is still queued."""
        (self.folder / RUNNING).unlink(missing_ok=True)
