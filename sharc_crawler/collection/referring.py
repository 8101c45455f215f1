"""| Which former captures a capture refers to for payloads that it does not store."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import IO, Any, NamedTuple

from warcio.exceptions import ArchiveLoadFailed

from sharc_crawler.archive.cdxj import REVISIT, IndexEntry, moment_in, read_index
from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.indexing import entries
from sharc_crawler.archive.members import Record, read_at
from sharc_crawler.archive.wacz_check import UNREADABLE
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.certificate.confirming import certificate_of
from sharc_crawler.certificate.material import PageEntries, opened


def taken_digests(folder: Path) -> set[str]:
    """Payloads of pages that a capture did not ask for (``skip=attested``), held by former ones."""
    return {digest for digest, _ in _taken(folder)}


def _taken(folder: Path) -> set[tuple[str, str]]:
    document = certificate_of(folder)
    return taken_by(document, PageEntries(partial(opened, folder / document["pages"]["name"]))) if document else set()


def taken_by(document: Mapping[str, Any], pages: PageEntries) -> set[tuple[str, str]]:
    """The payloads of pages that a certificate's capture did not ask for, with the time of their download."""
    if "skip" not in document["capture"]["settings"]:
        return set()
    return {(visit["digest"], moment_in(visit["date"])) for visit in taken(pages)}


def taken(entries: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The answers of former captures that stand for pages which were not asked for."""
    for entry in entries:
        if (visit := entry.get("visit")) and not visit["attempts"]:
            yield visit


class _Revisit(NamedTuple):
    """A record that refers to a payload, or says that an unnamed one is unchanged."""

    file: str
    offset: int
    digest: str


def lost_payloads(places: Iterable[Path], folders: Sequence[Path]) -> dict[Path, int]:
    """The number of payloads that each capture in ``places`` needs and none in ``folders`` has."""
    referring = Referring(folders)
    for place in places:
        referring.former(place)
    return referring.lost


class Referring:
    """Answers which captures a capture refers to; ask for a collection's captures (``folders``), oldest first.

    A payload may lie in a capture with a later date, if the clock was set back. If several hold it, the one whose
    record is named is meant, as another may have lost its own.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.unread: list[Path] = []  #: indexes that are missing or unreadable; their WARC files are read instead
        self.needing: set[Path] = set()  #: captures that need payloads of others
        self.lost: dict[Path, int] = {}  #: how many payloads captures need that none holds
        self._folders = folders
        self._holders: dict[str, Path] = {}  # payload digest → the first capture that holds it
        self._more: dict[str, list[Path]] = {}  # payload digest → further captures that hold it

    def former(self, folder: Path) -> list[Path]:
        """The captures that a capture refers to; its own payloads are noted."""
        held: set[str] = set()
        revisits: list[_Revisit] = []
        for entry in self._entries(folder):
            if entry.digest and entry.mime == REVISIT:
                revisits.append(_Revisit(sys.intern(entry.file), entry.offset, sys.intern(entry.digest)))
            elif entry.digest:
                held.add(entry.digest)
        lacking = {entry.digest for entry in revisits} - held
        if lacking:
            self.needing.add(folder)
        skipped = self._taken(folder)
        lacking |= {digest for digest, _ in skipped} - held
        for digest in held:
            self._note(digest, folder)
        if not lacking <= self._holders.keys():
            self._look_ahead()
        if nowhere := lacking - self._holders.keys():
            self.lost[folder] = len(nowhere)
        several = lacking & self._more.keys()
        sole = {self._holders[digest] for digest in lacking - several if digest in self._holders}
        found = sole | (self._named(folder, several, revisits, skipped) if several else set())
        return sorted(found | (self._vouched(folder) if self._more else set()))

    def _vouched(self, folder: Path) -> set[Path]:
        """Captures with equal payloads whose answers a 304 without payload confirms."""
        bare = (entry for entry in self._entries(folder) if entry.mime == REVISIT and not entry.digest)
        wanted = self._meant(folder, (_Revisit(sys.intern(entry.file), entry.offset, "") for entry in bare))
        holders = {self._holders[digest] for digest in self._more}.union(*self._more.values()) - {folder}
        found: set[Path] = set()
        for holder in (folder, *sorted(holders, reverse=True)):  # usually itself, or a late one
            if there := wanted and wanted & {(entry.url, entry.date) for entry in self._entries(holder)}:
                found.add(holder)
                wanted -= there
        return found - {folder}

    def _note(self, digest: str, folder: Path) -> None:
        if self._holders.setdefault(digest, folder) != folder and folder not in self._more.get(digest, ()):
            self._more.setdefault(digest, []).append(folder)

    def _look_ahead(self) -> None:
        """Read all indexes once; errors are reported when it is a capture's turn."""
        unread = list(self.unread)
        for folder in self._folders:
            with suppress(*UNREADABLE, KeyError):
                for entry in self._entries(folder):
                    if entry.digest and entry.mime != REVISIT:
                        self._note(entry.digest, folder)
        self._folders, self.unread = (), unread

    def _named(
        self, folder: Path, digests: set[str], revisits: Iterable[_Revisit], skipped: set[tuple[str, str]]
    ) -> set[Path]:
        """Of payloads held by several captures, the holders whose records are named; if none is, all holders."""
        wanted = {revisit for revisit in skipped if revisit[0] in digests}
        wanted |= self._meant(folder, [entry for entry in revisits if entry.digest in digests])
        holders = {one for digest in digests for one in (self._holders[digest], *self._more[digest])}
        unread = list(self.unread)
        found: set[Path] = set()
        for holder in sorted(holders, reverse=True):  # usually a late one
            if not wanted:
                break
            with suppress(*UNREADABLE, KeyError):
                own = {(entry.digest, entry.date) for entry in self._entries(holder) if entry.mime != REVISIT}
                if there := wanted & own:
                    found.add(holder)
                    wanted -= there
        self.unread = unread
        left = {digest for digest, _ in wanted}
        return found | {one for digest in left for one in (self._holders[digest], *self._more[digest])}

    def _meant(self, folder: Path, revisits: Iterable[_Revisit]) -> set[tuple[str, str]]:
        """The payloads (or URLs) that these records refer to, with the dates of the records meant."""
        found = set[tuple[str, str]]()
        for file, entries_of_it in groupby(sorted(revisits), key=lambda entry: entry.file):
            try:
                with self._opened(folder, file) as stream:
                    for entry in entries_of_it:
                        record = read_at(stream, entry.offset)
                        if isinstance(record, Record):
                            date, url = record.get("WARC-Refers-To-Date"), record.get("WARC-Refers-To-Target-URI")
                            found.add((entry.digest or url or "", moment_in(date or "")))
            except (OSError, KeyError):
                continue  # reported as a finding elsewhere
        return found

    def _opened(self, folder: Path, file: str) -> IO[bytes]:
        return (folder / file).open("rb")

    def _taken(self, folder: Path) -> set[tuple[str, str]]:
        return _taken(folder)

    def _entries(self, folder: Path) -> Iterator[IndexEntry]:
        for index in sorted({*folder.glob("*.cdxj"), *map(index_path, folder.glob(f"*{SUFFIX}"))}):
            try:
                yield from read_index(index)  # entries before the error come twice, which does no harm
            except (OSError, ValueError, KeyError):
                self.unread.append(index)
                with suppress(OSError, ArchiveLoadFailed):  # a damaged file is reported elsewhere
                    yield from entries(index.with_name(f"{index.name.removesuffix('.cdxj')}{SUFFIX}"))
