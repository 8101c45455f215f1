"""Make the frontier's tables (``frontier_schema.sql``), and their rows from records of the store's port."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import fields
from importlib.resources import files
from typing import Any

from sharc_crawler.model import Document, Hints, HowMade, Kind, Plan, Result, Slot
from sharc_crawler.state.rows import CaptureRow, PageRow, SubsiteRow, VisitRow
from sharc_crawler.state.spec import CaptureSpec

VERSION = 11
#: all tables except that of links
TABLES = (
    "capture", "host", "page", "visit", "lastmod", "outside", "judgement", "embed", "novelty", "subsite", "member",
    "kept",
)  # fmt: skip


def make(db: sqlite3.Connection) -> None:
    """Make the tables in an empty file."""
    db.execute("BEGIN")
    for statement in statements(files("sharc_crawler.storage").joinpath("frontier_schema.sql").read_text()):
        db.execute(statement)
    db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")


def version(db: sqlite3.Connection) -> int:
    """The version of a file's schema; 0: it has none of ours."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def statements(script: str) -> Iterator[str]:
    """Split a script into statements, so that they can run in a transaction."""
    text = ""
    for line in script.splitlines(keepends=True):
        text += line
        if sqlite3.complete_statement(text):
            yield text
            text = ""


_NO_DOCUMENT = (None,) * len(Document._fields)
_SPEC = [field.name for field in fields(CaptureSpec)]
# Plain strings: for other types, SQLite's driver searches for an adapter, which is slow.
_NAMES: dict[str, str] = {one: one.value for kind in (Kind, Slot, Plan, Result) for one in kind}


def page_values(rows: Sequence[PageRow]) -> list[list[Any]]:
    """The columns of pages for their table; a sitemap may bring many pages."""
    columns = list(map(list, zip(*rows, strict=True)))
    for column, value in ((4, _NAMES.__getitem__), (9, int), (12, shape_value), (14, hints_value)) if rows else ():
        columns[column] = list(map(value, columns[column]))
    return columns


def shape_value(shape: float) -> float | None:
    """A Gamma posterior's shape; NULL: infinite."""
    return None if math.isinf(shape) else shape


def hints_value(hints: Hints | None) -> str | None:
    """A sitemap's hints as a JSON array."""
    return None if hints is None else f"[{', '.join(map(_json, hints))}]"


def _json(field: object) -> str:
    """Like json.dumps, but faster for floats, of which sitemaps have hundreds of thousands."""
    if field is None:
        return "null"
    return repr(field) if type(field) is float and math.isfinite(field) else json.dumps(field)


def visit_values(row: VisitRow) -> tuple[Any, ...]:
    """The row of a visit, without its number."""
    out, ref = row.outcome, row.outcome.capture
    return (
        row.page, _NAMES[row.slot], _NAMES[row.plan], *row[3:7], out.started, out.ended, _NAMES[out.result],
        out.status, out.digest, out.decoded, out.fingerprint, out.validators.etag, out.validators.last_modified,
        out.location, out.length, out.media_type, *(out.document or _NO_DOCUMENT), out.date,
        ref and ref.file, ref and ref.offset, ref and ref.length,
        out.error, out.retry_after, out.age, out.charset, out.part,
    )  # fmt: skip


def capture_values(row: CaptureRow) -> tuple[Any, ...]:
    """The row of a site capture."""
    return (
        row.capture,
        json.dumps({name: getattr(row.spec, name) for name in _SPEC}, default=str),
        *row[2:6],
        json.dumps([{"how_made": note} if isinstance(note, HowMade) else note for note in row.notes]),
        json.dumps(row.interruptions),
        json.dumps(dict(row.skipped)),
        row.audit and json.dumps(row.audit),
        row.swings and json.dumps(row.swings),
    )


def subsite_values(row: SubsiteRow) -> tuple[Any, ...]:
    """The row of a part of a site."""
    return (*row[:7], json.dumps([(*branch[:1], sorted(branch.without), branch.span) for branch in row.branches]))
