"""The payloads of former captures, as the history lists them, believed only as far as they can be checked.

A revisit record is all that is written of a payload said to lie elsewhere: if it does not, it is lost.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import SeenUrls
from sharc_crawler.archive.cdxj import REVISIT, moment_in, read_index
from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.options import Original
from sharc_crawler.collection.folder import ADDING, CAPTURES, CollectedCapture, Collection
from sharc_crawler.collection.terms import CollectionTerms
from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.instants import iso

if TYPE_CHECKING:
    from sharc_crawler.storage.observations import ObservationStore
    from sharc_crawler.storage.payloads import StoredPayload

logger = logging.getLogger(__name__)


class FormerPayloads:
    """Where former captures of a site (``None``: of all) hold payloads, for the capture in ``folder``.

    In a collection, the history is checked against the captures' indexes, each of which is read when a payload is first
    looked for there (20 bytes per answer). Captures outside of a collection are not at hand: there a row only has to
    match its checksum.
    """

    def __init__(self, history: ObservationStore, site: str | None, folder: Path) -> None:
        self._history, self._site = history, site
        path = Path(history.path)
        self._collection = Collection(path.parent, CollectionTerms()) if Collection.is_in(path.parent) else None
        self._name = folder.parent.name  # name of the site's folder in a collection
        self._unread: list[CollectedCapture] = []
        self._looked: set[Path] = set()  # captures whose indexes were or will be read
        self._held = SeenUrls()
        self._told = False

    def find(self, digest: str, chunked: bool) -> Original | None:
        """The response that holds a payload with this framing; wrong rows of the history are dropped."""
        while held := self._history.payload(self._site, digest, chunked=chunked):
            if self._is_confirmed(held):
                return Original(held.url, held.time, held.digest, held.record, elsewhere=True)
            if held.sound is not None or self._collection:  # otherwise the row is older than checksums
                self._tell(held)
            try:
                self._history.drop_payload(held)
            except StoreUnavailable:  # another process is writing: the next capture finds it again
                return None
        return None

    def _is_confirmed(self, held: StoredPayload) -> bool:
        if self._collection is None or held.sound is False:
            return bool(held.sound)
        try:
            key = _key(held.url, iso(held.time), held.digest)
        except (ValueError, OverflowError):  # an impossible date
            return False
        while key not in self._held:
            if not self._unread and not self._look(self._collection):
                return False
            # it began before the answer came; usually it is the latest such capture of the same site
            nearest = max(self._unread, key=lambda one: (one.time <= held.time, one.site == self._name, one.time))
            self._unread.remove(nearest)
            self._read(nearest.folder)
        return True

    def _look(self, collection: Collection) -> bool:
        """Find captures whose indexes were not read, as when another site's capture has ended meanwhile."""
        own = self._name if self._site is not None and self._name in collection.names() else None
        self._unread = [one for one in collection.captures(own) if one.folder not in self._looked]
        self._looked |= {one.folder for one in self._unread}
        return bool(self._unread)

    def _read(self, folder: Path) -> None:
        """Read a capture's index; a damaged one counts up to the damage."""
        sizes = {warc.name: warc.stat().st_size for warc in folder.glob(f"*{SUFFIX}")}
        for index in sorted(folder.glob("*.cdxj")):
            with suppress(OSError, ValueError, KeyError):
                for one in read_index(index):
                    if one.digest and one.mime != REVISIT and one.offset + one.length <= sizes.get(one.file, 0):
                        self._held.add(_key(one.url, one.date, one.digest), 0)

    def _tell(self, held: StoredPayload) -> None:
        if not self._told:
            what = f"{self._history.path} is damaged: no former answer of {held.url} is as it says"
            if half := next(Path(self._history.path).parent.glob(f"{CAPTURES}/*/.*{ADDING}"), None):
                what = f"{half}: `sharc collection add` ended before the capture was there; the same command adds it"
            logger.warning("%s. Such payloads are stored again", what, extra={"note": True})
        self._told = True


def _key(url: str, date: str, digest: str) -> str:
    """With the time to the second, as in indexes."""
    return f"{moment_in(date)} {digest} {url}"
