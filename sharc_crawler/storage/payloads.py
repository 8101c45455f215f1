"""The payloads that an archive's captures store in full: a table of the history store (``docs/observations.md``)."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3

    from sharc_crawler.model import Instant


_LATEST = 1e12  #: seconds; used instead of infinity, which SQLite cannot compare


class StoredPayload(NamedTuple):
    """A response record that stores a payload."""

    digest: str
    chunked: bool  #: how its body is framed
    url: str  #: WARC-Target-URI
    time: Instant  #: WARC-Date
    record: str  #: WARC-Record-ID
    sound: bool | None = True  #: is the row's checksum correct? None: it has none (of a former version)

    @property
    def checksum(self) -> int:
        """A checksum of the row."""
        row = repr((self.digest, bool(self.chunked), self.url, float(self.time), self.record))
        return int.from_bytes(blake2b(row.encode(), digest_size=8).digest(), signed=True)


def keep(db: sqlite3.Connection, site: str, payloads: Iterable[StoredPayload]) -> None:
    """Add payloads of a site; if one is known already, its first record stays."""
    with db:
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO site (name) VALUES (?) ON CONFLICT (name) DO NOTHING", (site,))
        number = db.execute("SELECT id FROM site WHERE name = ?", (site,)).fetchone()[0]
        rows = ((number, *payload[:5], payload.checksum) for payload in payloads)
        db.executemany("INSERT INTO payload VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", rows)


def forget(db: sqlite3.Connection, site: str, since: Instant, until: Instant) -> None:
    """Remove the payloads of a site within a time."""
    with db:
        query = "DELETE FROM payload WHERE site = (SELECT id FROM site WHERE name = ?) AND time BETWEEN ? AND ?"
        db.execute(query, (site, since, min(until, _LATEST)))


def drop(db: sqlite3.Connection, held: StoredPayload) -> None:
    """Remove a row that turned out to be wrong."""
    with db:
        query = "DELETE FROM payload WHERE digest = ? AND chunked = ? AND url IS ? AND time IS ? AND record IS ?"
        db.execute(query, held[:5])


def find(db: sqlite3.Connection, site: str | None, digest: str, *, chunked: bool) -> StoredPayload | None:
    """The record that stores a payload with this framing; of any site if ``site`` is None."""
    query = """SELECT digest, chunked, url, time, record, checksum FROM payload WHERE digest = ? AND chunked = ?
        AND site IN (SELECT id FROM site WHERE ? IN (name, '')) LIMIT 1"""
    row = db.execute(query, (digest, chunked, site or "")).fetchone()
    if row is None:
        return None
    *fields, checksum = row
    held = StoredPayload(fields[0], bool(fields[1]), *fields[2:])
    if not all(map(isinstance, fields[2:], (str, float, str))):
        return held._replace(sound=False)
    return held._replace(sound=None if checksum is None else held.checksum == checksum)
