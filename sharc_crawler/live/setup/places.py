"""| The folder of a capture with its state and log, for each site or for a project's spider."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.archive.files import SUFFIX, forget_drafts
from sharc_crawler.archive.open_files import RESERVE, OpenFiles, limit
from sharc_crawler.errors import SharcError, Superseded, UsageError
from sharc_crawler.live.monitoring.crawl_log import CrawlLog
from sharc_crawler.storage import opening
from sharc_crawler.storage.folders import RUNNING, SITES, owner, site_folders
from sharc_crawler.storage.opening import holds_state

if TYPE_CHECKING:
    from sharc_crawler.live.config import Config
    from sharc_crawler.state.rows import Batch, ExchangeRow, LinksRow
    from sharc_crawler.state.store import FrontierStore


def nearest_folder(output: Path) -> Path:
    """The output folder, or the nearest existing folder above it; raises UsageError if a file is in the way."""
    whole = Path(os.path.realpath(output))
    there = next(path for path in (whole, *whole.parents) if path.exists())
    if not there.is_dir():
        raise UsageError(f"output={str(output)!r} cannot be made: {there} is a file; choose another folder")
    return there


def make_folder(folder: Path) -> None:
    """Make the output folder, and check that it is writable, before the first request; raises UsageError."""
    try:
        nearest_folder(folder)  # checked first, so that no parent folder is made in vain
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"output={str(folder)!r} cannot be made: {error.strerror}; choose another folder") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"output={str(folder)!r} is not writable; choose another folder")


def is_begun(output: Path) -> bool:
    """Whether the folder holds the state of a capture, or of several."""
    return site_folders(output) is not None or (output.is_dir() and holds_state(output))


def check_state(output: Path) -> None:
    """Raise UsageError for a folder with WARC files but no state; warn of other files in it."""
    if any(output.glob(f"*{SUFFIX}*")):
        from sharc_crawler.live.setup.stored_captures import has_captures  # only if something was begun

        if not has_captures(output):
            raise UsageError(
                f"output={str(output)!r} holds WARC files, and the state of their capture is missing or empty: give"
                " resume=rebuild, which makes it again from the WARC files and the log, or choose another folder"
            )
    if any(output.glob("[!.]*")) and not holds_state(output):
        from sharc_crawler.live.setup.checks import tell_others  # rarely needed

        tell_others(output)


MOST = 2_000  #: stores open at once: each takes 0.25 MB, and opening one takes longer than a page
DESCRIPTORS = 4  #: of an open store: database, log, log index, lock


def site_paths(output: Path, sites: Iterable[str]) -> dict[str, Path]:
    """The folder of each site: the output folder itself for one; subfolders, made and listed, for several.

    All are made before they are listed: one that is listed and missing was moved away, and is left alone.
    """
    names = list(sites)
    known = site_folders(output)
    if known is not None:
        return {site: path for site, path in known.items() if path.is_dir()}
    if len(names) == 1:
        return {names[0]: output}
    from sharc_crawler.archive.drafts import replace_file  # only with several sites
    from sharc_crawler.archive.warc_names import safe_name
    from sharc_crawler.storage.gathered import folders_text

    for site in names:
        make_folder(output / safe_name(site))
    replace_file(output / SITES, folders_text({site: safe_name(site) for site in names}))
    return {site: output / safe_name(site) for site in names}


def open_stores(at_once: int) -> OpenFiles:
    """The open stores: the most recently used ones, as many as there are descriptors for."""
    return OpenFiles(max(4, min(MOST, (limit() - RESERVE - 2 * at_once) // (2 * DESCRIPTORS))))


class Place:
    """A capture's folder with its state and log; its frontier uses it as a store."""

    def __init__(self, folder: Path, config: Config, stores: OpenFiles) -> None:
        self.folder = self.state = folder
        self._config, self._stores = config, stores
        self._store: FrontierStore | None = None
        self._owner = ""
        self._changed = True  #: since the log was last written
        self.log = CrawlLog(folder, self, config.log)
        self.store  # noqa: B018 - whoever else writes it is known now
        forget_drafts(folder)
        (folder / RUNNING).touch()

    @property
    def store(self) -> FrontierStore:
        """The state, open; raises :class:`~sharc_crawler.errors.Superseded` if another crawl took it over."""
        if self._store is None:
            if self._owner and owner(self.state) != self._owner:
                raise Superseded(f"output={str(self.folder)!r} was taken over by another crawl")
            self._store = self._opened()
            self._owner = owner(self.state)
        if self._config.store == opening.USUAL:  # other stores manage their own descriptors
            self._stores.use(self)
        return self._store

    def _opened(self) -> FrontierStore:
        return opening.begin_state(self.folder, self._config.store)

    def suspend(self) -> None:
        """Close the state until it is needed again."""
        store, self._store = self._store, None
        if store is not None:
            with suppress(SharcError):
                if self._changed:  # otherwise it would be reopened just for the log
                    self._changed = not self.log.catch_up(store)
                store.close()

    # -- what the frontier does with it ------------------------------------------------------------------------------

    def commit(self, batch: Batch) -> None:
        """Commit a step."""
        self.store.commit(batch)
        self._changed = True

    def links(self) -> Iterator[LinksRow]:
        """The links of documents."""
        return self.store.links()

    def exchanges(self, after: int = 0) -> Iterator[ExchangeRow]:
        """The exchanges for the log."""
        return self.store.exchanges(after)

    @property
    def is_begun(self) -> bool:
        """Whether its state holds a capture."""
        return bool(self.store.captures())

    # -- its log, and its end ----------------------------------------------------------------------------------------

    def begin_log(self) -> None:
        """Begin a new log; the old files were renamed."""
        self.log = CrawlLog(self.folder, self, self._config.log)

    def catch_up(self) -> None:
        """Write new exchanges to the log."""
        if self._changed:
            self._changed = not self.log.catch_up()

    def ended(self) -> None:
        """Mark the capture as ended: everything is written, the report too."""
        (self.folder / RUNNING).unlink(missing_ok=True)
