"""Finds the end of a chunked body as its bytes arrive (RFC 9112, 7.1).

Each piece of a chunk is passed on as a chunk of its own, so that the parser is always between two chunks.
"""

from __future__ import annotations

import re

from sharc_crawler.changes.http import line_of

SIZE_LINE = 1024  #: bytes of a line with a chunk's size and extensions
TRAILERS = 1 << 16  #: bytes
_HEX = re.compile(rb"[0-9A-Fa-f]+\Z")


class Chunks:
    """The chunks of one body with Transfer-Encoding chunked."""

    def __init__(self) -> None:
        self.ended = False
        self.wrong: Exception | None = None  #: why the body is incomplete or invalid
        self.body = 0  #: bytes of the body so far, without chunk framing
        self._held = bytearray()  # start of an incomplete line
        self._left = 0  # bytes of the chunk still to come
        self._trailers = 0
        self._part = self._size

    def take(self, data: bytes, at: int, clean: list[bytes]) -> int:
        """Take one step; returns up to where the data was used. What the parser gets is added to ``clean``."""
        return self._part(data, at, clean)

    def _size(self, data: bytes, at: int, clean: list[bytes]) -> int:
        line, at = line_of(self._held, data, at)
        size = line.partition(b";")[0].rstrip(b" \t\r\n")
        if len(line or self._held) > SIZE_LINE or (line and not (line.endswith(b"\r\n") and _HEX.match(size))):
            return self._broken(data, clean)
        if line:
            self._left = int(size, 16)
            self._part = self._chunk if self._left else self._trailer
        return at

    def _chunk(self, data: bytes, at: int, clean: list[bytes]) -> int:
        piece = data[at : at + self._left]
        self._left -= len(piece)
        self.body += len(piece)
        clean += [b"%x\r\n" % len(piece), piece, b"\r\n"]
        if not self._left:
            self._part = self._chunk_end
        return at + len(piece)

    def _chunk_end(self, data: bytes, at: int, clean: list[bytes]) -> int:
        taken = data[at : at + 2 - len(self._held)]
        self._held += taken
        if not b"\r\n".startswith(self._held):
            return self._broken(data, clean)
        if self._held == b"\r\n":
            self._held.clear()
            self._part = self._size
        return at + len(taken)

    def _trailer(self, data: bytes, at: int, clean: list[bytes]) -> int:
        line, at = line_of(self._held, data, at)
        if self._trailers + len(line or self._held) > TRAILERS:
            return self._broken(data, clean)
        self._trailers += len(line)
        if line == b"\r\n":
            clean.append(b"0\r\n\r\n")
            self.ended = True
        return at

    def _broken(self, data: bytes, clean: list[bytes]) -> int:
        """End the body: no chunk follows, and the parser is told so."""
        clean.append(b"!\r\n")
        self.wrong = EOFError("no chunk follows")
        self._part = self._ignored
        return len(data)

    def _ignored(self, data: bytes, at: int, clean: list[bytes]) -> int:  # noqa: ARG002 - as the other states
        return len(data)
