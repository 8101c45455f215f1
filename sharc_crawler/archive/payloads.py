"""The payloads that a capture has stored already, so that each is stored only once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import UNSEEN, SeenUrls
from sharc_crawler.archive.cdxj import REVISIT, read_index
from sharc_crawler.archive.options import Former, Original
from sharc_crawler.archive.rows import Rows
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.instants import unix

if TYPE_CHECKING:
    from warcio.recordloader import ArcWarcRecord


_EMPTY = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


class Payloads:
    """Stored payloads by digest; ``former`` finds those of former captures.

    Chunked and plain bodies are kept apart, as a reader combines the revisit's headers with the original's bytes: both
    must frame the body in the same way.
    """

    def __init__(self, folder: Path, former: Former | None = None) -> None:
        self._rows = Rows(folder)
        self._numbers = SeenUrls()  # key → row
        self._indexes: list[Path] = []  # finished files whose indexes were not read yet
        self._unread = _Unread()
        self._former = former

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, digest: str, *, chunked: bool, here: bool = False) -> Original | None:
        """The response that stores this payload with this framing; ``here``: only in this capture."""
        found = self._here(digest, chunked=chunked)
        elsewhere = found is None and not here and digest != _EMPTY
        return self._former(digest, chunked) if elsewhere and self._former else found

    def stored(self) -> Iterator[tuple[Original, bool]]:
        """The payloads stored in full in this capture, and whether they are chunked."""
        self._read_indexes()
        self._take(self._unread.all())
        return map(_read, self._rows)

    def holder(self, original: Original) -> Original:
        """The response that stores an original's payload: itself, or the one it is a revisit of."""
        digest = original.digest or ""
        here = self._here(digest, chunked=False) or self._here(digest, chunked=True)
        return here or self.find(digest, chunked=False) or self.find(digest, chunked=True) or original

    def add(self, original: Original, *, chunked: bool) -> None:
        """Note a stored response, unless its payload is empty, which is not worth a reference."""
        if original.digest is None or original.digest == _EMPTY or _key(original.digest, chunked) in self._numbers:
            return
        with suppress(OSError):  # on a full disk the payload may be stored again later
            self._rows.append(original.url, original.date, original.digest, original.record, int(chunked))
            self._numbers.add(_key(original.digest, chunked), len(self._rows) - 1)

    def _here(self, digest: str, *, chunked: bool) -> Original | None:
        self._read_indexes()
        self._take(self._unread.of(digest))
        number = self._numbers.get(_key(digest, chunked))
        if number == UNSEEN:
            return None
        original, framed = _read(self._rows[number])
        return original if (original.digest, framed) == (digest, chunked) else None  # keys are hashed

    def read(self, warc: Path) -> None:
        """Add the payloads of a finished file. Its index is read at the first look-up, records when they are needed."""
        self._indexes.append(warc)

    def _read_indexes(self) -> None:
        for warc in self._indexes:
            with suppress(OSError, ValueError, KeyError):  # without its index, payloads are stored again
                for entry in read_index(index_path(warc)):
                    if entry.digest and entry.digest != _EMPTY and entry.mime != REVISIT:
                        self._unread.add(entry.digest, warc, entry.offset)
        self._indexes.clear()

    def _take(self, places: Iterable[tuple[Path, int]]) -> None:
        for warc, offset in places:
            from warcio.archiveiterator import ArchiveIterator  # only of a capture that goes on
            from warcio.exceptions import ArchiveLoadFailed

            with suppress(ArchiveLoadFailed, OSError, StopIteration), warc.open("rb") as stream:
                stream.seek(offset)
                record = next(ArchiveIterator(stream))
                if record.rec_type == "response" and not record.rec_headers.get_header("WARC-Truncated"):
                    coding = record.http_headers.get_header("Transfer-Encoding") or ""
                    self.add(_original(record), chunked=coding.lower().endswith("chunked"))


class _Unread:
    """The places of indexed answers by digest, in about 30 bytes each; each is returned once."""

    def __init__(self) -> None:
        self._warcs: list[Path] = []
        self._files, self._offsets, self._given = array("I"), array("Q"), bytearray()
        self._numbers = SeenUrls()

    def add(self, digest: str, warc: Path, offset: int) -> None:
        """Add a place. Up to four are kept for a digest, as answers may be truncated or framed differently."""
        key = next((key for key in _same(digest) if key not in self._numbers), None)
        if key is None:
            return
        if not self._warcs or self._warcs[-1] != warc:
            self._warcs.append(warc)
        self._numbers.add(key, len(self._offsets))
        self._files.append(len(self._warcs) - 1)
        self._offsets.append(offset)
        self._given.append(False)

    def of(self, digest: str) -> Iterator[tuple[Path, int]]:
        """The places of payloads with this digest."""
        for key in _same(digest):
            if (number := self._numbers.get(key)) == UNSEEN:
                return
            yield from self._give(number)

    def all(self) -> Iterator[tuple[Path, int]]:
        """The places of all payloads."""
        for number in range(len(self._offsets)):
            yield from self._give(number)

    def _give(self, number: int) -> Iterator[tuple[Path, int]]:
        if not self._given[number]:
            self._given[number] = True
            yield self._warcs[self._files[number]], self._offsets[number]


def _same(digest: str) -> Iterator[str]:
    return (f"{digest} {number}" for number in range(4))


def _key(digest: str, chunked: bool) -> str:
    return f"{digest} chunked" if chunked else digest


def _read(row: list[str | None]) -> tuple[Original, bool]:
    url, date, digest, record, chunked = row
    assert url and date, "each response has them"
    return Original(url, float(date), digest, record), chunked == "1"


def _original(record: ArcWarcRecord) -> Original:
    head = record.rec_headers
    return Original(
        url=head.get_header("WARC-Target-URI"),
        date=unix(head.get_header("WARC-Date")),
        digest=head.get_header("WARC-Payload-Digest"),
        record=head.get_header("WARC-Record-ID"),
    )
