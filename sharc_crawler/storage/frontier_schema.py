"""The schema of frontier state (``frontier_schema.sql``), made in a new file."""

from __future__ import annotations

import sqlite3
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 11
#: every table but that of links
TABLES = (
    "capture", "host", "page", "visit", "lastmod", "outside", "judgement", "embed", "novelty", "subsite", "member",
    "kept",
)  # fmt: skip


def make(db: sqlite3.Connection) -> None:
    """Give an empty file this schema."""
    db.execute("BEGIN")
    for statement in statements(files("sharc_crawler.storage").joinpath("frontier_schema.sql").read_text()):
        db.execute(statement)
    db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")


def version(db: sqlite3.Connection) -> int:
    """Of the schema that a file has; 0: none of ours."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def statements(script: str) -> Iterator[str]:
    """Those of a script, one by one: a transaction may be around them."""
    text = ""
    for line in script.splitlines(keepends=True):
        text += line
        if sqlite3.complete_statement(text):
            yield text
            text = ""
