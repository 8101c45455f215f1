"""Finds the parts of an answer as its bytes arrive (RFC 9112), and cleans them up for a strict parser.

Servers send what Twisted's parser hangs up on: lines among the headers that are none, headers of many kilobytes,
blanks after a chunk's size. The archive keeps every byte; the parser gets what it can read.
"""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from sharc_crawler.changes.http import BLANK_LINE, STATUS_LINE, field_of, line_of, transfer_codings

if TYPE_CHECKING:
    from sharc_crawler.live.wire.chunks import Chunks

logger = logging.getLogger(__name__)

LINE = 16_000  #: bytes; Twisted hangs up on lines of more than 16 KiB
BLANKS = 4  #: bytes of blank lines before an answer, as in Chromium: they belong to the answer before
LENGTH = 100  #: digits of a Content-Length; Python reads no more than some thousand
_BLANK = (b"\r\n", b"\n")
_INTEGER = re.compile(rb"\s*[+-]?[0-9_]+\s*\Z")  #: what ``int`` accepts, and more
SWITCHED = 101  #: what follows is not HTTP; the parser, which skips interim answers, gets a 204 instead
_NO_BODY = (SWITCHED, 204, 304)
_FRAMING = (b"content-length", b"transfer-encoding", b"connection")
LONGEST_HEAD = 1 << 20  #: bytes of headers, after which we hang up
INTERIM = 100  #: interim answers (1xx), after which we hang up


@lru_cache(maxsize=256)  # most headers of a server's answers are the same
def _field(sent: tuple[bytes, ...]) -> tuple[tuple[bytes, ...], bytes, bytes] | None:
    """A (folded) header: its lines for the parser (none if too long for it), its name and value."""
    lines = [line.removesuffix(b"\n").removesuffix(b"\r") for line in sent]
    if (found := field_of(b"".join(lines))) is None:
        logger.debug("Skipping the bad header line %r", b"".join(lines)[:200])
        return None
    name, value = found
    if max(map(len, lines)) > LINE:
        return (), name, value
    if name.lower() == b"transfer-encoding" and (codings := b", ".join(transfer_codings(value))) != value:
        return ((name + b": " + codings + b"\r\n",), name, codings) if codings else None
    lines[0] = name + b":" + lines[0].partition(b":")[2]
    return tuple(line + b"\r\n" for line in lines), name, value


