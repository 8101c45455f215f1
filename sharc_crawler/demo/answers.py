"""| Responses of the demo site, and when it may honestly answer 304."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from email.utils import formatdate, mktime_tz, parsedate_tz
from hashlib import blake2b
from pathlib import PurePosixPath

from sharc_crawler.model import Instant, Seconds

HTML = "text/html; charset=utf-8"
#: by the path's suffix; otherwise HTML
MEDIA_TYPES = {
    ".png": "image/png",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".xml": "application/xml",
    ".gz": "application/gzip",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class Response:
    """A response."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""  #: empty to HEAD
    delay: Seconds = 0.0  #: time the server takes; the content is that of the instant of the request

    def header(self, name: str) -> str | None:
        """The value of a header, or ``None``.

        >>> Response(200, (("ETag", '"1"'),)).header("etag")
        '"1"'
        """
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True)
class StatedState:
    """What the server says of a page's state, honestly or not: its name, and since when it holds."""

    name: str
    since: Instant

    @property
    def etag(self) -> str:
        """A strong validator, one for each state."""
        return f'"{blake2b(f"{self.name} {self.since!r}".encode(), digest_size=8).hexdigest()}"'

    def headers(self, now: Instant) -> list[tuple[str, str]]:
        """The validators of the state.

        Last-Modified is rounded *up* to whole seconds, and omitted until that second. Rounded down, a second change
        within the second would keep it, and a changed page would be answered 304.
        """
        modified = math.ceil(self.since)
        dated = [("Last-Modified", http_date(modified))] if modified <= now else []
        return [("ETag", self.etag), *dated]

    def unchanged(self, headers: Mapping[str, str], now: Instant) -> bool:
        """May a conditional request be answered 304? (RFC 9110, 13.1.2 and 13.1.3)

        A client that asks "modified since s?" received its state at s or later; it is current if it began by then.
        ``headers`` by lower-case names.
        """
        if "if-none-match" in headers:
            given = headers["if-none-match"]
            return given.strip() == "*" or self.etag in [tag.strip().removeprefix("W/") for tag in given.split(",")]
        since = parse_http_date(headers.get("if-modified-since", ""))
        return since is not None and self.since <= since <= now


def conditional(
    claim: StatedState | None, headers: Mapping[str, str], now: Instant, path: str, body: Callable[[], bytes]
) -> Response:
    """304 where the claim allows it, else the body; without a claim, conditions are ignored."""
    if claim is None:
        return ok(path, body())
    if claim.unchanged(headers, now):
        return Response(304, tuple(claim.headers(now)))
    return ok(path, body(), claim.headers(now))


def ok(path: str, body: bytes, headers: Iterable[tuple[str, str]] = ()) -> Response:
    """200, with the type that the path's ending stands for."""
    ending = PurePosixPath(path.partition("?")[0]).suffix
    return Response(200, (("Content-Type", MEDIA_TYPES.get(ending, HTML)), *headers), body)


def complete(answer: Response, method: str, now: Instant) -> Response:
    """The response with the usual headers, and without a body where the method has none."""
    length = [] if answer.status == 304 else [("Content-Length", str(len(answer.body)))]
    headers = (("Date", http_date(now)), ("Server", "living-site"), *answer.headers, *length)
    return replace(answer, headers=headers, body=b"" if method == "HEAD" else answer.body)


def http_date(instant: Instant) -> str:
    """An instant in HTTP's format, cut to whole seconds.

    >>> http_date(0.9)
    'Thu, 01 Jan 1970 00:00:00 GMT'
    """
    return formatdate(instant // 1, usegmt=True)


def parse_http_date(text: str) -> Instant | None:
    """The instant that an HTTP date denotes; ``None`` for anything else.

    >>> parse_http_date("Thu, 01 Jan 1970 00:01:00 GMT"), parse_http_date("yesterday")
    (60, None)
    """
    parts = parsedate_tz(text)
    try:
        return None if parts is None else mktime_tz(parts)
    except (ValueError, OverflowError):
        return None


MISSING = Response(404, (("Content-Type", HTML),), b"<p>Nothing is here.</p>\n")
FAILURE = Response(500, (("Content-Type", HTML),), b"<p>Out of order for a moment.</p>\n")
REFUSAL = Response(405, (("Allow", "GET, HEAD"),))
