"""| Retry-After: when a server that failed wants to be asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence.headers import header_text

if TYPE_CHECKING:
    from scrapy.http import Response

    from sharc_crawler.model import Instant, Seconds

_LONGEST = 1e9  #: seconds; more digits than a float has room for are asked for, too


def retry_after(value: str | None, now: Instant) -> Seconds | None:
    """The seconds to wait, from seconds or an HTTP date (RFC 9110, 10.2.3); ``None``: neither.

    >>> retry_after("120", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 50.0), retry_after("soon", 0.0)
    (120.0, 10.0, None)
    """
    if not value:
        return None
    if value.isascii() and value.isdigit():
        return min(float(value), _LONGEST)
    when = http_date(value)
    return None if when is None else max(0.0, when - now)


def header(response: Response, name: str) -> str | None:
    """The first value of a header, as text."""
    values = response.headers.getlist(name)
    return header_text(values[0]) if values else None
