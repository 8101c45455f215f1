"""Where an answer's parts end, as its bytes arrive (RFC 9112); and the same answer as a strict parser takes it.

Servers send what Twisted's parser ends a connection for: lines that are no headers among these, headers of many
kilobytes, blanks after a chunk's size. The archive has every byte of it; the parser is handed what it can read.
"""

from __future__ import annotations

import logging
import re

logger = logging.getLogger(__name__)

LINE = 16_000  #: bytes; Twisted hangs up on a line of more than 16 KiB
SIZE_LINE = 1024  #: bytes; of a chunk's size and its extensions
TRAILERS = 1 << 16  #: bytes
_BLANK = re.compile(rb"\n\r?\n")
_HEX = re.compile(rb"[0-9A-Fa-f]+\Z")
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_NO_BODY = (204, 304)
_FRAMING = (b"content-length", b"transfer-encoding")


class Framing:
    r"""The answer to one request.

    >>> framing = Framing(b"GET")
    >>> framing.feed(b"HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 2\r\n\r\nhi!")
    (b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi', b'!')
    """

    def __init__(self, method: bytes) -> None:
        self.ended = False  #: there is nothing more to come
        self.in_head = True
        self.long: list[tuple[bytes, bytes]] = []  #: headers that are too long for the parser, by name
        self._method = method
        self._part = self._status
        self._held = bytearray()  # of a part that is not whole
        self._code = 0
        self._left = 0  # bytes of a body or a chunk
        self._trailers = 0

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """What the parser is handed of these bytes; and what came after the answer's end."""
        clean: list[bytes] = []
        while data and not self.ended:
            data = self._part(data, clean)
        return b"".join(clean), data if self.ended else b""

    def cut(self) -> bytes:
        """The connection is lost: what came of a first line, for the parser to complain of."""
        return bytes(self._held) if self._part == self._status else b""

    def _line(self, data: bytes, end: bytes) -> tuple[bytes, bytes] | None:
        """The next line, with its ``end``, and what follows; ``None``: it is not whole yet, and is held."""
        searched = max(0, len(self._held) - len(end) + 1)
        self._held += data
        found = self._held.find(end, searched)
        if found < 0:
            return None
        line, rest = bytes(self._held[: found + len(end)]), bytes(self._held[found + len(end) :])
        self._held.clear()
        return line, rest

    # -- the head ----------------------------------------------------------------------------------------------------

    def _status(self, data: bytes, clean: list[bytes]) -> bytes:
        """Handed on at once: whoever speaks no HTTP may say nothing more."""
        found = self._line(data, b"\n")
        if found is None:
            return b""
        line, rest = found
        parts = line.split(b" ", 2)
        self._code = int(parts[1]) if len(parts) > 1 and parts[1].strip().isdigit() else 0
        self._held += b"\n"  # a head may end with this line
        self._part = self._headers
        clean.append(line if len(line) <= LINE else line[:LINE] + b"\r\n")
        return rest

    def _headers(self, data: bytes, clean: list[bytes]) -> bytes:
        searched = max(0, len(self._held) - 2)
        self._held += data
        found = _BLANK.search(self._held, searched)
        if found is None:
            return b""
        head, rest = bytes(self._held[1 : found.end()]), bytes(self._held[found.end() :])
        self._held.clear()
        fields = list(self._fields(head))
        clean += [line for lines, *_ in fields for line in lines]
        clean.append(b"\r\n")
        if 100 <= self._code < 200:  # interim: another head follows
            self._part = self._status
            return rest
        self.in_head = False
        self._begin_body({name: [value for _, other, value in fields if other == name] for name in _FRAMING})
        return rest

    def _fields(self, head: bytes) -> list[tuple[list[bytes], bytes, bytes]]:
        """Of each header the parser can read its lines, its name in lower case, and its value."""
        folded: list[list[bytes]] = []
        for line in head.split(b"\n")[:-2]:
            if line[:1] not in (b" ", b"\t"):
                folded.append([])
            if folded:
                folded[-1].append(line.removesuffix(b"\r"))
        fields = []
        for lines in folded:
            name, colon, value = b"".join(lines).partition(b":")
            name = name.rstrip(b" \t")  # RFC 9112, 5.1
            if not colon or not _TOKEN.match(name):
                logger.debug("Skipping the bad header line %r", b"".join(lines)[:200])
            elif max(map(len, lines)) > LINE:
                self.long.append((name, value.strip()))
            else:
                lines[0] = name + b":" + lines[0].partition(b":")[2]
                fields.append(([line + b"\r\n" for line in lines], name.lower(), value.strip()))
        return fields

    # -- the body ----------------------------------------------------------------------------------------------------

    def _begin_body(self, given: dict[bytes, list[bytes]]) -> None:
        codings, lengths = given[b"transfer-encoding"], {*b",".join(given[b"content-length"]).split(b",")} - {b""}
        self._part = self._until_close
        if self._method == b"HEAD" or self._code in _NO_BODY:
            self.ended = True
        elif codings:
            self._part = self._size if codings[0].lower() == b"chunked" else self._until_close
        elif lengths and all(length.strip().isdigit() for length in lengths):
            self._left = int(lengths.pop())  # of several that differ the parser will have none
            self._part, self.ended = self._length, not self._left

    def _until_close(self, data: bytes, clean: list[bytes]) -> bytes:
        clean.append(data)
        return b""

    def _length(self, data: bytes, clean: list[bytes]) -> bytes:
        piece = data if len(data) <= self._left else data[: self._left]
        self._left -= len(piece)
        self.ended = not self._left
        clean.append(piece)
        return data[len(piece) :]

    # Each piece of a chunk is handed on as a chunk of its own, so that the parser is always between two of them.

    def _size(self, data: bytes, clean: list[bytes]) -> bytes:
        found = self._line(data, b"\r\n")
        if len(self._held if found is None else found[0]) > SIZE_LINE:
            return self._broken(clean)
        if found is None:
            return b""
        size = found[0][:-2].partition(b";")[0].rstrip(b" \t")
        if not _HEX.match(size):
            return self._broken(clean)
        self._left = int(size, 16)
        self._part = self._chunk if self._left else self._trailer
        return found[1]

    def _chunk(self, data: bytes, clean: list[bytes]) -> bytes:
        piece = data[: self._left]
        self._left -= len(piece)
        clean += [b"%x\r\n" % len(piece), piece, b"\r\n"]
        if not self._left:
            self._part = self._chunk_end
        return data[len(piece) :]

    def _chunk_end(self, data: bytes, clean: list[bytes]) -> bytes:
        found = self._line(data, b"\n")
        if found is None and self._held == b"\r":
            return b""
        if found is None or found[0] != b"\r\n":
            return self._broken(clean)
        self._part = self._size
        return found[1]

    def _trailer(self, data: bytes, clean: list[bytes]) -> bytes:
        found = self._line(data, b"\r\n")
        if self._trailers + len(self._held if found is None else found[0]) > TRAILERS:
            return self._broken(clean)
        if found is None:
            return b""
        self._trailers += len(found[0])
        if found[0] == b"\r\n":
            clean.append(b"0\r\n\r\n")
            self.ended = True
        return found[1]

    def _broken(self, clean: list[bytes]) -> bytes:
        """No chunk follows: the parser is told so, and nothing more."""
        clean.append(b"!\r\n")
        self._part = self._ignored
        return b""

    def _ignored(self, data: bytes, clean: list[bytes]) -> bytes:  # noqa: ARG002 - as the other parts
        return b""
