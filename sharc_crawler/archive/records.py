"""Write WARC/1.1 records, each as a gzip member."""

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
FORMER_TYPE = "Sharc-Content-Type"  #: field: Content-Type of the former capture's answer that a 304 refers to
WITHHELD = "the credentials for a proxy are left out of the request"  #: other "normalised" records were rebuilt
FORMER_UNPACKED = "Sharc-Unpacked-Digest"  #: field: digest of a former capture's payload without its content coding
PROFILE = "http://netpreserve.org/warc/1.1/revisit/"  #: beginning of revisit records' profiles

CONTROL = re.compile(r"[\x00-\x1f\x7f]")  #: characters that no field may contain
_URI = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:[!-~]+")
_SMALL = 4096  #: bytes; records up to this size are packed with a 4 KiB window, which is far cheaper to set up

Fields = list[tuple[str, str]]


def _packing() -> Any:
    """The compression library: zlib-ng packs as well as zlib in two thirds of the time."""
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
    """A record to be packed."""

    kind: str
    fields: Fields  #: fields specific to it
    block: Octets
    media_type: str
    record_id: str = field(default_factory=record_id)
    start: int = 0  #: where the record's block begins in ``block``

    def all_fields(self, common: Fields) -> Fields:
        """All fields but the length; ``common``: fields shared with other records."""
        own: Fields = [("WARC-Type", self.kind), ("WARC-Record-ID", self.record_id), *common, *self.fields]
        if self.block or self.kind == "resource":  # an empty resource is still one, and is indexed
            own += [("WARC-Block-Digest", labelled_digest(self.block, self.start)), ("Content-Type", self.media_type)]
        return own


def target_uri(url: str) -> str:
    """The URL, if a record may contain it: a URI of printable ASCII (RFC 3986); else raises DataError."""
    if not _URI.fullmatch(url):
        raise DataError(f"url={url!r} is not a URI that a record can carry; percent-encode what is not printable ASCII")
    return url


def named_fields(fields: Iterable[tuple[str, str]]) -> bytes:
    r"""Fields as lines; also the block of an ``application/warc-fields`` record.

    Raises DataError for control characters, which could forge further fields or records.

    >>> named_fields([("software", "sharc-crawler")])
    b'software: sharc-crawler\r\n'
    """
    fields = tuple(fields)
    if CONTROL.search("".join(map("".join, fields))):
        name, value = next(field for field in fields if CONTROL.search("".join(field)))
        raise DataError(f"{name}={value!r} has control characters, which no WARC field may carry; escape them")
    return "".join([f"{name}: {value}\r\n" for name, value in fields]).encode("utf-8", "backslashreplace")


def header(fields: Iterable[tuple[str, str]], size: int) -> bytes:
    """The header of a record whose block has ``size`` bytes."""
    return b"WARC/1.1\r\n" + named_fields(fields) + b"Content-Length: %d\r\n\r\n" % size


def member(fields: Iterable[tuple[str, str]], block: bytes, level: int) -> bytes:
    """A whole packed record: header, block and two line ends.

    ``fields``: all but ``Content-Length``; ``level``: of compression (0: stored, 9: smallest).
    """
    whole = b"".join((header(fields, len(block)), block, b"\r\n\r\n"))
    window, memory = (12, 5) if len(whole) < _SMALL else (15, 8)
    packer = packing.compressobj(level, zlib.DEFLATED, 16 + window, memory)
    packed: bytes = packer.compress(whole) + packer.flush()
    return packed
