"""Make records of the store's port from rows of the frontier's tables: captures, and the results of each URL."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import (
    NO_VALIDATORS,
    CaptureRef,
    Document,
    Hints,
    HowMade,
    Kind,
    Outcome,
    Phase,
    Plan,
    Result,
    Slot,
    Validators,
    Verdict,
)
from sharc_crawler.state.rows import CaptureRow, JudgementRow, LastmodRow, PageRow, UrlRow, VisitRow
from sharc_crawler.state.spec import CaptureSpec

if TYPE_CHECKING:
    import sqlite3

    from sharc_crawler.rates.swings import Swings

T = TypeVar("T", bound=tuple[Any, ...])

_RESULTS, _SLOTS = {one.value: one for one in Result}, {one.value: one for one in Slot}
_PLANS, _KINDS = {one.value: one for one in Plan}, {one.value: one for one in Kind}
_PAGES = "SELECT * FROM page WHERE capture = ? ORDER BY page"
_CAME = """
SELECT judgement.verdict, judgement.evidence, judgement.reason, member.subsite FROM page
LEFT JOIN judgement ON judgement.page = page.page LEFT JOIN member ON member.page = page.page
WHERE page.capture = ? ORDER BY page.page
"""
_VISITS = """
SELECT visit.* FROM page CROSS JOIN visit ON visit.page = page.page WHERE page.capture = ?
ORDER BY page.page, visit.visit
"""
_EMBEDS = """
SELECT embed.page, resource.key FROM page CROSS JOIN embed ON embed.page = page.page
CROSS JOIN page AS resource ON resource.page = embed.resource WHERE page.capture = ?
ORDER BY embed.page, embed.resource
"""
_LASTMODS = """
SELECT lastmod.* FROM lastmod JOIN page ON page.page = lastmod.page WHERE page.capture = ?
ORDER BY lastmod.page, lastmod.rowid
"""


def urls(db: sqlite3.Connection, capture: int) -> Iterator[UrlRow]:
    """The URLs of a capture in the order of discovery; reads all tables in parallel."""
    queries = _PAGES, _CAME, _VISITS, _EMBEDS, _LASTMODS
    pages, came, visits, embeds, lastmods = (db.execute(query, (capture,)) for query in queries)
    visits_of, embeds_of, lastmods_of = _Following(visit_rows(visits)), _Following(embeds), _Following(lastmods)
    for page, (verdict, evidence, reason, part) in zip(page_rows(pages), came, strict=True):
        yield UrlRow(
            page,
            tuple(visits_of(page.page)),
            verdict and JudgementRow(page.page, Verdict(verdict), Evidence(evidence), reason),
            tuple(key for _, key in embeds_of(page.page)),
            tuple(map(LastmodRow._make, lastmods_of(page.page))),
            part,
        )


class _Following(Generic[T]):
    """Rows sorted by page (their first column), returned page by page."""

    def __init__(self, rows: Iterator[T]) -> None:
        self._groups = groupby(rows, itemgetter(0))
        self._next = next(self._groups, None)

    def __call__(self, page: int) -> list[T]:
        """The rows of a page; pages must be requested in order."""
        if self._next is None or self._next[0] != page:
            return []
        found = list(self._next[1])
        self._next = next(self._groups, None)
        return found


# Rows are made by tuple.__new__: a NamedTuple's own constructor takes three times as long, and there may be a million.
def page_rows(rows: Iterable[Iterable[Any]]) -> Iterator[PageRow]:
    """Pages from rows of their table."""
    new, kinds, infinite = tuple.__new__, _KINDS, math.inf
    return (
        new(PageRow, (
            page, capture, key, url, kinds[kind], host, depth, parent, via, state, rate, source,
            infinite if shape is None else shape, weight, None if hints is None else Hints(*json.loads(hints)), reason,
        ))
        for (
            page, capture, key, url, kind, host, depth, parent, via, state, rate, source, shape, weight, hints, reason,
        ) in rows
    )  # fmt: skip


def visit_rows(rows: Iterable[Iterable[Any]]) -> Iterator[VisitRow]:
    """Visits from rows of their table; the first column, their number, is ignored."""
    new, slots, plans, results, untold = tuple.__new__, _SLOTS, _PLANS, _RESULTS, NO_VALIDATORS
    return (
        new(VisitRow, (
            page, slots[slot], plans[plan], attempt, finished == 1, lease, decided,
            new(Outcome, (
                results[result], started, ended, status, digest, fingerprint,
                new(Validators, (etag, modified)) if etag or modified else untold,
                decoded, location, length, media_type, charset,
                None if images is None else new(Document, (images, tables, outlinks, by_script == 1, words)),
                date, age, part == 1, new(CaptureRef, (file, offset, size)) if file else None,
                error, retry_after, None, 0.0,
            )),
        ))
        for (
            _, page, slot, plan, attempt, finished, lease, decided, started, ended, result, status, digest, decoded,
            fingerprint, etag, modified, location, length, media_type, images, tables, outlinks, by_script, words,
            date, file, offset, size, error, retry_after, age, charset, part,
        ) in rows
    )  # fmt: skip


def capture_row(values: tuple[Any, ...]) -> CaptureRow:
    """A site capture, from a row of its table."""
    number, spec, phase, started = values[:4]
    reference, ended = (None if value is None else float(value) for value in values[4:6])
    notes, interruptions, skipped = (json.loads(text) for text in values[6:9])
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(spec).items()
    }
    return CaptureRow(
        number, CaptureSpec(**known), Phase(phase), float(started), reference, ended,
        tuple(HowMade(note["how_made"]) if isinstance(note, dict) else note for note in notes),
        tuple((start, end) for start, end in interruptions), dict(skipped),
        values[9] and json.loads(values[9]), values[10] and _swings(*json.loads(values[10])),
    )  # fmt: skip


def _swings(deviations: list[float], *others: float) -> Swings:
    from sharc_crawler.rates.swings import Swings  # only where captures were compared

    return Swings(tuple(deviations), *others)
