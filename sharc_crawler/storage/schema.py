"""The observation store's schema and migrations (``docs/observations.md``); opens its file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sharc_crawler.errors import DataError
from sharc_crawler.storage.connecting import Connection, readable, share
from sharc_crawler.storage.sqlite_errors import BUSY

APPLICATION = 0x53484143  #: PRAGMA application_id of our files, "SHAC"

#: Migration k turns version k into k + 1; published ones are never edited, only new ones added.
MIGRATIONS = (
    """
    CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE url (
        id INTEGER PRIMARY KEY,
        site INTEGER NOT NULL REFERENCES site,
        url TEXT NOT NULL,
        UNIQUE (site, url)
    );
    CREATE TABLE observation (
        url INTEGER NOT NULL REFERENCES url,
        time REAL NOT NULL,
        kind TEXT NOT NULL,
        result TEXT NOT NULL,
        change TEXT NOT NULL,
        evidence TEXT NOT NULL,
        digest TEXT,
        fingerprint TEXT,
        etag TEXT,
        last_modified REAL,
        lastmod REAL,
        lastmod_precision REAL NOT NULL,
        media_type INTEGER REFERENCES media_type,
        images INTEGER,
        tables INTEGER,
        outlinks INTEGER,
        decoded TEXT,
        PRIMARY KEY (url, time)
    ) WITHOUT ROWID;
    CREATE TABLE media_type (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE links (
        url INTEGER NOT NULL REFERENCES url,
        time REAL NOT NULL,
        targets TEXT NOT NULL,
        PRIMARY KEY (url, time)
    ) WITHOUT ROWID;
    CREATE TABLE payload (
        site INTEGER NOT NULL REFERENCES site,
        digest TEXT NOT NULL,
        chunked INTEGER NOT NULL,
        url TEXT NOT NULL,
        time REAL NOT NULL,
        record TEXT NOT NULL,
        PRIMARY KEY (site, digest, chunked)
    ) WITHOUT ROWID;
    """,
    "ALTER TABLE payload ADD COLUMN checksum INTEGER",
)


def for_writing(path: str | Path) -> Connection:
    """Open a file for writing, making or migrating it if necessary."""
    # Thread pools may call from several threads, one at a time.
    db = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False, factory=Connection)
    share(db)
    db.execute("PRAGMA synchronous = NORMAL")
    migrate(db)
    return db


def for_reading(path: Path) -> Connection:
    """Open a file for reading; a former version's is copied to memory and migrated there."""
    db = sqlite3.connect(readable(path), uri=True, timeout=BUSY, isolation_level=None, factory=Connection)
    db.execute("PRAGMA query_only = ON")
    if is_current(db):
        return db
    copy = sqlite3.connect(":memory:", isolation_level=None, factory=Connection)
    with closing(db):
        db.backup(copy)
    migrate(copy)
    return copy


def migrate(db: sqlite3.Connection) -> None:
    """Migrate an open file to this version's schema; safe if several processes do so.

    Raises :class:`~sharc_crawler.errors.DataError` for another program's file, or a newer version's.
    """
    with _transaction(db, "DEFERRED"):  # a snapshot: another process may be making the file at this moment
        if _version(db) == len(MIGRATIONS):
            return
    with _transaction(db, "IMMEDIATE"):
        for script in MIGRATIONS[_version(db) :]:
            for statement in script.split(";"):
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        db.execute(f"PRAGMA application_id = {APPLICATION}")


def is_current(db: sqlite3.Connection) -> bool:
    """Has an open file this version's schema, rather than a former one's? It is not changed.

    Raises as :func:`migrate`, and :class:`~sharc_crawler.errors.DataError` for an empty file.
    """
    version = _version(db)
    if not version:
        raise DataError("it is empty; a crawl with history= makes one of it")
    return version == len(MIGRATIONS)


@contextmanager
def _transaction(db: sqlite3.Connection, kind: str) -> Iterator[None]:
    db.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _version(db: sqlite3.Connection) -> int:
    """The file's schema version; 0: it is empty."""
    application, version = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION and (tables or version):
        raise DataError("it is another program's database; name a new file")
    if version > len(MIGRATIONS):
        raise DataError(f"it has schema version {version}, this program knows up to {len(MIGRATIONS)}; upgrade it")
    return int(version)
