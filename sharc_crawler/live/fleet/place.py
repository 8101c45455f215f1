"""| The place of a held site: its WARC files in its folder, and beside them a local copy of its state."""

from __future__ import annotations

import asyncio
import gzip
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.archive.checkpoints import CHECKSUMS
from sharc_crawler.archive.drafts import Drafts
from sharc_crawler.archive.owners import own_name
from sharc_crawler.archive.taking_over import STAY, remove_own
from sharc_crawler.errors import DataError, SharcError, StoreUnavailable, Superseded
from sharc_crawler.live.in_thread import by_thread
from sharc_crawler.live.monitoring.busy import Share
from sharc_crawler.live.monitoring.crawl_log import CrawlLog
from sharc_crawler.live.setup.places import Place, make_folder
from sharc_crawler.report.log import FORMATS
from sharc_crawler.storage import beside
from sharc_crawler.storage.folders import RUNNING
from sharc_crawler.storage.plain import to_json
from sharc_crawler.uncollected import uncollected

if TYPE_CHECKING:
    from sharc_crawler.archive.open_files import OpenFiles
    from sharc_crawler.live.config import Config
    from sharc_crawler.model import Seconds
    from sharc_crawler.state.rows import Batch, HostRow, LinksRow
    from sharc_crawler.state.store import FrontierStore

JOURNAL = "journal.jsonl.gz"  #: of a finished site
LATEST: Seconds = 60.0  #: until a taken-over site's state is copied; sooner after its first visit


class FleetPlace(Place):
    """A capture's place that also writes to the journal."""

    def __init__(
        self,
        folder: Path,
        epoch: int,
        config: Config,
        stores: OpenFiles,
        told: Callable[[str, int], None],
        read: Callable[[Iterable[HostRow]], None],
    ) -> None:
        self.epoch = epoch
        self._told, self._read = told, read
        self._taken: Batch | None = None  #: state of former owners, until it is copied
        self._since: list[Batch] = []  #: steps made meanwhile
        self.copied: asyncio.Future[None] | None = None
        self._visited = asyncio.Event()  # visited since it was taken over, or a copy is wanted now
        self._over = False  # another worker has the site: no copy is needed
        copy = folder / own_name(epoch)
        self.ready = copy / folder.name  #: what is to lie in the folder once the site is done
        make_folder(copy)
        super().__init__(copy, config, stores)
        (copy / RUNNING).unlink()
        self.folder = folder

    def _opened(self) -> FrontierStore:
        try:
            return beside.begin_copy(self.state)
        except DataError as error:  # the folder is new and this owner's, so the fault is not the site's
            raise StoreUnavailable(str(error)) from error

    def commit(self, batch: Batch) -> None:
        """Commit a step here and in the journal, before anything more is asked for."""
        if self._taken is None:
            super().commit(batch)
        else:
            self._since.append(batch)
            if batch.visits:
                self._visited.set()
        self._told(to_json(batch), sum(visit.outcome.length for visit in batch.visits))
        if batch.hosts:  # hosts come with their robots.txt
            self._read(batch.hosts.values())

    def links(self) -> Iterator[LinksRow]:
        """The links, also before the copy is made."""
        return super().links() if self._taken is None else iter(self._taken.links)

    def catch_up(self) -> None:
        """Write the log, once the state is copied and unless a later owner has removed it."""
        if self._taken is None and self.state.is_dir():
            super().catch_up()

    def suspend(self) -> None:
        """Close the state."""
        self._changed &= self.state.is_dir()
        super().suspend()

    def take_over(self, state: Batch) -> None:
        """Continue from former owners' state."""
        self.suspend()
        self._taken = state

    def copy_beside(self) -> None:
        """Begin to copy that state; the site need not wait."""
        assert self._taken is not None, "there is something to copy"
        self.copied = asyncio.ensure_future(self._copy(self._taken))

    async def _copy(self, state: Batch) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._visited.wait(), LATEST)
        if self._over:
            return
        await asyncio.wrap_future(by_thread(lambda: _copied(self.state, state, self._config.log)))
        self._owner = ""  # another owner in this process had it
        self.log = CrawlLog(self.state, self, self._config.log)  # continues the log that lies there
        for batch in self._since:
            self.store.commit(batch)
        self._taken = None
        self._since.clear()

    async def whole(self) -> None:
        """Return once everything is copied, now; raises what prevents it."""
        if self.copied is not None:
            self._visited.set()
            await self.copied

    async def leave(self) -> None:
        """Return once nothing more is written; a copy that has not begun is not made."""
        self._over = True
        with suppress(SharcError, OSError):  # the copy is not needed any more
            await self.whole()

    def finish(self) -> None:
        """Make state and log ready, as if the site had been captured alone."""
        self.log.finish()
        self.suspend()
        make_folder(self.ready)
        for _, name in FORMATS.values():
            stem, _, suffix = name.partition(".")
            for path in self.state.glob(f"{stem}*.{suffix}"):
                path.replace(self.ready / path.name)
        beside.move_copy(self.state, self.ready)

    def accompany(self, lines: Iterable[str]) -> None:
        """Add its journal, and its WARC files for report and certificate. For any thread."""
        for path in self.folder.iterdir():
            if path.name.endswith(STAY) or path.name == CHECKSUMS:
                _link(path, self.ready / path.name)
        with Drafts() as drafts, drafts.open(self.ready / JOURNAL) as file, gzip.open(file, "wb") as packed:
            packed.writelines(f"{line}\n".encode() for line in lines)

    def clear(self) -> None:
        """Remove the private files of this owner and former ones."""
        with suppress(Superseded):  # another worker has begun already
            remove_own(self.folder, self.epoch)

    def discard(self) -> None:
        """Remove the local state: the site is another's."""
        self.suspend()
        shutil.rmtree(self.state, ignore_errors=True)


def _link(path: Path, to: Path) -> None:
    """Link a file, or copy it where that is impossible."""
    try:
        to.hardlink_to(path)
    except OSError:
        shutil.copyfile(path, to)


def _copied(folder: Path, state: Batch, formats: Iterable[str]) -> None:
    """Write a site's state and log into a folder. For any thread."""
    with uncollected(), closing(beside.begin_copy(folder)) as store:
        store.replace(state)
        CrawlLog(folder, store, formats).finish()


def write_end(folder: Path, stopped: str, config: Config, masks: Path | None = None) -> tuple[bytes, str]:
    """Write report and certificate of a folder; returns what its history learns, and its new masks. For any thread.

    ``masks``: the file of the present ones; ``None``: learned masks are not used. Both results may be empty.
    """
    from sharc_crawler.live.ending import leave  # only needed at the end

    if masks and masks.exists():
        config = replace(config, masks=str(masks))
    with beside.open_state(folder) as store:
        new = _learned(store, Path(config.history)) if config.history else b""
        left = leave([(folder, lambda: store)], folder, stopped, config, Share(""))
        if left.unwritten:
            raise left.unwritten[0]
    return new, _grown(masks, folder) if masks and not stopped else ""


def _grown(masks: Path, folder: Path) -> str:
    from sharc_crawler.changes.masks import grown  # only if masks are taken over
    from sharc_crawler.report.mask_candidates import read_taught

    text, new = grown(masks, read_taught(folder).masks, folder.name)
    return text if new else ""


def _learned(store: FrontierStore, file: Path) -> bytes:
    from sharc_crawler.live.fleet.history import learned  # only if there is one

    return learned(store, file)
