"""Decode chunked bodies (RFC 9112, 7.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sharc_crawler.bodies.spool import Octets, Spool, pieces
from sharc_crawler.bodies.spooling import Spooling

#: with leading zeros, and trailing blanks and carriage returns, as servers send them; below 2^60 bytes
_CHUNK_SIZE = re.compile(rb"[ \t]*0*([0-9a-fA-F]{1,15})[ \t\r]*(?:;[^\n]*)?\n")
_LINE_END = re.compile(rb"\r?\n")


def dechunked(raw: Octets, start: int) -> bytes | memoryview:
    """The data of a chunked body that starts at ``start``; a large one is kept on disk."""
    if isinstance(raw, Spool):
        return memoryview(Spooling(raw.folder, chunks(raw, start)).done())
    return dechunk(raw, start)


def dechunk(raw: bytes, start: int = 0) -> bytes:
    r"""The data of a chunked body that starts at ``start``; the last chunk may be truncated.

    Trailers are left out, and everything after a malformed chunk, with which such an answer ends on the wire, too.

    >>> dechunk(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")
    b'abcde'
    """
    return b"".join(chunks(raw, start))


def chunks(raw: Octets, start: int) -> Iterator[bytes | memoryview]:
    """The data of a chunked body in pieces that fit into memory."""
    while (line := _CHUNK_SIZE.match(raw, start)) and (size := int(line[1], 16)):
        end = line.end() + size
        yield from pieces(raw, line.end(), end)
        if (stop := _LINE_END.match(raw, end)) is None:
            return
        start = stop.end()
