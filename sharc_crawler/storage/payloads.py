"""Which payloads an archive's captures hold in full: a table of the history store (``docs/observations.md``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from sharc_crawler.model import Instant


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


def find(db: sqlite3.Connection, site: str, digest: str, *, chunked: bool) -> StoredPayload | None:
    """The record that holds a payload, framed so."""
    query = """SELECT digest, chunked, url, time, record FROM payload JOIN site ON site.id = payload.site
        WHERE site.name = ? AND digest = ? AND chunked = ?"""
    row = db.execute(query, (site, digest, chunked)).fetchone()
    return StoredPayload(row[0], bool(row[1]), *row[2:]) if row else None
