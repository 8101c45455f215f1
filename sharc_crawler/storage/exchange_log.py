"""The exchanges of a capture, row by row, in the order they ended, from its stored state: what logs are made of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from sharc_crawler.model import Instant, Rate

_QUERY = """
SELECT visit.visit, page.capture, visit.ended, page.url, page.kind, page.via, parent.url, page.depth, visit.lease,
       visit.decided, visit.slot, visit.plan, visit.attempt, page.rate, page.source, visit.started, visit.result,
       visit.status, visit.error, visit.settled, visit.length, visit.media_type, visit.digest, visit.location,
       visit.warc, visit.warc_offset, judgement.verdict
FROM visit JOIN page USING (page)
LEFT JOIN page AS parent ON parent.page = page.parent
LEFT JOIN judgement ON judgement.page = visit.page
WHERE visit.visit > ? ORDER BY visit.visit
"""


class ExchangeRow(NamedTuple):
    """One exchange, or one URL that was refused without any (``attempt`` 0); numbered from 1 without gaps."""

    number: int
    site: str
    seed: str  #: the first of the capture
    ended: Instant
    url: str
    kind: str
    via: str
    referrer: str | None
    depth: int
    lease: int
    decided: Instant
    slot: str
    plan: str
    attempt: int
    rate: Rate
    source: str
    started: Instant
    result: str
    status: int | None
    error: str | None
    settled: int
    length: int
    media_type: str | None
    digest: str | None
    location: str | None
    warc: str | None
    offset: int | None
    verdict: str | None  #: as known by now


def exchanges(db: sqlite3.Connection, after: int = 0) -> Iterator[ExchangeRow]:
    """Those that are numbered above ``after``."""
    specs = {capture: json.loads(spec) for capture, spec in db.execute("SELECT capture, spec FROM capture")}
    for number, capture, *rest in db.execute(_QUERY, (after,)):
        spec = specs[capture]
        yield ExchangeRow(number, spec["site"], spec["seeds"][0], *rest)
