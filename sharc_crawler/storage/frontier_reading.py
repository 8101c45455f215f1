"""Records of the store's port from rows of the frontier's tables: all of a state, or URL by URL."""

from __future__ import annotations

import json
import math
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.frontier.store import (
    Batch,
    JudgementRow,
    LastmodRow,
    NoveltyRow,
    PageRow,
    SubsiteRow,
    UrlRow,
    VisitRow,
)
from sharc_crawler.model import (
    NO_VALIDATORS,
    CaptureRef,
    Document,
    Hints,
    Kind,
    Outcome,
    Plan,
    Result,
    Slot,
    Validators,
    Verdict,
)
from sharc_crawler.subsites.branch import Branch

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from sharc_crawler.storage.sqlite import SqliteStore

_RESULTS, _SLOTS = {one.value: one for one in Result}, {one.value: one for one in Slot}
_PLANS, _KINDS = {one.value: one for one in Plan}, {one.value: one for one in Kind}
_URLS = """
SELECT page.*, judgement.verdict, judgement.evidence, judgement.reason, member.subsite FROM page
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


def loaded(store: SqliteStore, db: sqlite3.Connection) -> Batch:
    """All that a store holds."""
    return Batch(
        pages=[page_row(values) for values in db.execute("SELECT * FROM page ORDER BY page")],
        visits=[visit_row(values) for values in db.execute("SELECT * FROM visit ORDER BY visit")],
        judgements=[
            JudgementRow(page, Verdict(verdict), Evidence(evidence), reason)
            for page, verdict, evidence, reason in db.execute("SELECT * FROM judgement ORDER BY page")
        ],
        lastmods=[LastmodRow(*values) for values in db.execute("SELECT * FROM lastmod ORDER BY rowid")],
        outside=list(store.outside()),
        embeds=list(db.execute("SELECT page, resource FROM embed ORDER BY page, resource")),
        captures=store.captures(),
        hosts=store.hosts(),
        subsites=store.subsites(),
        members=list(db.execute("SELECT page, subsite FROM member ORDER BY page")),
        kept=dict(db.execute("SELECT name, text FROM kept ORDER BY rowid")),
        novelties={values[0]: NoveltyRow(*values) for values in db.execute("SELECT * FROM novelty ORDER BY page")},
    )


def urls(db: sqlite3.Connection, capture: int) -> Iterator[UrlRow]:
    """The URLs of a capture in the order of discovery: tables read side by side."""
    own, *others = (db.execute(query, (capture,)) for query in (_URLS, _VISITS, _EMBEDS, _LASTMODS))
    visits, embeds, lastmods = map(_Following, others, (1, 0, 0))
    for values in own:
        page = page_row(values[:16])
        verdict, evidence, reason, part = values[16:]
        yield UrlRow(
            page,
            tuple(visit_row(row) for row in visits(page.page)),
            verdict and JudgementRow(page.page, Verdict(verdict), Evidence(evidence), reason),
            tuple(key for _, key in embeds(page.page)),
            tuple(map(LastmodRow._make, lastmods(page.page))),
            part,
        )


class _Following:
    """Rows in the order of their pages, handed out page by page."""

    def __init__(self, rows: Iterator[tuple[Any, ...]], column: int) -> None:
        self._groups = groupby(rows, itemgetter(column))
        self._next = next(self._groups, None)

    def __call__(self, page: int) -> list[tuple[Any, ...]]:
        """Those of a page; pages are asked for in order."""
        if self._next is None or self._next[0] != page:
            return []
        found = list(self._next[1])
        self._next = next(self._groups, None)
        return found


def page_row(values: tuple[Any, ...]) -> PageRow:
    """The page of a row of its table."""
    *row, shape, weight, hints, reason = values
    row[4] = _KINDS[row[4]]
    read = Hints(*json.loads(hints)) if hints else None
    return PageRow._make((*row, math.inf if shape is None else shape, weight, read, reason))


def visit_row(values: tuple[Any, ...]) -> VisitRow:
    """The visit of a row of its table."""
    _, page, slot, plan, attempt, finished, lease, decided = values[:8]
    started, ended, result, status, digest, decoded, fingerprint, etag, last_modified, location = values[8:18]
    length, media_type, images, tables, outlinks, by_script, words, date, warc, offset, size = values[18:29]
    error, retry_after, age, charset, part = values[29:]
    # In the order of the fields, and by dicts: a crawl that goes on reads hundreds of thousands.
    outcome = Outcome(
        _RESULTS[result],
        started,
        ended,
        status,
        digest,
        fingerprint,
        Validators(etag, last_modified) if etag or last_modified else NO_VALIDATORS,
        decoded,
        location,
        length,
        media_type,
        charset,
        None if outlinks is None else Document(images, tables, outlinks, bool(by_script), words),
        date,
        age,
        bool(part),
        CaptureRef(warc, offset, size) if warc else None,
        error,
        retry_after,
    )
    return VisitRow(page, _SLOTS[slot], _PLANS[plan], attempt, bool(finished), lease, decided, outcome)


def subsite_row(values: tuple[Any, ...]) -> SubsiteRow:
    """The part of a row of its table."""
    branches = tuple(
        Branch(tuple(root), frozenset(without), span and (span[0], span[1]))
        for root, without, span in json.loads(values[7])
    )
    return SubsiteRow._make((*values[:7], branches))
