"""Dates as HTTP writes them (RFC 9110, 5.6.7)."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharc_crawler.model import Instant


def http_date(text: str | None) -> Instant | None:
    """The instant that an HTTP date denotes; None for anything else. A missing zone is UTC.

    >>> http_date("Thu, 01 Jan 1970 00:01:00 GMT"), http_date("yesterday"), http_date(None)
    (60.0, None, None)
    """
    if not text:
        return None
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return when.replace(tzinfo=when.tzinfo or UTC).timestamp()
