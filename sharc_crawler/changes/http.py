"""Parse raw HTTP/1.x responses: head, payload, and the meaning of status codes and dates.

Parsing is as lenient as in browsers: bare line feeds, folded and repeated headers, header lines without a colon, and a
missing reason phrase are accepted. Nothing is decoded to text, so nothing is lost (RFC 9112).
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

CUT, BROKEN = "cut:", "broken:"  #: prefixes of digests of payloads that could not be unpacked to their end
REDIRECTS = {301, 302, 303, 307, 308}
#: status codes worth another try (429 and 503 after Retry-After), or a proxy's own (407)
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


@lru_cache(maxsize=64)  # answers within a second have the same Date, which is read several times
def http_date(text: str | None) -> Instant | None:
    """The instant of an HTTP date; None for anything else. Without a zone it is UTC; an unknown zone gives None.

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


BLANK_LINE = re.compile(rb"\n\r?\n")  #: together with the preceding line end
STATUS_LINE = re.compile(rb"HTTP/\d+\.\d+ +(\d{3})(?:[ \t]|\r?\n|$)", re.IGNORECASE)
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")  #: a header's name; the crawl ignores other lines, too
_FOLD = re.compile(rb"\r?\n[ \t]+")
_INTERIM = {*range(100, 200)} - {101}  #: 101 switches to another protocol
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


def line_of(held: bytearray, data: bytes, at: int) -> tuple[bytes, int]:
    """The next line with its end, and the start of the following one; empty: incomplete, so it is kept in ``held``."""
    found = data.find(b"\n", at)
    if found < 0:
        held += data[at:]
        return b"", len(data)
    line = data[at : found + 1]
    if held:
        line = bytes(held) + line
        held.clear()
    return line, found + 1


@lru_cache(maxsize=256)  # a server's answers share most header lines
def field_of(line: bytes) -> tuple[bytes, bytes] | None:
    """Name and value of an unfolded header line; ``None``: it is not valid (RFC 9112, 5.1)."""
    name, colon, value = line.partition(b":")
    name = name.rstrip(b" \t")
    return (name, value.strip()) if colon and TOKEN.match(name) else None


@dataclass(frozen=True)  # no slots, as payload and digest are cached
class HttpResponse:
    """The final response in the bytes of an exchange."""

    raw: Octets  #: everything received, with interim (1xx) responses
    start: int  #: start of the final response
    body_start: int
    status: int

    @cached_property
    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """All valid headers, with names as sent, and folded values joined by a space."""
        lines = _FOLD.sub(b" ", self.head).split(b"\n")[1:]
        return tuple(named for line in lines if (named := field_of(line)))

    @property
    def interim(self) -> bytes:
        """The preceding interim responses."""
        return self.raw[: self.start]

    @property
    def head(self) -> bytes:
        """Status line, headers and the blank line."""
        return self.raw[self.start : self.body_start]

    @property
    def message(self) -> bytes:
        """Head and body as received, without interim responses; a large one is copied."""
        return self.raw if isinstance(self.raw, bytes) and not self.start else self.raw[self.start :]

    @property
    def chunked(self) -> bool:
        """Is the body chunked?"""
        told = [codings for one in self.values(b"transfer-encoding") if (codings := transfer_codings(one.lower()))]
        return bool(told) and (told[0] == [b"chunked"] or told[-1][-1] == b"chunked")  # the crawl uses the first header

    @cached_property
    def payload(self) -> bytes | memoryview:
        """The body without transfer coding, but still with content coding."""
        if not self.chunked:
            return memoryview(self.raw)[self.body_start :]
        from sharc_crawler.changes.chunks import dechunked  # not needed with Content-Length

        return dechunked(self.raw, self.body_start)

    def pieces(self) -> Iterator[bytes | memoryview]:
        """The payload in pieces that fit into memory."""
        if not self.chunked:
            return pieces(self.raw, self.body_start)
        from sharc_crawler.changes.chunks import chunks  # as above

        return chunks(self.raw, self.body_start)

    @cached_property
    def digest(self) -> str:
        r"""The payload digest, by which captures are compared, and which WARC records have.

        It does not depend on how a body was chunked (WARC/1.1, 5.9 and 6.3.2).

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
    """The transfer codings in a header, without "identity", which some servers still send."""
    return [one for one in map(bytes.strip, value.split(b",")) if one.lower() not in {b"identity", b""}]


def parse_response(raw: Octets) -> HttpResponse | None:
    r"""The final response in what a server sent; ``None``: its head is not complete.

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
    r"""The absolute URL of a ``Location`` header; ``None`` if it is missing or garbage.

    As in browsers, non-ASCII bytes are UTF-8; if they are not valid UTF-8, they are percent-encoded.

    >>> target("http://h/a", "/m\u00fcll".encode()), target("http://h/a", b"m\xfcll")
    ('http://h/müll', 'http://h/m%FCll')
    """
    try:
        text = (value or b"").decode()
    except UnicodeDecodeError:
        text = _NOT_ASCII.sub(lambda byte: b"%%%02X" % byte[0][0], value or b"").decode()
    try:
        return without_credentials(urljoin(base, text.strip())) if text.strip() else None
    except ValueError:  # an invalid IP address in brackets
        return None
