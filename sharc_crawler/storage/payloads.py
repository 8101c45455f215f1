"""Which payloads an archive's captures hold in full: a table of the history store (``docs/observations.md``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from sharc_crawler.model import Instant


_LATEST = 1e12  #: seconds: SQLite keeps no infinity that compares


class StoredPayload(NamedTuple):
    """A response record that holds a payload."""

    digest: str
    chunked: bool  #: how its body is framed
    url: str  #: WARC-Target-URI
    time: Instant  #: WARC-Date
    record: str  #: WARC-Record-ID


def keep(db: sqlite3.Connection, site: str, payloads: Iterable[StoredPayload]) -> None:
    """Add payloads of a site; the first record that holds one stays the one that is referred to."""
    with db:
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO site (name) VALUES (?) ON CONFLICT (name) DO NOTHING", (site,))
        number = db.execute("SELECT id FROM site WHERE name = ?", (site,)).fetchone()[0]
        rows = ((number, *payload) for payload in payloads)
        db.executemany("INSERT INTO payload VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", rows)


def forget(db: sqlite3.Connection, site: str, since: Instant, until: Instant) -> None:
    """Drop the records of a site within a time: they are about to go."""
    with db:
        query = "DELETE FROM payload WHERE site = (SELECT id FROM site WHERE name = ?) AND time BETWEEN ? AND ?"
        db.execute(query, (site, since, min(until, _LATEST)))


def find(db: sqlite3.Connection, site: str | None, digest: str, *, chunked: bool) -> StoredPayload | None:
    """The record that holds a payload, framed so; of any site where none is named."""
    query = """SELECT digest, chunked, url, time, record FROM payload WHERE digest = ? AND chunked = ?
        AND site IN (SELECT id FROM site WHERE ? IN (name, '')) LIMIT 1"""
    row = db.execute(query, (digest, chunked, site or "")).fetchone()
    return StoredPayload(row[0], bool(row[1]), *row[2:]) if row else None
