"""Convert instants to text and back: RFC 3339, UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from sharc_crawler.model import Instant


def iso(instant: Instant) -> str:
    """Format an instant as RFC 3339 text in UTC, to the microsecond, like a WARC-Date.

    >>> iso(1795170667.25)
    '2026-11-20T10:31:07.250000Z'
    """
    return f"{datetime.fromtimestamp(instant, UTC).isoformat(timespec='microseconds')[:26]}Z"


def maybe_iso(instant: Instant | None) -> str | None:
    """Format an instant, or return ``None`` if there is none."""
    return None if instant is None else iso(instant)


def second(instant: Instant) -> str:
    """Format an instant as RFC 3339 text, cut to the second.

    >>> second(1795170667.25)
    '2026-11-20T10:31:07Z'
    """
    return f"{iso(instant)[:19]}Z"


def unix(text: str) -> Instant:
    """Parse an instant that :func:`iso` wrote.

    >>> unix("2026-11-20T10:31:07.250000Z")
    1795170667.25
    """
    return datetime.fromisoformat(text).timestamp()
