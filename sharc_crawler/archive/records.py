"""One WARC/1.1 record as one gzip member."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sharc_crawler.bodies.spool import Octets
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.errors import DataError

HTTP_REQUEST = "application/http;msgtype=request"
HTTP_RESPONSE = "application/http;msgtype=response"
WARC_FIELDS = "application/warc-fields"
FORMER_TYPE = "Sharc-Content-Type"  #: of the former capture's answer that a 304 refers to
WITHHELD = "the credentials for a proxy are left out of the request"  #: else a record that is normalised was rebuilt
FORMER_UNPACKED = "Sharc-Unpacked-Digest"  #: of a payload in a former capture, where that has a content coding
PROFILE = "http://netpreserve.org/warc/1.1/revisit/"  #: what those of revisit records begin with

CONTROL = re.compile(r"[\x00-\x1f\x7f]")  #: no field may carry any
_URI = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:[!-~]+")
_SMALL = 4096  #: bytes; a record up to this size fits a 4 KiB window, which is far cheaper to set up

Fields = list[tuple[str, str]]


def _packing() -> Any:
    """What packs: zlib-ng makes records as small as zlib does, in two thirds of the time."""
    try:
        from zlib_ng import zlib_ng
    except ImportError:  # there is no wheel of it for this machine
        return zlib
    return zlib_ng


packing = _packing()


def record_id() -> str:
    """A new WARC-Record-ID."""
    bits = os.urandom(16).hex()  # version 4 (RFC 9562), in a third of uuid's time
    return f"<urn:uuid:{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-{'89ab'[int(bits[16], 16) & 3]}{bits[17:20]}-{bits[20:]}>"


@dataclass(frozen=True, slots=True)
class Draft:
    """A record that is not packed yet."""

    kind: str
    fields: Fields  #: those of its kind
    block: Octets
    media_type: str
    record_id: str = field(default_factory=record_id)
    start: int = 0  #: of the record's block within ``block``

    def all_fields(self, common: Fields) -> Fields:
        """Everything but the length, ``common`` being what the records of one event share."""
        own: Fields = [("WARC-Type", self.kind), ("WARC-Record-ID", self.record_id), *common, *self.fields]
        if self.block or self.kind == "resource":  # an empty text is a text still; its index says so, too
            own += [("WARC-Block-Digest", labelled_digest(self.block, self.start)), ("Content-Type", self.media_type)]
        return own


def target_uri(url: str) -> str:
    """The URL, if it may stand in a record's header as it is: a URI of printable ASCII (RFC 3986)."""
    if not _URI.fullmatch(url):
        raise DataError(f"url={url!r} is not a URI that a record can carry; percent-encode what is not printable ASCII")
    return url


def named_fields(fields: Iterable[tuple[str, str]]) -> bytes:
    r"""Fields as lines, also the block of an ``application/warc-fields`` record.

    A control character would forge further fields or records: it is refused.

    >>> named_fields([("software", "sharc-crawler")])
    b'software: sharc-crawler\r\n'
    """
    fields = tuple(fields)
    if CONTROL.search("".join(map("".join, fields))):
        name, value = next(field for field in fields if CONTROL.search("".join(field)))
        raise DataError(f"{name}={value!r} has control characters, which no WARC field may carry; escape them")
    return "".join([f"{name}: {value}\r\n" for name, value in fields]).encode("utf-8", "backslashreplace")


def header(fields: Iterable[tuple[str, str]], size: int) -> bytes:
    """A record's header, its block having so many bytes."""
    return b"WARC/1.1\r\n" + named_fields(fields) + b"Content-Length: %d\r\n\r\n" % size


def member(fields: Iterable[tuple[str, str]], block: bytes, level: int) -> bytes:
    """A whole record: header, block and the two line ends after it, compressed on its own so that readers can seek.

    ``fields`` is everything but ``Content-Length``; ``level`` is zlib's (0: stored, 9: smallest).
    """
    whole = b"".join((header(fields, len(block)), block, b"\r\n\r\n"))
    window, memory = (12, 5) if len(whole) < _SMALL else (15, 8)
    packer = packing.compressobj(level, zlib.DEFLATED, 16 + window, memory)
    packed: bytes = packer.compress(whole) + packer.flush()
    return packed
