"""The log of a capture: every decision and what came of it, in the order the exchanges ended.

The store has each visit before it counts, so a log can be written from it at any time: it is complete after a crash.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sharc_crawler.instants import iso
from sharc_crawler.model import EMBEDDED, Kind, Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from sharc_crawler.frontier.store import ExchangeRow
    from sharc_crawler.model import Instant

#: Heritrix's fetch status codes (its glossary) where there is no HTTP status: result, how the reason begins → code
HERITRIX = (
    (Result.REFUSED, "budget: max_time", -5004),  # blocked due to exceeding an established runtime
    (Result.REFUSED, "budget: ", -5003),  # an established quota
    (Result.REFUSED, "robots.txt could not be had", -61),  # prerequisite robots.txt fetch failed
    (Result.REFUSED, "robots.txt ", -9998),  # robots.txt rules precluded fetch
    (Result.REFUSED, "", -5001),  # blocked from fetch by user setting
    (Result.FAILED, "no such host", -1),  # DNS lookup failed
    (Result.FAILED, "cut short", -3),  # HTTP connect broken
    (Result.FAILED, "connection closed", -3),
    (Result.FAILED, "connection broken off", -3),
    (Result.FAILED, "no answer in time", -4),  # HTTP timeout
)
HERITRIX_UNCONNECTED = -2  #: HTTP connect failed
#: results that brought something
BROUGHT = frozenset({Result.OK, Result.NOT_MODIFIED, Result.REDIRECTED})


def entry(row: ExchangeRow) -> dict[str, Any]:
    """An exchange, or a URL refused without one; fields as in ``docs/report.md``."""
    return {
        "number": row.number,
        "time": iso(row.ended),
        "site": row.site,
        "url": row.url,
        "kind": row.kind,
        "via": row.via,
        "referrer": row.referrer,
        "depth": row.depth,
        "decision": row.lease,
        "decided": iso(row.decided),
        "slot": row.slot,
        "plan": row.plan,
        "attempt": row.attempt,
        "rate": row.rate,
        "rate_source": row.source,
        "started": iso(row.started),
        "result": row.result,
        "status": row.status,
        "error": row.error,
        "finished": row.finished,
        "bytes": row.length,
        "media_type": row.media_type,
        "digest": row.digest,
        "location": row.location,
        "warc": row.warc,
        "offset": row.offset,
        "verdict": row.verdict,
    }


def json_line(row: ExchangeRow) -> str:
    """An entry on one line."""
    return json.dumps(entry(row))


def heritrix_line(row: ExchangeRow) -> str:
    """A line of a ``crawl.log`` as Heritrix writes it, for tools that read those."""
    from sharc_crawler.report.words import printable  # few crawls write any

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


#: by name of the format: how a line is written, and the file that a crawl writes it to
FORMATS: dict[str, tuple[Callable[[ExchangeRow], str], str]] = {
    "json": (json_line, "crawl.jsonl"),
    "heritrix": (heritrix_line, "crawl.log"),
}


def _code(row: ExchangeRow) -> int:
    if row.status is not None:
        return row.status
    found = (code for result, start, code in HERITRIX if row.result == result and (row.error or "").startswith(start))
    return next(found, HERITRIX_UNCONNECTED)


def _hops(row: ExchangeRow) -> str:
    """How it was found: P prerequisite, E embedded, M sitemap, L link."""
    if row.kind == Kind.ROBOTS:
        return "P"
    if row.kind == Kind.SITEMAP:
        return "M"
    return "L" * max(row.depth - 1, 0) + "E" if row.kind in EMBEDDED else "L" * row.depth


def _stamp(instant: Instant) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime("%Y%m%d%H%M%S%f")[:17]
