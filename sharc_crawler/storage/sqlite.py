"""Frontier state in SQLite (WAL): one file per capture folder, one transaction per step of the frontier."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from sharc_crawler.errors import DataError
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.frontier.store import (
    Batch,
    CaptureRow,
    HostRow,
    JudgementRow,
    LastmodRow,
    LinksRow,
    NoveltyRow,
    OutsideRow,
)
from sharc_crawler.model import Verdict
from sharc_crawler.storage import frontier_rows, frontier_schema
from sharc_crawler.storage.exchange_log import exchanges
from sharc_crawler.storage.trying_again import reopen, unreached

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sharc_crawler.storage.exchange_log import ExchangeRow

FILE_NAME = "frontier.db"


class SqliteStore:
    """A :class:`~sharc_crawler.frontier.store.FrontierStore` in one file.

    Opens or creates ``path``; raises :class:`~sharc_crawler.errors.DataError` where that is impossible, or the file is
    something else or newer than this version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")  # a step that was committed outlasts a power failure
            version = frontier_schema.prepare(self._db)
        except sqlite3.DatabaseError as error:
            raise DataError(f"frontier state {path}: {error}; choose another output folder") from error
        if version > frontier_schema.VERSION:
            raise DataError(
                f"frontier state {path} has schema version {version}, this software reads up to"
                f" {frontier_schema.VERSION}: use the version that wrote it, or another output folder"
            )

    def commit(self, batch: Batch) -> None:
        """One transaction."""
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        try:
            self._write(db, batch)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # a full disk may have ended it already
                db.execute("ROLLBACK")
            raise

    def _write(self, db: sqlite3.Connection, batch: Batch) -> None:
        for rows, sql in (
            ([frontier_rows.page_values(row) for row in batch.pages], _insert("page", 16)),
            ([(None, *frontier_rows.visit_values(row)) for row in batch.visits], _insert("visit", 30)),
            ([(row.page, row.time, json.dumps(row.targets)) for row in batch.links], _insert("link", 3)),
            (batch.lastmods, _insert("lastmod", 4)),
            (batch.outside, _insert("outside", 4)),
            (batch.judgements, _insert("judgement", 4)),
            (batch.embeds, _insert("embed", 2).replace("INSERT", "INSERT OR IGNORE")),
            ([frontier_rows.capture_values(row) for row in batch.captures.values()], _replace("capture", 10)),
            (list(batch.hosts.values()), _replace("host", 3)),
            (list(batch.novelties.values()), _replace("novelty", 5)),
            ([frontier_rows.subsite_values(row) for row in batch.subsites.values()], _replace("subsite", 8)),
            (batch.members, _insert("member", 2)),
            (
                [(rate, source, frontier_rows.shape_value(shape), page) for page, rate, source, shape in batch.rates],
                "UPDATE page SET rate = ?, source = ?, shape = ? WHERE page = ?",
            ),
            (
                [(frontier_rows.hints_value(hints), page) for page, hints in batch.hints],
                "UPDATE page SET hints = ? WHERE page = ?",
            ),
        ):
            if rows:
                db.executemany(sql, rows)

    def load(self) -> Batch:
        """All that was committed; rates and hints as they are now.

        Raises :class:`~sharc_crawler.errors.DataError` where the file holds what this software never writes.
        """
        try:
            return self._loaded(self._db)
        except (ValueError, TypeError, KeyError, AttributeError, sqlite3.DatabaseError) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> DataError:
        return DataError(f"frontier state {self.path} is damaged ({error}); choose another output folder")

    def _loaded(self, db: sqlite3.Connection) -> Batch:
        return Batch(
            pages=[frontier_rows.page_row(values) for values in db.execute("SELECT * FROM page ORDER BY page")],
            visits=[frontier_rows.visit_row(values) for values in db.execute("SELECT * FROM visit ORDER BY visit")],
            judgements=[
                JudgementRow(page, Verdict(verdict), Evidence(evidence), reason)
                for page, verdict, evidence, reason in db.execute("SELECT * FROM judgement ORDER BY page")
            ],
            lastmods=[LastmodRow(*values) for values in db.execute("SELECT * FROM lastmod ORDER BY rowid")],
            outside=list(self.outside()),
            embeds=list(db.execute("SELECT page, resource FROM embed ORDER BY page, resource")),
            captures=self.captures(),
            hosts={values[0]: HostRow(*values) for values in db.execute("SELECT * FROM host")},
            subsites={values[:2]: frontier_rows.subsite_row(values) for values in db.execute("SELECT * FROM subsite")},
            members=list(db.execute("SELECT page, subsite FROM member ORDER BY page")),
            novelties={values[0]: NoveltyRow(*values) for values in db.execute("SELECT * FROM novelty ORDER BY page")},
        )

    def captures(self) -> dict[int, CaptureRow]:
        """The site captures alone; raises as :meth:`load`."""
        try:
            return {
                values[0]: frontier_rows.capture_row(values) for values in self._db.execute("SELECT * FROM capture")
            }
        except (ValueError, TypeError, KeyError, AttributeError, sqlite3.DatabaseError) as error:
            raise self._damaged(error) from error

    def unreached(self) -> list[int]:
        """Complete captures that brought nothing because nobody answered."""
        return unreached(self._db)

    def reopen(self, capture: int) -> None:
        """Such a capture is to be tried again."""
        reopen(self._db, capture)

    def outside(self) -> Iterator[OutsideRow]:
        """What captures were shown and do not take."""
        return map(OutsideRow._make, self._db.execute("SELECT * FROM outside ORDER BY rowid"))

    def exchanges(self, after: int = 0) -> Iterator[ExchangeRow]:
        """All exchanges numbered above ``after``, in the order they ended."""
        return exchanges(self._db, after)

    def links(self) -> Iterator[LinksRow]:
        """What documents linked to."""
        for page, time, targets in self._db.execute("SELECT * FROM link ORDER BY time, page"):
            try:
                yield LinksRow(page, time, tuple(json.loads(targets)))
            except (ValueError, TypeError) as error:
                raise DataError(f"frontier state {self.path} is damaged: links of page {page} ({error})") from error

    def close(self) -> None:
        """Fold the write-ahead log into the file and let go of it."""
        with suppress(sqlite3.OperationalError):  # a reading that failed may hold it: the log stays, and is read
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()


def _insert(table: str, columns: int) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608 - names of ours


def _replace(table: str, columns: int) -> str:
    return _insert(table, columns).replace("INSERT", "INSERT OR REPLACE")
