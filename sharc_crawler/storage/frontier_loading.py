"""Load all of a frontier's state from its tables, to resume a crawl."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Verdict
from sharc_crawler.state.rows import Batch, JudgementRow, LastmodRow, NoveltyRow, SubsiteRow
from sharc_crawler.storage.frontier_reading import page_rows, visit_rows
from sharc_crawler.subsites.base import Branch

if TYPE_CHECKING:
    import sqlite3

    from sharc_crawler.storage.sqlite import SqliteStore


def loaded(store: SqliteStore, db: sqlite3.Connection) -> Batch:
    """All state in a store."""
    return Batch(
        pages=list(page_rows(db.execute("SELECT * FROM page ORDER BY page"))),
        visits=list(visit_rows(db.execute("SELECT * FROM visit ORDER BY visit"))),
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


def subsite_row(values: tuple[Any, ...]) -> SubsiteRow:
    """A part of a site, from a row of its table."""
    branches = tuple(
        Branch(tuple(root), frozenset(without), span and (span[0], span[1]))
        for root, without, span in json.loads(values[7])
    )
    return SubsiteRow._make((*values[:7], branches))