class Framing:
    r"""The framing of the answer to one request.

    >>> framing = Framing(b"GET")
    >>> framing.feed(b"HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 2\r\n\r\nhi!")
    (b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi', b'!')
    """

    def __init__(self, method: bytes) -> None:
        self.ended = False  #: the answer is complete
        self.in_head = True
        self.interim = 0  #: number of interim answers so far
        self.long: list[tuple[bytes, bytes]] = []  #: headers that are too long for the parser
        self._method = method
        self._blanks = BLANKS
        self._part = self._status
        self._held = bytearray()  # start of an incomplete line
        self._lines: list[bytes] = []  # lines of the head
        self.code = 0  #: its status
        self.persistent = True  #: the connection may be reused
        self.wrong: Exception | None = None  #: why the answer is invalid or incomplete
        self.body = 0  #: bytes of the body so far, without chunk framing
        self.length: int | None = None  #: announced length of the body
        self._left = 0  # bytes of the body still to come
        self._chunks: Chunks | None = None  # if the body is chunked

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """What the parser gets of these bytes, and what came after the answer's end."""
        clean: list[bytes] = []
        at = 0
        while at < len(data) and not self.ended:
            at = self._part(data, at, clean)
        return b"".join(clean), data[at:] if self.ended else b""

    def blank(self, data: bytes) -> int:
        r"""How many of these bytes are blank lines before the answer, which do not belong to it.

        >>> Framing(b"GET").blank(b"\r\nHTTP/1.1 200 OK\r\n")
        2
        """
        found = len(data[: self._blanks]) - len(data[: self._blanks].lstrip(b"\r\n"))
        self._blanks = self._blanks - found if found == len(data) else 0
        return found

    @property
    def endless(self) -> bool:
        """Whether only the end of the connection ends the body."""
        return self._part == self._until_close

    def cut(self) -> bytes:
        """A partial status line at the end of the connection, for the parser to complain about."""
        return bytes(self._held) if self._part == self._status else b""

    # -- the head ----------------------------------------------------------------------------------------------------

    def _status(self, data: bytes, at: int, clean: list[bytes]) -> int:
        """Pass the status line on at once: a server that does not speak HTTP may send nothing more."""
        line, at = line_of(self._held, data, at)
        if line:
            known, parts = STATUS_LINE.match(line), line.split(b" ", 2)
            self.code = int(known[1]) if known else 0
            self._part = self._headers
            if not known and (len(parts) < 2 or _INTEGER.match(parts[1])):  # archive readers would not accept it
                self.wrong = ValueError("wrong number of parts", line)
                line = line.replace(b" ", b"")
            elif not known:
                self.wrong = ValueError("non-integer status code", line)
            line = b"HTTP/1.1 204 \r\n" if self.code == SWITCHED else line
            clean.append(line if len(line) <= LINE else line[:LINE] + b"\r\n")
        return at

    def _headers(self, data: bytes, at: int, clean: list[bytes]) -> int:
        if at and not self._lines and (blank := BLANK_LINE.search(data, at - 1)):  # usually all lines have arrived
            self._lines, at = data[at - 1 : blank.start()].split(b"\n")[1:], blank.end()
        else:
            line, at = line_of(self._held, data, at)
            if line not in _BLANK:
                self._lines += [line] if line else []
                return at
        fields = self._fields()
        clean += [line for lines, *_ in fields for line in lines]
        clean.append(b"\r\n")
        if 100 <= self.code < 200 and self.code != SWITCHED:  # interim: another head follows
            self._part = self._status
            self.interim += 1
            return at
        self.in_head = False
        self._begin_body({name: [value for _, other, value in fields if other == name] for name in _FRAMING})
        return at

    def _fields(self) -> list[tuple[tuple[bytes, ...], bytes, bytes]]:
        """The headers that the parser can read: lines, lower-case name, value."""
        folded: list[tuple[bytes, ...]] = []
        for line in self._lines:
            if line[:1] not in (b" ", b"\t"):
                folded.append((line,))
            elif folded:
                folded[-1] += (line,)
        self._lines = []
        fields = [found for lines in folded if (found := _field(lines))]
        self.long += [(name, value) for lines, name, value in fields if not lines]
        return [(lines, name.lower(), value) for lines, name, value in fields if lines]

    # -- the body ----------------------------------------------------------------------------------------------------

    def _begin_body(self, given: dict[bytes, list[bytes]]) -> None:
        codings, lengths = given[b"transfer-encoding"], {*b",".join(given[b"content-length"]).split(b",")} - {b""}
        wishes = {wish.strip() for wish in b",".join(given[b"connection"]).lower().split(b",")}
        self.persistent = b"close" not in wishes and self.code != SWITCHED
        self._part = self._until_close
        if self._method == b"HEAD" or self.code in _NO_BODY:
            self.ended = True
        elif codings:
            if codings[0].lower() == b"chunked":
                from sharc_crawler.live.wire.chunks import Chunks  # only without Content-Length

                self._chunks, self._part = Chunks(), self._in_chunks
            else:
                self.wrong = self.wrong or KeyError(codings[0].lower())
        elif lengths and all(length.strip().isdigit() and len(length) <= LENGTH for length in lengths):
            said = b",".join(given[b"content-length"])
            if len({int(length) for length in lengths}) > 1 or b"" in said.split(b","):
                self.wrong = self.wrong or ValueError(f"conflicting Content-Length headers: {said!r}")
            self._left = self.length = int(lengths.pop())
            self._part, self.ended = self._length, not self._left
        elif given[b"content-length"]:
            said = min(lengths, default=b"")
            self.wrong = self.wrong or ValueError(f"Value contains non-decimal digits: {said!r}")

    def _until_close(self, data: bytes, at: int, clean: list[bytes]) -> int:
        clean.append(data[at:])
        self.body += len(data) - at
        return len(data)

    def _length(self, data: bytes, at: int, clean: list[bytes]) -> int:
        clean.append(piece := data[at : at + self._left])
        self._left -= len(piece)
        self.body += len(piece)
        self.ended = not self._left
        return at + len(piece)

    def _in_chunks(self, data: bytes, at: int, clean: list[bytes]) -> int:
        chunks = self._chunks
        assert chunks is not None, "the head said so"
        at = chunks.take(data, at, clean)
        self.body, self.ended, self.wrong = chunks.body, chunks.ended, self.wrong or chunks.wrong
        return at
