"""The log of a capture: every decision and its result, in the order in which exchanges ended.

It is written from the store, which has every visit before it counts. So it can be completed after a crash.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sharc_crawler.instants import iso
from sharc_crawler.model import Result
from sharc_crawler.state.rows import ExchangeRow

#: results of successful visits
BROUGHT = frozenset({Result.OK, Result.NOT_MODIFIED, Result.REDIRECTED})


def entry(row: ExchangeRow) -> dict[str, Any]:
    """The log's entry of an exchange, or of a URL refused without one; ``docs/report.md`` lists the fields."""
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
    from sharc_crawler.report.heritrix import line  # few crawls write any

    return line(row)


#: formats by name: the function that writes a line, and the file's name
FORMATS: dict[str, tuple[Callable[[ExchangeRow], str], str]] = {
    "json": (json_line, "crawl.jsonl"),
    "heritrix": (heritrix_line, "crawl.log"),
}
