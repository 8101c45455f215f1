"""The answers of former captures that a new one may refer to: the last one of each URL that is stored in full."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sharc_crawler.addresses.known_urls import UNSEEN, SeenUrls
from sharc_crawler.archive.cdxj import REVISIT, IndexEntry, read_index
from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.members import Record, read_at
from sharc_crawler.archive.options import Original
from sharc_crawler.bodies.spool import Octets
from sharc_crawler.changes.http import HttpResponse, parse_response
from sharc_crawler.changes.packed import digest_unpacked
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.instants import unix
from sharc_crawler.model import CaptureRef

_OK = "200"


@dataclass(frozen=True, slots=True)
class FormerAnswer:
    """An answer with status 200 in a former capture."""

    original: Original
    raw: Octets  #: as received
    message: HttpResponse  #: the same, parsed
    place: CaptureRef  #: its record's place in its capture


class FormerAnswers:
    """The places of these answers, in about 30 bytes each; ``folders``: captures of a site, newest first.

    A URL is left out if its content changed after its last answer in full (to one that another record stores, so that
    there is only a revisit record). Revisit records before that answer do not matter.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._files: list[Path] = []
        self._numbers = SeenUrls()  # URL → row
        self._file, self._offset = array("i"), array("q")  # row → file (-1: do not refer to it), offset
        since: dict[str, str] = {}  # URL → digest in revisit records of newer captures
        for folder in folders:
            self._read(folder, since)

    def __len__(self) -> int:
        return sum(file >= 0 for file in self._file)

    def find(self, url: str) -> FormerAnswer | None:
        """Read the last answer of a URL; None: there is none, or it is not whole."""
        record = self._record(url)
        return _answer(record, url, self._files[self._file[self._numbers.get(url)]].name) if record else None

    def damaged(self, url: str) -> Path | None:
        """The capture that should hold the last answer of a URL, if the answer is missing or altered."""
        row = self._numbers.get(url)
        if row == UNSEEN or self._file[row] < 0:
            return None
        record = self._record(url)
        message = parse_response(record.block) if record else None
        whole = record and message and message.digest == record.get("WARC-Payload-Digest")
        return None if whole else self._files[self._file[row]].parent

    def _record(self, url: str) -> Record | None:
        row = self._numbers.get(url)
        if row == UNSEEN or self._file[row] < 0:
            return None
        try:
            with self._files[self._file[row]].open("rb") as stream:
                record = read_at(stream, self._offset[row])
        except OSError:
            return None
        return record if isinstance(record, Record) else None

    def drop(self, url: str) -> None:
        """Forget an answer, so that new captures do not refer to it."""
        if (row := self._numbers.get(url)) != UNSEEN:
            self._file[row] = -1

    def _read(self, folder: Path, since: dict[str, str]) -> None:
        """Read a capture's indexes; URLs known from newer captures are passed over."""
        found: dict[str, IndexEntry] = {}
        shown: dict[str, IndexEntry] = {}  # revisit records
        for index in sorted(folder.glob("*.cdxj")):
            for entry in _entries(index):
                if entry.url in self._numbers:
                    continue
                if entry.mime == REVISIT and entry.digest:
                    _keep_later(shown, entry)
                elif entry.mime != REVISIT and entry.status == _OK:
                    _keep_later(found, entry)
        for url, entry in shown.items():
            if url not in found or _order(entry) > _order(found[url]):  # else the answer in full is newer
                since.setdefault(url, entry.digest or "")
        files = {entry.file: len(self._files) + place for place, entry in enumerate(_by_file(found.values()))}
        self._files += [folder / name for name in files]
        for url, entry in found.items():
            fits = since.pop(url, entry.digest) == entry.digest
            self._numbers.add(url, len(self._file))
            self._file.append(files[entry.file] if fits else -1)
            self._offset.append(entry.offset)


def _keep_later(held: dict[str, IndexEntry], entry: IndexEntry) -> None:
    if entry.url not in held or _order(held[entry.url]) <= _order(entry):
        held[entry.url] = entry


def _order(entry: IndexEntry) -> tuple[str, str, int]:
    """A sort key by time of writing; several records may have the same second."""
    return entry.date, entry.file, entry.offset


def _entries(index: Path) -> list[IndexEntry]:
    """The entries of an index; none if it is damaged, so that its pages are downloaded in full."""
    try:
        return list(read_index(index))
    except (OSError, ValueError, KeyError):
        return []


def _by_file(entries: Iterable[IndexEntry]) -> list[IndexEntry]:
    """The last entry of each WARC file."""
    return list({entry.file: entry for entry in entries if entry.file.endswith(SUFFIX)}.values())


def _answer(record: Record, url: str, file: str) -> FormerAnswer | None:
    """The answer in a record; None if it is truncated, of another URL, or does not have the stated digest."""
    message = parse_response(record.block) if record.kind == "response" else None
    if message is None or record.get("WARC-Truncated") or record.get("WARC-Target-URI") != url:
        return None
    if message.digest != record.get("WARC-Payload-Digest"):
        return None
    kind, date = header_text(message.header(b"content-type")), record.get("WARC-Date")
    if date is None or (kind is not None and not kind.isascii()):
        return None
    name, unpacked = record.get("WARC-Record-ID"), digest_unpacked(message)
    original = Original(url, unix(date), message.digest, name, kind, unpacked)
    return FormerAnswer(original, record.block, message, CaptureRef(file, record.offset, record.length))
