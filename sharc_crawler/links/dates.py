"""Parse the dates of sitemaps and feeds as intervals.

A text without a zone is read as UTC: a bare date is that day in UTC. A time of day without a zone may be up to twelve
hours later, as in the westernmost zone.
"""

from __future__ import annotations

import re
from calendar import isleap, monthrange
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from re import Match
from typing import NamedTuple

from sharc_crawler.model import Instant, Seconds

_DAY = 86_400.0
_MINUTE = 60.0
_WEST = 12 * 3600.0  #: most seconds that a zone is behind UTC
_W3C = re.compile(
    r"\d{4}(?:(-\d\d)(?:(-\d\d)(?:([T ]\d\d:\d\d)(?:(:\d\d)([.,]\d{1,9})?)?[ ]?(?:Z|[+-]\d\d(?::?\d\d)?)?)?)?)?",
    re.ASCII,
)


class Interval(NamedTuple):
    """All instants that the text may mean: ``[start, start + length)``."""

    start: Instant
    length: Seconds


def w3c_date(text: str) -> Interval | None:
    """The interval of a W3C date-time (year, month, day, minute, second or fraction); ``None`` for anything else.

    Source: W3C NOTE-datetime, as the sitemap protocol requires; a missing zone and a space for ``T`` are accepted.

    >>> w3c_date("1970-01-02")
    Interval(start=86400.0, length=86400.0)
    >>> w3c_date("1970-01-01T01:00+01:00")
    Interval(start=0.0, length=60.0)
    """
    match = _W3C.fullmatch(text.strip().upper())
    if match is None:
        return None
    month, day, time, _, _ = match.groups()
    iso = match[0] + ("" if day else "-01") + ("" if month else "-01")
    try:
        start = datetime.fromisoformat(iso.replace(" ", "T", 1).replace(" ", "") if time else iso)
    except ValueError:
        return None
    late = _WEST if time and start.tzinfo is None else 0.0
    if start.tzinfo is None:
        start = start.replace(tzinfo=UTC)
    return Interval(start.timestamp(), _length(match, start) + late)


def mail_date(text: str) -> Interval | None:
    """The interval of an RFC 822 date, as in RSS; ``None`` for anything else.

    >>> mail_date("Thu, 01 Jan 1970 00:01:01 GMT"), mail_date("Thu, 01 Jan 1970 00:01:01")
    (Interval(start=61.0, length=1.0), Interval(start=61.0, length=43201.0))
    """
    text = text.strip()
    try:
        instant = parsedate_to_datetime(text)
        late = 0.0 if instant.tzinfo or text.endswith("-0000") else _WEST  # without a known zone
        start = instant.replace(tzinfo=instant.tzinfo or UTC)
        return Interval(start.timestamp(), (1.0 if text.count(":") > 1 else _MINUTE) + late)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _length(match: Match[str], start: datetime) -> Seconds:
    """The length of the smallest unit that is given."""
    month, day, time, second, fraction = match.groups()
    if fraction and start.microsecond:
        return 10.0 ** (1 - len(fraction))
    if second:
        return 1.0
    if time:
        return _MINUTE
    if day:
        return _DAY
    return (monthrange(start.year, start.month)[1] if month else 365 + isleap(start.year)) * _DAY
