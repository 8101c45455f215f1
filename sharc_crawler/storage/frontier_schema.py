"""The schema of frontier state (``frontier_schema.sql``), made in a new file."""

from __future__ import annotations

import sqlite3
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 6
#: every table but that of links
TABLES = (
    "capture", "host", "page", "visit", "lastmod", "outside", "judgement", "embed", "novelty", "subsite", "member",
)  # fmt: skip


def make(db: sqlite3.Connection) -> int:
    """Give an empty file this schema, all or nothing; the version of the schema that the file has."""
    found = version(db)
    if found or _tables(db):
        return found
    db.execute("BEGIN IMMEDIATE")
    try:
        for statement in _statements(files("sharc_crawler.storage").joinpath("frontier_schema.sql").read_text()):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return VERSION


def version(db: sqlite3.Connection) -> int:
    """Of the schema that a file has; 0: none of ours."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _tables(db: sqlite3.Connection) -> bool:
    return bool(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _statements(script: str) -> Iterator[str]:
    text = ""
    for line in script.splitlines(keepends=True):
        text += line
        if sqlite3.complete_statement(text):
            yield text
            text = ""
