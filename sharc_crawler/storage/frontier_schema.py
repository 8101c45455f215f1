"""The schema of frontier state (``frontier_schema.sql``): made in a new file, and brought into one of a former version.

Versions differ so far by tables and columns that were added: the tables are made anew and take over what they share
with the former ones.
"""

from __future__ import annotations

import sqlite3
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 5


def prepare(db: sqlite3.Connection) -> int:
    """Bring an open file to this version's schema, all or nothing; the version it had (0: it was empty).

    A newer version's file is left as it is.
    """
    found = int(db.execute("PRAGMA user_version").fetchone()[0])
    if found >= VERSION:
        return found
    db.execute("BEGIN IMMEDIATE")
    try:
        _upgrade(db)
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return found


def _upgrade(db: sqlite3.Connection) -> None:
    former = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for name in former:
        db.execute(f"ALTER TABLE {name} RENAME TO former_{name}")
    for statement in _statements(files("sharc_crawler.storage").joinpath("frontier_schema.sql").read_text()):
        db.execute(statement)
    for name in former:
        known = _columns(db, f"former_{name}")
        shared = ", ".join(column for column in _columns(db, name) if column in known)
        db.execute(f"INSERT INTO {name} ({shared}) SELECT {shared} FROM former_{name}")  # noqa: S608 - names of ours
        db.execute(f"DROP TABLE former_{name}")


def _statements(script: str) -> Iterator[str]:
    text = ""
    for line in script.splitlines(keepends=True):
        text += line
        if sqlite3.complete_statement(text):
            yield text
            text = ""


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
