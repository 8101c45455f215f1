"""Write lines of a ``crawl.log`` in Heritrix's format."""

from __future__ import annotations

from datetime import UTC, datetime

from sharc_crawler.instants import iso
from sharc_crawler.model import EMBEDDED, Instant, Kind, Result
from sharc_crawler.report.words import printable
from sharc_crawler.state.rows import ExchangeRow

#: Heritrix's fetch status codes (its glossary) for exchanges without HTTP status: result, beginning of the reason, code
CODES = (
    (Result.REFUSED, "budget: max_time", -5004),  # blocked due to exceeding an established runtime
    (Result.REFUSED, "budget: ", -5003),  # an established quota
    (Result.REFUSED, "robots.txt could not be read", -61),  # prerequisite robots.txt fetch failed
    (Result.REFUSED, "robots.txt ", -9998),  # robots.txt rules precluded fetch
    (Result.REFUSED, "", -5001),  # blocked from fetch by user setting
    (Result.FAILED, "no such host", -1),  # DNS lookup failed
    (Result.FAILED, "cut short", -3),  # HTTP connect broken
    (Result.FAILED, "connection closed", -3),
    (Result.FAILED, "connection broken off", -3),
    (Result.FAILED, "no answer in time", -4),  # HTTP timeout
)
UNCONNECTED = -2  #: HTTP connect failed


def line(row: ExchangeRow) -> str:
    """The line of an exchange, or of a URL refused without one."""
    fields = (
        f"{iso(row.ended)[:23]}Z",
        f"{_code(row):>5}",
        f"{row.length or '-':>10}",
        row.url,
        _hops(row) or "-",
        row.referrer or "-",
        row.media_type or "no-type",
        "#001",
        f"{_stamp(row.started)}+{round(1000 * (row.ended - row.started))}",
        row.digest or "-",
        row.seed,
        f"{row.slot},{row.attempt}t,number:{row.number}",
    )
    return printable(" ".join(fields))


def _code(row: ExchangeRow) -> int:
    if row.status is not None:
        return row.status
    found = (code for result, start, code in CODES if row.result == result and (row.error or "").startswith(start))
    return next(found, UNCONNECTED)


def _hops(row: ExchangeRow) -> str:
    """How it was found: P prerequisite, E embedded, M sitemap, L link."""
    if row.kind == Kind.ROBOTS:
        return "P"
    if row.kind == Kind.SITEMAP:
        return "M"
    return "L" * max(row.depth - 1, 0) + "E" if row.kind in EMBEDDED else "L" * row.depth


def _stamp(instant: Instant) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime("%Y%m%d%H%M%S%f")[:17]
