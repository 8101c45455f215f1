"""What a writer is told besides an exchange: an answer that it refers to, or a document that no server sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharc_crawler.model import Instant


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
