"""What former captures of a site taught, whoever made them: in the ledger, and in files of this worker's own.

A site's part is taken from the ledger as the site is claimed; what its capture adds goes there at its end. In the
ledger it is a small history of its own, compressed, for each owner that ended a capture; and the masks that hold then.
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
    from sharc_crawler.frontier.store import FrontierStore
    from sharc_crawler.live.fleet.clerk import Clerk


class SharedHistory:
    """What the ledger has, in a folder of this worker's own; ``takes_masks``: those learned hold, seen by nobody."""

    def __init__(self, folder: Path, *, takes_masks: bool) -> None:
        self.file = folder / "history.db"
        self.takes_masks = takes_masks
        self._folder = folder

    async def take_in(self, clerk: Clerk, site: str) -> None:
        """Have what the ledger has of a site."""
        bodies = await clerk.ask(clerk.ledger.history, site)
        await asyncio.to_thread(take_in, site, bodies, self.file)
        if (masks := self.masks_of(site)) and (text := await clerk.ask(clerk.ledger.masks, site)):
            await asyncio.to_thread(replace_file, masks, text)

    def masks_of(self, site: str) -> Path | None:
        """The path of a site's masks; ``None``: masks of captures are not taken over."""
        return self._folder / f"{safe_name(site)}.json" if self.takes_masks else None


def learned(store: FrontierStore, file: Path) -> bytes:
    """Add what a capture learned to a file; the same, for the ledger."""
    with TemporaryDirectory(dir=file.parent) as folder:
        with ObservationStore(file) as history, ObservationStore(own := Path(folder) / "own") as new:
            remember(store, history)
            for capture in store.captures().values():
                site, since = capture.spec.site, capture.started
                new.append(one for one in history.observations(site) if one.time >= since)
                new.append_links(site, (one for one in history.linked(site) if one.time >= since))
        return zlib.compress(own.read_bytes())


def take_in(site: str, bodies: Iterable[bytes], file: Path) -> None:
    """Add what the ledger has of a site to a file; as often as one likes."""
    with TemporaryDirectory(dir=file.parent) as folder, ObservationStore(file) as history:
        for number, body in enumerate(bodies):
            part = Path(folder) / str(number)
            part.write_bytes(zlib.decompress(body))
            with ObservationStore(part, reading=True) as one:
                history.append(one.observations(site))
                history.append_links(site, one.linked(site))
