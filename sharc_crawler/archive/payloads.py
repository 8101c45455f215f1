"""Which payloads a capture has stored already, so that each is stored once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from warcio.archiveiterator import ArchiveIterator

if TYPE_CHECKING:
    from pathlib import Path

    from warcio.recordloader import ArcWarcRecord

    from sharc_crawler.model import Instant

_EMPTY = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


@dataclass(frozen=True, slots=True)
class Original:
    """A response that a revisit record refers to."""

    url: str
    date: Instant  #: start of its exchange
    digest: str | None  #: of its payload
    record: str | None = None  #: its WARC-Record-ID, where known


class Payloads:
    """Stored payloads by digest. About 500 bytes of memory each.

    A chunked body is told apart from a plain one: a reader joins the revisit's headers and the original's bytes, and
    these must agree on how the body is framed.
    """

    def __init__(self) -> None:
        self._stored: dict[str, Original] = {}

    def __len__(self) -> int:
        return len(self._stored)

    def find(self, digest: str, *, chunked: bool) -> Original | None:
        """The response that holds this payload, framed so."""
        return self._stored.get(_key(digest, chunked=chunked))

    def holder(self, original: Original) -> Original:
        """The response that holds an original's payload: itself, unless it was stored as a revisit of another."""
        plain = self.find(original.digest or "", chunked=False)
        return plain or self.find(original.digest or "", chunked=True) or original

    def add(self, original: Original, *, chunked: bool) -> None:
        """A response was stored. An empty payload is not worth a reference."""
        if original.digest is not None and original.digest != _EMPTY:
            self._stored.setdefault(_key(original.digest, chunked=chunked), original)

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


def _key(digest: str, *, chunked: bool) -> str:
    return f"{digest}/chunked" if chunked else digest
