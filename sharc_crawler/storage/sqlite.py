"""Keep frontier state in SQLite (WAL): one file per capture folder, one transaction per step of the frontier."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from sharc_crawler.errors import MALFORMED, DataError
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Verdict
from sharc_crawler.state.rows import (
    Batch,
    CaptureRow,
    ExchangeRow,
    HostRow,
    LinksRow,
    OutsideRow,
    SubsiteRow,
    UrlRow,
)
from sharc_crawler.storage import frontier_rows
from sharc_crawler.storage.folders import hold
from sharc_crawler.storage.frontier_rows import capture_values, hints_value, subsite_values, visit_values
from sharc_crawler.storage.sqlite_errors import BUSY, said_of
from sharc_crawler.uncollected import uncollected

FILE_NAME = "frontier.db"
DAMAGED = ".damaged"
CACHE = 512  #: KiB that SQLite caches of each file: a crawl may have the files of hundreds of sites open
MANY = 500  #: from this many pages on, a bulk insertion is faster
WAY_OUT = "give resume=rebuild, which makes it again from the WARC files and the log, or choose another folder"

_TEXTS = {one: one.value for one in (*Verdict, *Evidence)}  # plain strings are inserted twice as fast
_EXCHANGES = """
SELECT visit.visit, page.capture, visit.ended, page.url, page.kind, page.via, parent.url, page.depth, visit.lease,
       visit.decided, visit.slot, visit.plan, visit.attempt, page.rate, page.source, visit.started, visit.result,
       visit.status, visit.error, visit.finished, visit.length, visit.media_type, visit.digest, visit.location,
       visit.warc, visit.warc_offset,
       CASE WHEN judgement.verdict <> 'changed' AND EXISTS (
           SELECT 1 FROM embed CROSS JOIN page AS data ON data.page = embed.resource
           WHERE embed.page = visit.page AND data.kind = 'data'
       ) THEN NULL ELSE judgement.verdict END
FROM visit JOIN page USING (page)
LEFT JOIN page AS parent ON parent.page = page.parent
LEFT JOIN judgement ON judgement.page = visit.page
WHERE visit.visit > ? ORDER BY visit.visit
"""


class SqliteStore:
    """A :class:`~sharc_crawler.state.store.FrontierStore` in one file of a folder.

    Opens or creates the file, and holds it. ``reading``: another process may hold it; ``copies``: the state is safe
    elsewhere, so nothing is synced. Raises :class:`~sharc_crawler.errors.DataError` if the file cannot be opened, or is
    something else or another version's.
    """

    def __init__(self, folder: Path, *, reading: bool = False, copies: bool = False) -> None:
        self.path = folder / FILE_NAME
        self._held = None if reading else hold(folder)
        try:
            self._db = _opened(self.path, reading=reading)
            if copies:
                self._db.execute("PRAGMA synchronous = OFF")
        except BaseException:
            self._let_go()
            raise

    @staticmethod
    def holds(folder: Path) -> bool:
        """Does the folder hold a file that is not empty?"""
        path = folder / FILE_NAME
        return path.is_file() and path.stat().st_size > 0

    @staticmethod
    def set_aside(folder: Path) -> None:
        """Rename the file and its log to ``….damaged``."""
        for path in folder.glob(f"{FILE_NAME}*"):
            if DAMAGED not in path.name:
                path.replace(path.with_name(path.name.replace(FILE_NAME, f"{FILE_NAME}{DAMAGED}")))

    def commit(self, batch: Batch) -> None:
        """Add a batch, in one transaction."""
        with self._transaction() as db:
            _write(db, batch)

    def replace(self, state: Batch) -> None:
        """Replace all state except links, in one transaction."""
        with self._transaction() as db:
            for table in frontier_rows.TABLES:
                db.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours
            _write(db, state)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        db = self._db
        with said_of(f"frontier state {self.path}"):
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:  # on a full disk, SQLite may have rolled back already
                    db.execute("ROLLBACK")
                raise

    def load(self) -> Batch:
        """All committed state, with the latest rates and hints.

        Raises :class:`~sharc_crawler.errors.DataError` for content that this software never writes.
        """
        from sharc_crawler.storage.frontier_loading import loaded  # not needed by new crawls

        with self._whole(), uncollected():
            return loaded(self, self._db)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        try:
            yield
        except (*MALFORMED, sqlite3.DatabaseError) as error:
            from sharc_crawler.storage.connecting import cannot_be_read  # as above

            raise cannot_be_read(self.path, error, WAY_OUT) from error

    def captures(self) -> dict[int, CaptureRow]:
        """The site captures alone; raises as :meth:`load`."""
        with self._whole():
            if not (rows := self._db.execute("SELECT * FROM capture").fetchall()):
                return {}
            from sharc_crawler.storage.frontier_reading import capture_row  # not needed by new crawls

            return {values[0]: capture_row(values) for values in rows}

    def hosts(self) -> dict[str, HostRow]:
        """The hosts alone; raises as :meth:`load`."""
        with self._whole():
            return {values[0]: HostRow(*values) for values in self._db.execute("SELECT * FROM host")}

    def subsites(self) -> dict[tuple[int, int], SubsiteRow]:
        """The parts of sites alone; raises as :meth:`load`."""
        with self._whole():
            if not (rows := self._db.execute("SELECT * FROM subsite").fetchall()):
                return {}
            from sharc_crawler.storage.frontier_loading import subsite_row  # only of a site that is captured in parts

            return {(row.capture, row.number): row for row in map(subsite_row, rows)}

    def urls(self, capture: int) -> Iterator[UrlRow]:
        """The URLs of a capture in the order of discovery; raises as :meth:`load`."""
        from sharc_crawler.storage import frontier_reading

        with self._whole():
            yield from frontier_reading.urls(self._db, capture)

    def outside(self) -> Iterator[OutsideRow]:
        """URLs that captures saw and did not take."""
        with self._whole():
            yield from map(OutsideRow._make, self._db.execute("SELECT * FROM outside ORDER BY rowid"))

    def exchanges(self, after: int = 0) -> Iterator[ExchangeRow]:
        """All exchanges numbered above ``after``, in the order they ended."""
        with self._whole():
            specs = {number: json.loads(spec) for number, spec in self._db.execute("SELECT capture, spec FROM capture")}
            for number, capture, *rest in self._db.execute(_EXCHANGES, (after,)):
                spec, row = specs[capture], ExchangeRow(number, "", "", *rest)
                yield row._replace(site=spec["site"], seed=spec["seeds"][0], finished=bool(row.finished))

    def links(self) -> Iterator[LinksRow]:
        """The links of documents."""
        with self._whole():
            for page, time, targets in self._db.execute("SELECT * FROM link ORDER BY time, page"):
                yield LinksRow(page, time, tuple(json.loads(targets)))

    def close(self) -> None:
        """Merge the write-ahead log into the file, and release it."""
        if self._held is not None:
            with suppress(sqlite3.Error):  # a failed read may lock the log, which then stays and is still used
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()
        self._let_go()

    def _let_go(self) -> None:
        if self._held is not None:
            self._held.close()


def _opened(path: Path, *, reading: bool) -> sqlite3.Connection:
    try:
        if reading:
            from sharc_crawler.storage.connecting import readable  # not needed for writing

            db = sqlite3.connect(readable(path), uri=True, timeout=BUSY, isolation_level=None)
            db.execute("PRAGMA query_only = ON")
        else:
            if not path.is_file() or not path.stat().st_size:
                _make(path)
            db = sqlite3.connect(path, BUSY, isolation_level=None, check_same_thread=False)  # any thread may close it
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")  # committed steps outlast a power failure
            db.execute(f"PRAGMA cache_size = -{CACHE}")
        found = frontier_rows.version(db)
    except sqlite3.DatabaseError as error:
        from sharc_crawler.storage.connecting import cannot_be_read  # hardly ever

        raise cannot_be_read(path, error, WAY_OUT) from error
    if found != frontier_rows.VERSION:
        db.close()
        raise DataError(
            f"frontier state {path} has schema version {found}, this software reads {frontier_rows.VERSION}:"
            " use the version that wrote it, or another output folder"
        )
    return db


def _make(path: Path) -> None:
    """Make a file with empty tables, whole or not at all, as other processes may look for it."""
    draft = path.with_name(f".{path.name}")
    with draft.open("wb") as file:
        file.write(_empty())
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@cache
def _empty() -> bytes:
    """The content of such a file, made once in memory, as a crawl may have thousands of sites."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        frontier_rows.make(db)
        made = bytearray(db.serialize())
    made[18:20] = b"\2\2"  # mark the file as WAL (SQLite's file format, 1.3)
    return bytes(made)


