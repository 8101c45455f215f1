"""What writers are given: options, answers to refer to, documents that no server sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sharc_crawler.errors import UsageError, unknown_name
from sharc_crawler.model import Instant

GIGABYTE = 1_000_000_000
DEDUP = ("capture", "site", "collection", "off")
FORMER = ("site", "collection")  #: values of dedup with which payloads stay in former captures
USUAL = "warc"  #: name of the default writer
COLLECTION = "capture"  #: name of the collection in URLs of a replay


@dataclass(frozen=True, slots=True)
class WarcOptions:
    """How WARC files are written."""

    max_size: int = GIGABYTE  #: bytes after which the next file is begun
    level: int = 6  #: of compression: 0 stored … 9 smallest
    dedup: str = "capture"  #: store a payload once per ``capture``, ``site`` or ``collection``, or always (``off``)

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
    media_type: str | None = None  #: the whole ``Content-Type``, if it lies in a former capture
    decoded: str | None = None  #: digest of its unpacked payload, if it lies in a former capture
    elsewhere: bool = False  #: does it lie in a former capture with the same payload?


@dataclass(frozen=True, slots=True)
class Resource:
    """A document that no server sent: a page's picture, its text."""

    uri: str
    date: Instant
    media_type: str
    block: bytes


Former = Callable[[str, bool], Original | None]  #: (digest, chunked) → a response in a former capture
