"""A body that may be packed with gzip, up to a limit: a bomb stops there."""

from __future__ import annotations

import zlib
from typing import NamedTuple

_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31
_STEP = 65_536


class Unpacked(NamedTuple):
    """What a body holds, as far as it could be unpacked."""

    data: bytes
    problem: str | None = None  #: why that is not all


def unpack(body: bytes, limit: int) -> Unpacked:
    """The body itself, or what it holds where it is gzip (of one or several members); never above ``limit`` bytes.

    >>> import gzip
    >>> unpack(gzip.compress(b"a" * 100), limit=10)
    Unpacked(data=b'aaaaaaaaaa', problem='more than 10 bytes: the rest is left out')
    """
    data, problem = _gunzip(body, limit) if body.startswith(_GZIP) else (body[: limit + 1], None)
    if len(data) > limit:
        return Unpacked(data[:limit], f"more than {limit:,} bytes: the rest is left out")
    return Unpacked(data, problem)


def _gunzip(body: bytes, limit: int) -> Unpacked:
    """One byte more than the limit at most; step by step, so that an error costs one step and not all before it."""
    parts: list[bytes] = []
    room = limit + 1
    while room and body.startswith(_GZIP):
        member = zlib.decompressobj(_GZIP_WINDOW)
        try:
            while room and body:
                parts.append(member.decompress(body, min(room, _STEP)))
                room -= len(parts[-1])
                body = member.unconsumed_tail
        except zlib.error:
            return Unpacked(b"".join(parts), "broken gzip: what could be unpacked is used")
        if room and not member.eof:
            return Unpacked(b"".join(parts), "gzip ends too early: what could be unpacked is used")
        body = member.unused_data
    return Unpacked(b"".join(parts))
