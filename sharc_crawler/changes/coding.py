"""A payload without its content coding: two packings of one body are one content.

Servers that pack on the fly put times or random bytes into the gzip header (against the BREACH attack, for one), so
that the payloads of an unchanged page differ.
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT = 64 * 2**20  #: bytes of an unpacked body; what holds more is compared as it was sent
_GZIP_OR_ZLIB = 47
_RAW_DEFLATE = -15


def decoded(payload: bytes | memoryview, codings: Sequence[bytes], limit: int = LIMIT) -> bytes | None:
    """The payload with the codings of its ``Content-Encoding`` headers undone, last one first.

    ``None`` where a coding is not known, the data are broken or cut short, or would hold more than ``limit`` bytes.

    >>> import gzip
    >>> decoded(gzip.compress(b"hello", mtime=1), [b"gzip"]) == decoded(gzip.compress(b"hello", mtime=2), [b"x-gzip"])
    True
    """
    data = bytes(payload)
    names = [name.strip().lower() for value in codings for name in value.split(b",")]
    try:
        for name in reversed(names):
            data = _undone(data, name, limit)
    except (zlib.error, brotli.error, zstd.ZstdError, ValueError):
        return None
    return data if len(data) <= limit else None


def _undone(data: bytes, name: bytes, limit: int) -> bytes:
    if name in {b"identity", b""}:
        return data
    if name in {b"gzip", b"x-gzip", b"deflate"}:
        return _inflated(data, limit)
    if name == b"br":
        return _unbrotlied(data, limit)
    if name == b"zstd":
        return _unzstd(data, limit)
    raise ValueError(f"content coding {name!r} is not known")


def _inflated(data: bytes, limit: int) -> bytes:
    """All members of a gzip body; deflate with and without its zlib wrapper, since servers send both."""
    parts, room, window = [], limit + 1, _GZIP_OR_ZLIB
    if data[:2] != b"\x1f\x8b" and data[:1] and data[0] & 0x0F != zlib.DEFLATED:
        window = _RAW_DEFLATE
    while data and room:
        member = zlib.decompressobj(window)
        parts.append(member.decompress(data, room))
        room -= len(parts[-1])
        if room and not member.eof:
            raise ValueError("cut short")
        data = member.unused_data if member.unused_data[:2] == b"\x1f\x8b" else b""
    return b"".join(parts)


def _unbrotlied(data: bytes, limit: int) -> bytes:
    stream = brotli.Decompressor()
    body: bytes = stream.process(data, output_buffer_limit=limit + 1)
    if len(body) <= limit and not stream.is_finished():
        raise ValueError("cut short")
    return body


def _unzstd(data: bytes, limit: int) -> bytes:
    stream = zstd.ZstdDecompressor()
    body = stream.decompress(data, limit + 1)
    if len(body) <= limit and not stream.eof:
        raise ValueError("cut short")
    return body
