"""Raw HTTP/1.x responses: where the head ends, what it says, which bytes are the payload; what status and dates mean.

Lenient as browsers are: bare line feeds, folded and repeated headers, header lines without a colon, a missing reason
phrase. Nothing is decoded to text, so nothing is lost (RFC 9112).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cached_property, lru_cache
from urllib.parse import urljoin

from sharc_crawler.addresses.urls import without_credentials
from sharc_crawler.bodies.spool import Octets, pieces
from sharc_crawler.changes.digest import digest_of
from sharc_crawler.model import Instant, Result

CUT, BROKEN = "cut:", "broken:"  #: before the digest of what was packed, and not unpacked to its end
REDIRECTS = {301, 302, 303, 307, 308}
#: answers that are worth another try (429 and 503 with the server's own Retry-After), or a proxy's own (407)
TRANSIENT = {407, 408, 425, 429}


def classify(status: int, location: str | None) -> Result:
    """What a status means for a page.

    >>> [classify(s, None).value for s in (200, 304, 404, 403, 407, 429, 503)]
    ['ok', 'not-modified', 'gone', 'refused', 'failed', 'failed', 'failed']
    >>> classify(301, "/there").value, classify(301, None).value
    ('redirected', 'refused')
    """
    if 200 <= status < 300:
        return Result.OK
    if status == 304:
        return Result.NOT_MODIFIED
    if status in REDIRECTS and location:
        return Result.REDIRECTED
    if status in (404, 410):
        return Result.GONE
    return Result.FAILED if status >= 500 or status in TRANSIENT else Result.REFUSED


@lru_cache(maxsize=64)  # answers of one second have one Date, and each is read several times
def http_date(text: str | None) -> Instant | None:
    """The instant that an HTTP date denotes; None for anything else. A missing zone is UTC, one by an odd name unknown.

    >>> http_date("Thu, 01 Jan 1970 00:01:00 GMT"), http_date("Thu, 01 Jan 1970 00:01:00 PET"), http_date(None)
    (60.0, None, None)
    """
    if not text:
        return None
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    told = when.tzinfo or text.rstrip()[-1].isdigit()
    return when.replace(tzinfo=when.tzinfo or UTC).timestamp() if told else None


BLANK_LINE = re.compile(rb"\n\r?\n")  #: with the end of the line before
STATUS_LINE = re.compile(rb"HTTP/\d+\.\d+ +(\d{3})(?:[ \t]|\r?\n|$)", re.IGNORECASE)
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")  #: a header's name; the wire reads no other line either
_FOLD = re.compile(rb"\r?\n[ \t]+")
_INTERIM = {*range(100, 200)} - {101}  #: after that one the connection speaks another protocol
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


def line_of(held: bytearray, data: bytes, at: int) -> tuple[bytes, int]:
    """The next line, with its end, and where the one after it begins; empty: it is not whole yet, and is ``held``."""
    found = data.find(b"\n", at)
    if found < 0:
        held += data[at:]
        return b"", len(data)
    line = data[at : found + 1]
    if held:
        line = bytes(held) + line
        held.clear()
    return line, found + 1


@lru_cache(maxsize=256)  # a server's answers have most of them in common
def field_of(line: bytes) -> tuple[bytes, bytes] | None:
    """Name and value in a header's line, unfolded; ``None``: it is none (RFC 9112, 5.1)."""
    name, colon, value = line.partition(b":")
    name = name.rstrip(b" \t")
    return (name, value.strip()) if colon and TOKEN.match(name) else None