def _insert(table: str, columns: int, how: str = "INSERT") -> str:
    return f"{how} INTO {table} VALUES ({', '.join('?' * columns)})"


_replace = partial(_insert, how="INSERT OR REPLACE")

_PAGE = _insert("page", 16)
#: the fields of a batch except pages, in the order of writing: SQL statement, and a function that makes its values
CHANGES: dict[str, tuple[str, Callable[[Any], Iterable[Any]]]] = {
    "visits": (_insert("visit", 33).replace("(", "(NULL, "), lambda rows: map(visit_values, rows)),
    "links": (_insert("link", 3), lambda rows: [(row.page, row.time, json.dumps(row.targets)) for row in rows]),
    "lastmods": (_insert("lastmod", 4), iter),
    "outside": (_insert("outside", 4), iter),
    "judgements": (_replace("judgement", 4), lambda rows: [(at, _TEXTS[a], _TEXTS[b], why) for at, a, b, why in rows]),
    "embeds": (_insert("embed", 2, "INSERT OR IGNORE"), iter),
    "captures": (_replace("capture", 11), lambda rows: map(capture_values, rows.values())),
    "hosts": (_replace("host", 3), dict.values),
    "novelties": (_replace("novelty", 7), dict.values),
    "subsites": (_replace("subsite", 8), lambda rows: map(subsite_values, rows.values())),
    "members": (_insert("member", 2), iter),
    "kept": (_replace("kept", 2), dict.items),
    "rates": ("UPDATE page SET rate = ?2, source = ?3, shape = nullif(?4, 9e999) WHERE page = ?1", iter),  # inf: NULL
    "hints": ("UPDATE page SET hints = ?2 WHERE page = ?1", lambda rows: [(at, hints_value(of)) for at, of in rows]),
}


def _write(db: sqlite3.Connection, batch: Batch) -> None:
    if batch.pages:
        db.executemany(*_pages(db, batch.pages))
    for name, (sql, values) in CHANGES.items():
        if changed := getattr(batch, name):
            db.executemany(sql, values(changed))


def _pages(db: sqlite3.Connection, rows: list[Any]) -> tuple[str, list[Any]]:
    columns = frontier_rows.page_values(rows)
    if len(rows) < MANY:
        return _PAGE, list(zip(*columns, strict=True))
    from sharc_crawler.storage.bulk_insert import insertion  # for long sitemaps

    return insertion(db, "page", columns)
