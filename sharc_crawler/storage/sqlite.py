"""Frontier state in SQLite (WAL): one file per capture folder, one transaction per step of the frontier."""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import suppress
from dataclasses import asdict, astuple
from typing import TYPE_CHECKING, Any

from sharc_crawler.errors import DataError
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.frontier.store import (
    Batch,
    CaptureRow,
    HostRow,
    JudgementRow,
    LinksRow,
    NoveltyRow,
    OutsideRow,
    PageRow,
    SubsiteRow,
    VisitRow,
    WordRow,
)
from sharc_crawler.model import (
    CaptureRef,
    Document,
    Evidence,
    Hints,
    Kind,
    Outcome,
    Phase,
    Plan,
    Result,
    Slot,
    Validators,
    Verdict,
)
from sharc_crawler.storage import frontier_schema
from sharc_crawler.storage.exchange_log import exchanges
from sharc_crawler.storage.trying_again import reopen, unreached
from sharc_crawler.subsites.dividing import Branch

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
            ([_page_values(row) for row in batch.pages], _insert("page", 16)),
            ([(None, *_visit_values(row)) for row in batch.visits], _insert("visit", 28)),
            ([(row.page, row.time, json.dumps(row.targets)) for row in batch.links], _insert("link", 3)),
            (batch.words, _insert("word", 4)),
            (batch.outside, _insert("outside", 4)),
            (batch.judgements, _insert("judgement", 4)),
            (batch.embeds, _insert("embed", 2).replace("INSERT", "INSERT OR IGNORE")),
            ([_capture_values(row) for row in batch.captures.values()], _replace("capture", 10)),
            (list(batch.hosts.values()), _replace("host", 3)),
            (list(batch.novelties.values()), _replace("novelty", 5)),
            ([_subsite_values(row) for row in batch.subsites.values()], _replace("subsite", 8)),
            (batch.members, _insert("member", 2)),
            (
                [(rate, source, page) for page, rate, source in batch.rates],
                "UPDATE page SET rate = ?, source = ? WHERE page = ?",
            ),
        ):
            if rows:
                db.executemany(sql, rows)

    def load(self) -> Batch:
        """All that was committed; rates as they are now.

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
            pages=[_page_row(values) for values in db.execute("SELECT * FROM page ORDER BY page")],
            visits=[_visit_row(values) for values in db.execute("SELECT * FROM visit ORDER BY visit")],
            judgements=[
                JudgementRow(page, Verdict(verdict), Evidence(evidence), reason)
                for page, verdict, evidence, reason in db.execute("SELECT * FROM judgement ORDER BY page")
            ],
            words=[WordRow(*values) for values in db.execute("SELECT * FROM word ORDER BY rowid")],
            outside=list(self.outside()),
            embeds=list(db.execute("SELECT page, resource FROM embed ORDER BY page, resource")),
            captures=self.captures(),
            hosts={values[0]: HostRow(*values) for values in db.execute("SELECT * FROM host")},
            subsites={values[:2]: _subsite_row(values) for values in db.execute("SELECT * FROM subsite")},
            members=list(db.execute("SELECT page, subsite FROM member ORDER BY page")),
            novelties={values[0]: NoveltyRow(*values) for values in db.execute("SELECT * FROM novelty ORDER BY page")},
        )

    def captures(self) -> dict[int, CaptureRow]:
        """The site captures alone; raises as :meth:`load`."""
        try:
            return {values[0]: _capture_row(values) for values in self._db.execute("SELECT * FROM capture")}
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


def _page_values(row: PageRow) -> tuple[Any, ...]:
    shape = None if math.isinf(row.shape) else row.shape
    hints = json.dumps(asdict(row.hints)) if row.hints else None
    return (*row[:12], shape, row.weight, hints, row.reason)


def _page_row(values: tuple[Any, ...]) -> PageRow:
    row = PageRow._make(values)
    shape = math.inf if row.shape is None else row.shape
    hints = Hints(**json.loads(values[14])) if values[14] else None
    return row._replace(kind=Kind(row.kind), shape=shape, hints=hints)


def _visit_values(row: VisitRow) -> tuple[Any, ...]:
    outcome = row.outcome
    ref = outcome.capture
    return (
        *row[:7],
        outcome.started,
        outcome.ended,
        outcome.result,
        outcome.status,
        outcome.digest,
        outcome.decoded,
        outcome.fingerprint,
        outcome.validators.etag,
        outcome.validators.last_modified,
        outcome.location,
        outcome.length,
        outcome.media_type,
        *(astuple(outcome.document) if outcome.document else (None, None, None)),
        outcome.date,
        ref and ref.file,
        ref and ref.offset,
        ref and ref.length,
        outcome.error,
    )


def _visit_row(values: tuple[Any, ...]) -> VisitRow:
    _, page, slot, plan, attempt, settled, lease, decided = values[:8]
    started, ended, result, status, digest, decoded, fingerprint, etag, last_modified, location = values[8:18]
    length, media_type, images, tables, outlinks, date, warc, offset, size, error = values[18:]
    outcome = Outcome(
        Result(result),
        started,
        ended,
        status=status,
        digest=digest,
        decoded=decoded,
        fingerprint=fingerprint,
        validators=Validators(etag, last_modified),
        location=location,
        length=length,
        media_type=media_type,
        document=None if outlinks is None else Document(images, tables, outlinks),
        date=date,
        capture=CaptureRef(warc, offset, size) if warc else None,
        error=error,
    )
    return VisitRow(page, Slot(slot), Plan(plan), attempt, bool(settled), lease, decided, outcome)


def _capture_values(row: CaptureRow) -> tuple[Any, ...]:
    return (
        row.capture,
        json.dumps(asdict(row.spec), default=str),
        *row[2:6],
        json.dumps(row.notes),
        json.dumps(row.interruptions),
        json.dumps(dict(row.skipped)),
        row.audit and json.dumps(row.audit),
    )


def _capture_row(values: tuple[Any, ...]) -> CaptureRow:
    number, spec, phase, started, reference, ended = values[:6]
    notes, interruptions, skipped = (json.loads(text) for text in values[6:9])
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in json.loads(spec).items()
    }
    return CaptureRow(
        number,
        CaptureSpec(**known),
        Phase(phase),
        started,
        reference,
        ended,
        tuple(notes),
        tuple((start, end) for start, end in interruptions),
        skipped,
        values[9] and json.loads(values[9]),
    )


def _subsite_values(row: SubsiteRow) -> tuple[Any, ...]:
    return (*row[:7], json.dumps([(*branch[:1], sorted(branch.without), branch.span) for branch in row.branches]))


def _subsite_row(values: tuple[Any, ...]) -> SubsiteRow:
    branches = tuple(
        Branch(tuple(root), frozenset(without), span and (span[0], span[1]))
        for root, without, span in json.loads(values[7])
    )
    return SubsiteRow._make((*values[:7], branches))
