"""Captures that brought nothing because nobody answered are not over: the same command tries again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

_UNREACHED = """
SELECT capture FROM capture AS c WHERE phase = 'done'
AND NOT EXISTS (SELECT * FROM page JOIN visit USING (page)
                WHERE page.capture = c.capture AND page.kind IN ('page', 'hub') AND visit.result = 'ok')
AND EXISTS (SELECT * FROM page JOIN visit USING (page) WHERE page.capture = c.capture AND visit.result = 'failed')
"""
_OWN = "page IN (SELECT page FROM page WHERE capture = ?)"
#: what failed, or was refused for it, is open again; rules that could not be had are read; the phases begin anew
_REOPEN = (
    f"UPDATE visit SET settled = 0 WHERE {_OWN} AND (result = 'failed' OR attempt = 0)",  # noqa: S608 - of ours
    "DELETE FROM host WHERE name IN (SELECT page.host FROM page JOIN visit USING (page)"
    " WHERE page.capture = ? AND page.kind = 'robots' AND visit.result = 'failed')",
    f"DELETE FROM member WHERE {_OWN}",  # noqa: S608
    "DELETE FROM subsite WHERE capture = ?",
    "UPDATE capture SET phase = 'visit', reference = NULL, ended = NULL WHERE capture = ?",
)


def unreached(db: sqlite3.Connection) -> list[int]:
    """Complete captures without a page, whose servers did not answer (properly)."""
    return [capture for (capture,) in db.execute(_UNREACHED)]


def reopen(db: sqlite3.Connection, capture: int) -> None:
    """Such a capture is to be made after all; the attempts made stay on record."""
    with db:
        db.execute("BEGIN IMMEDIATE")
        for statement in _REOPEN:
            db.execute(statement, (capture,))
