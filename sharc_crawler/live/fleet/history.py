"""What former captures of a site taught, in the ledger and in this worker's own files.

A site's part is fetched when the site is claimed; what its capture adds is stored at its end. In the ledger it is a
small compressed history for each owner that ended a capture, and the masks valid then.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sharc_crawler.archive.drafts import replace_file
from sharc_crawler.archive.warc_names import safe_name
from sharc_crawler.live.former.remembering import remember
from sharc_crawler.storage.observations import ObservationStore

if TYPE_CHECKING:
    from sharc_crawler.live.fleet.clerk import Clerk
    from sharc_crawler.state.store import FrontierStore


class SharedHistory:
    """The worker's copy, in a folder; ``takes_masks``: learned masks apply without review."""

    def __init__(self, folder: Path, *, takes_masks: bool) -> None:
        self.file = folder / "history.db"
        self.takes_masks = takes_masks
        self._folder = folder

    async def take_in(self, clerk: Clerk, site: str) -> None:
        """Fetch what the ledger has of a site."""
        bodies = await clerk.ask(clerk.ledger.history, site)
        await asyncio.to_thread(take_in, site, bodies, self.file)
        if (masks := self.masks_of(site)) and (text := await clerk.ask(clerk.ledger.masks, site)):
            await asyncio.to_thread(replace_file, masks, text)

    def masks_of(self, site: str) -> Path | None:
        """The path of a site's masks; ``None``: learned masks are not used."""
        return self._folder / f"{safe_name(site)}.json" if self.takes_masks else None


def learned(store: FrontierStore, file: Path) -> bytes:
    """Add what a capture learned to a file; returns it for the ledger, too."""
    with TemporaryDirectory(dir=file.parent) as folder:
        with ObservationStore(file) as history, ObservationStore(own := Path(folder) / "own") as new:
            remember(store, history)
            for capture in store.captures().values():
                site, since = capture.spec.site, capture.started
                new.append(observation for observation in history.observations(site) if observation.time >= since)
                new.append_links(site, (link for link in history.linked(site) if link.time >= since))
        return zlib.compress(own.read_bytes())


def take_in(site: str, bodies: Iterable[bytes], file: Path) -> None:
    """Add what the ledger has of a site to a file; adding it twice changes nothing."""
    with TemporaryDirectory(dir=file.parent) as folder, ObservationStore(file) as history:
        for number, body in enumerate(bodies):
            part = Path(folder) / str(number)
            part.write_bytes(zlib.decompress(body))
            with ObservationStore(part, reading=True) as one:
                history.append(one.observations(site))
                history.append_links(site, one.linked(site))
