"""What a writer is told: options, an answer that it refers to, a document that no server sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sharc_crawler.errors import UsageError, unknown_name
from sharc_crawler.model import Instant

GIGABYTE = 1_000_000_000
DEDUP = ("capture", "site", "collection", "off")
FORMER = ("site", "collection")  #: of these, those that leave payloads in former captures
USUAL = "warc"  #: of the writers, by name
COLLECTION = "capture"  #: under which replay shows one: a part of its addresses


@dataclass(frozen=True, slots=True)
class WarcOptions:
    """How WARC files are written."""

    max_size: int = GIGABYTE  #: bytes; a file that has reached it is followed by another
    level: int = 6  #: of compression: 0 stored … 9 smallest
    dedup: str = "capture"  #: a payload is stored once per ``capture``, once per ``site`` or
    #: ``collection``, or every time (``off``)

    def __post_init__(self) -> None:
        if self.dedup not in DEDUP:
            raise unknown_name("dedup", self.dedup, DEDUP)
        if not 0 <= self.level <= 9:
            raise UsageError(f"level={self.level!r} is not a compression level; allowed: 0 (stored) to 9 (smallest)")
        if self.max_size < 1:
            raise UsageError(f"max_size={self.max_size!r} is not a size in bytes; the default is {GIGABYTE}")


@dataclass(frozen=True, slots=True)
class Original:
    """A response that a revisit record refers to."""

    url: str
    date: Instant  #: start of its exchange
    digest: str | None  #: of its payload
    record: str | None = None  #: its WARC-Record-ID, where known
    media_type: str | None = None  #: the whole ``Content-Type``, where it lies in a former capture
    decoded: str | None = None  #: digest of the unpacked payload, there
    elsewhere: bool = False  #: in a former capture, which has the same payload


@dataclass(frozen=True, slots=True)
class Resource:
    """A document that no server sent: a page's picture, its text."""

    uri: str
    date: Instant
    media_type: str
    block: bytes


Former = Callable[[str, bool], Original | None]  #: by digest and framing (chunked): a response in a former capture
