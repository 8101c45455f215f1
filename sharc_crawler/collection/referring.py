"""Which former captures a capture refers to, for payloads that it does not store itself."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from warcio.exceptions import ArchiveLoadFailed

from sharc_crawler.archive.cdxj import REVISIT, index_path, read_index
from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.indexing import entries
from sharc_crawler.archive.wacz_check import UNREADABLE
from sharc_crawler.certificate.confirming import certificate_of
from sharc_crawler.certificate.material import PageEntries, opened, taken

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from sharc_crawler.archive.cdxj import IndexEntry


def taken_digests(folder: Path) -> set[str]:
    """The payloads of pages that a capture did not ask for (``skip=attested``): a former one holds them."""
    document = certificate_of(folder)
    return taken_by(document, PageEntries(partial(opened, folder / document["pages"]["name"]))) if document else set()


def taken_by(document: Mapping[str, Any], pages: PageEntries) -> set[str]:
    """The payloads of pages that a certificate's capture did not ask for: a former capture holds them."""
    return {visit["digest"] for visit in taken(pages)} if "skip" in document["capture"]["settings"] else set()


class Referring:
    """Asked of a collection's captures (``folders``), the oldest first.

    A payload may lie in a capture of a later date: where the clock was set back between the two.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.unread: list[Path] = []  #: indexes that are missing, or cannot be read: their WARC files say the same
        self.needing: set[Path] = set()  #: captures that do not hold all that they need to be shown
        self.lost: dict[Path, int] = {}  #: how many payloads captures need that none holds
        self._folders = folders
        self._holders: dict[str, Path] = {}  # payload digest → the first capture that holds it

    def former(self, folder: Path) -> list[Path]:
        """The captures that a capture refers to; what it holds itself is noted."""
        held, referred = set[str](), set[str]()
        for entry in self._entries(folder):
            if entry.digest:
                (referred if entry.mime == REVISIT else held).add(entry.digest)
        if referred - held:
            self.needing.add(folder)
        referred |= self._taken(folder)
        for digest in held:
            self._holders.setdefault(digest, folder)
        lacking = referred - held
        if not lacking <= self._holders.keys():
            self._look_ahead()
        if nowhere := lacking - self._holders.keys():
            self.lost[folder] = len(nowhere)
        return sorted({self._holders[digest] for digest in lacking if digest in self._holders})

    def _look_ahead(self) -> None:
        """Read the indexes of all captures, once; what is wrong with one is told when it is its turn."""
        unread = list(self.unread)
        for folder in self._folders:
            with suppress(*UNREADABLE, KeyError):
                for entry in self._entries(folder):
                    if entry.digest and entry.mime != REVISIT:
                        self._holders.setdefault(entry.digest, folder)
        self._folders, self.unread = (), unread

    def _taken(self, folder: Path) -> set[str]:
        return taken_digests(folder)

    def _entries(self, folder: Path) -> Iterator[IndexEntry]:
        for index in sorted({*folder.glob("*.cdxj"), *map(index_path, folder.glob(f"*{SUFFIX}"))}):
            try:
                yield from list(read_index(index))
            except (OSError, ValueError, KeyError):
                self.unread.append(index)
                with suppress(OSError, ArchiveLoadFailed):  # a damaged file is a finding of its own
                    yield from entries(index.with_name(f"{index.name.removesuffix('.cdxj')}{SUFFIX}"))
