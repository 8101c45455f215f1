"""Find the next whole record of a WARC file after a damaged place."""

from __future__ import annotations

import zlib
from typing import IO

_BLOCK = 1 << 13  #: bytes searched at once
_MAGIC = b"\x1f\x8b\x08"
_START = b"WARC/1."


def next_start(stream: IO[bytes], offset: int) -> int | None:
    """The next offset at which a record can be unpacked; ``None``: there is none."""
    stream.seek(offset)
    base, window = offset, b""
    while data := stream.read(_BLOCK):
        window += data
        at = window.find(_MAGIC)
        while at >= 0:
            if _starts_record(stream, base + at):
                return base + at
            at = window.find(_MAGIC, at + 1)
        base, window = base + len(window) - len(_MAGIC) + 1, window[-len(_MAGIC) + 1 :]
        stream.seek(base + len(window))
    return None


def _starts_record(stream: IO[bytes], offset: int) -> bool:
    stream.seek(offset)
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(stream.read(_BLOCK), 64).startswith(_START)
    except zlib.error:
        return False