@dataclass(frozen=True)  # no slots: payload and digest are worked out once, for whoever asks
class HttpResponse:
    """The final response among the bytes of one exchange."""

    raw: Octets  #: all that was received, interim (1xx) responses included
    start: int  #: where the final response starts
    body_start: int
    status: int

    @cached_property
    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """Names as sent; folded values joined by one space. What has no name is no header."""
        lines = _FOLD.sub(b" ", self.head).split(b"\n")[1:]
        return tuple(named for line in lines if (named := field_of(line)))

    @property
    def interim(self) -> bytes:
        """The interim responses that came before it."""
        return self.raw[: self.start]

    @property
    def head(self) -> bytes:
        """Status line, headers and the blank line."""
        return self.raw[self.start : self.body_start]

    @property
    def message(self) -> bytes:
        """Head and body as received, without interim responses; of a large one a copy."""
        return self.raw if isinstance(self.raw, bytes) and not self.start else self.raw[self.start :]

    @property
    def chunked(self) -> bool:
        """Whether the body is in chunks."""
        told = [codings for one in self.values(b"transfer-encoding") if (codings := transfer_codings(one.lower()))]
        return bool(told) and (told[0] == [b"chunked"] or told[-1][-1] == b"chunked")  # the wire goes by the first

    @cached_property
    def payload(self) -> bytes | memoryview:
        """The entity body: transfer-decoded, still content-encoded."""
        if not self.chunked:
            return memoryview(self.raw)[self.body_start :]
        from sharc_crawler.changes.chunks import dechunked  # servers that say a length need none

        return dechunked(self.raw, self.body_start)

    def pieces(self) -> Iterator[bytes | memoryview]:
        """The payload in pieces that fit into memory."""
        if not self.chunked:
            return pieces(self.raw, self.body_start)
        from sharc_crawler.changes.chunks import chunks  # the same

        return chunks(self.raw, self.body_start)

    @cached_property
    def digest(self) -> str:
        r"""The payload digest: what two captures of one page are compared by, and what a WARC record carries.

        Two transfers of one body that differ in their chunks have one digest (WARC/1.1, 5.9 and 6.3.2).

        >>> plain = parse_response(b"HTTP/1.1 200 OK\r\n\r\nhello")
        >>> head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        >>> parse_response(head + b"5\r\nhello\r\n0\r\n\r\n").digest == plain.digest
        True
        """
        return digest_of(self.pieces())

    def values(self, name: bytes) -> list[bytes]:
        """All values of a header; ``name`` in lower case."""
        return [value for key, value in self.headers if key.lower() == name]

    def header(self, name: bytes) -> bytes | None:
        """The first value of a header; ``name`` in lower case."""
        return next((value for key, value in self.headers if key.lower() == name), None)


def transfer_codings(value: bytes) -> list[bytes]:
    """Transfer codings; "identity" was none of them already in RFC 2616, and is sent still."""
    return [one for one in map(bytes.strip, value.split(b",")) if one.lower() not in {b"identity", b""}]


def parse_response(raw: Octets) -> HttpResponse | None:
    r"""The final response in what a server sent; ``None`` where no complete head of one is there.

    >>> response = parse_response(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200\r\nA: b\r\n\r\nhello")
    >>> response.status, response.header(b"a"), bytes(response.payload)
    (200, b'b', b'hello')
    """
    start = 0
    while (status := STATUS_LINE.match(raw, start)) and (blank := BLANK_LINE.search(raw, start)):
        if int(status[1]) not in _INTERIM:
            return HttpResponse(raw, start, blank.end(), int(status[1]))
        start = blank.end()
    return None


def target(base: str, value: bytes | None) -> str | None:
    r"""The absolute URL that a ``Location`` header means; ``None`` where there is none, or garbage.

    As browsers read it: bytes that are not ASCII are UTF-8, and those that are not even that stay the bytes they are.

    >>> target("http://h/a", "/m\u00fcll".encode()), target("http://h/a", b"m\xfcll")
    ('http://h/müll', 'http://h/m%FCll')
    """
    try:
        text = (value or b"").decode()
    except UnicodeDecodeError:
        text = _NOT_ASCII.sub(lambda byte: b"%%%02X" % byte[0][0], value or b"").decode()
    try:
        return without_credentials(urljoin(base, text.strip())) if text.strip() else None
    except ValueError:  # an address within brackets that is none
        return None
