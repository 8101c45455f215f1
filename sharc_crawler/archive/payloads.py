"""Which payloads a capture has stored already, so that each is stored once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from warcio.archiveiterator import ArchiveIterator

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warcio.recordloader import ArcWarcRecord

    from sharc_crawler.model import Instant

_CHUNKED = "/chunked"
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
    """Stored payloads by digest. About 500 bytes of memory each; those of ``former`` captures are looked up there.

    A chunked body is told apart from a plain one: a reader joins the revisit's headers and the original's bytes, and
    these must agree on how the body is framed.
    """

    def __init__(self, former: Former | None = None) -> None:
        self._stored: dict[str, Original] = {}
        self._former = former

    def __len__(self) -> int:
        return len(self._stored)

    def find(self, digest: str, *, chunked: bool) -> Original | None:
        """The response that holds this payload, framed so."""
        found = self._stored.get(_key(digest, chunked=chunked))
        return self._former(digest, chunked) if found is None and self._former and digest != _EMPTY else found

    def stored(self) -> Iterator[tuple[Original, bool]]:
        """What this capture holds in full, and whether it is chunked."""
        return ((original, key.endswith(_CHUNKED)) for key, original in self._stored.items())

    def holder(self, original: Original) -> Original:
        """The response that holds an original's payload: itself, unless it was stored as a revisit of another."""
        digest = original.digest or ""
        here = self._stored.get(digest) or self._stored.get(_key(digest, chunked=True))
        return here or self.find(digest, chunked=False) or self.find(digest, chunked=True) or original

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
    return digest + _CHUNKED if chunked else digest
