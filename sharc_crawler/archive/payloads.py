"""Which payloads a capture has stored already, so that each is stored once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from weakref import finalize

from warcio.archiveiterator import ArchiveIterator

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warcio.recordloader import ArcWarcRecord

    from sharc_crawler.model import Instant

_TEMPORARY = ""  # SQLite: a file of no name that goes with the connection; its pages are in memory while they are few
_CACHE = 256  #: KiB; more is not faster
_TABLE = """CREATE TABLE stored (url TEXT, date REAL, digest TEXT, record TEXT, chunked INTEGER,
    PRIMARY KEY (digest, chunked)) WITHOUT ROWID"""
_EMPTY = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


@dataclass(frozen=True, slots=True)
class Original:
    """A response that a revisit record refers to."""

    url: str
    date: Instant  #: start of its exchange
    digest: str | None  #: of its payload
    record: str | None = None  #: its WARC-Record-ID, where known


Former = Callable[[str, bool], Original | None]  #: by digest and framing (chunked): a response in a former capture


class Payloads:
    """Stored payloads by digest, in a temporary database, not in memory; those of former captures are in ``former``.

    A chunked body is told apart from a plain one: a reader joins the revisit's headers and the original's bytes, and
    these must agree on how the body is framed.
    """

    def __init__(self, former: Former | None = None) -> None:
        # Made in one thread, used in another, by one at a time.
        self._db = sqlite3.connect(_TEMPORARY, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute(f"PRAGMA cache_size = -{_CACHE}")
        self._db.execute(_TABLE)
        self._former = former
        finalize(self, self._db.close)

    def __len__(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM stored").fetchone()[0])

    def find(self, digest: str, *, chunked: bool) -> Original | None:
        """The response that holds this payload, framed so."""
        found = self._here(digest, chunked=chunked)
        return self._former(digest, chunked) if found is None and self._former and digest != _EMPTY else found

    def stored(self) -> Iterator[tuple[Original, bool]]:
        """What this capture holds in full, and whether it is chunked."""
        for *original, chunked in self._db.execute("SELECT url, date, digest, record, chunked FROM stored"):
            yield Original(*original), bool(chunked)

    def holder(self, original: Original) -> Original:
        """The response that holds an original's payload: itself, unless it was stored as a revisit of another."""
        digest = original.digest or ""
        here = self._here(digest, chunked=False) or self._here(digest, chunked=True)
        return here or self.find(digest, chunked=False) or self.find(digest, chunked=True) or original

    def add(self, original: Original, *, chunked: bool) -> None:
        """A response was stored. An empty payload is not worth a reference."""
        if original.digest is not None and original.digest != _EMPTY:
            row = (original.url, original.date, original.digest, original.record, chunked)
            self._db.execute("INSERT OR IGNORE INTO stored VALUES (?, ?, ?, ?, ?)", row)

    def _here(self, digest: str, *, chunked: bool) -> Original | None:
        query = "SELECT url, date, digest, record FROM stored WHERE digest = ? AND chunked = ?"
        row = self._db.execute(query, (digest, chunked)).fetchone()
        return Original(*row) if row else None

    def read(self, warc: Path) -> None:
        """Add what a WARC file holds in full."""
        with warc.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response" and not record.rec_headers.get_header("WARC-Truncated"):
                    coding = record.http_headers.get_header("Transfer-Encoding") or ""
                    self.add(_original(record), chunked=coding.lower().endswith("chunked"))


def _original(record: ArcWarcRecord) -> Original:
    head = record.rec_headers
    return Original(
        url=head.get_header("WARC-Target-URI"),
        date=datetime.fromisoformat(head.get_header("WARC-Date")).timestamp(),
        digest=head.get_header("WARC-Payload-Digest"),
        record=head.get_header("WARC-Record-ID"),
    )
