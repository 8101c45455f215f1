"""Rows of the frontier's tables (``frontier_schema.sql``), to and from the records of the store's port."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, astuple
from operator import attrgetter
from typing import Any

from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.frontier.store import CaptureRow, PageRow, SubsiteRow, VisitRow
from sharc_crawler.model import CaptureRef, Document, Hints, Kind, Outcome, Phase, Plan, Result, Slot, Validators
from sharc_crawler.rates.swings import Swings
from sharc_crawler.subsites.branch import Branch

_HINTS = attrgetter(*Hints.__slots__)


def page_values(row: PageRow) -> tuple[Any, ...]:
    """A page as its table has it."""
    return (*row[:12], shape_value(row.shape), row.weight, hints_value(row.hints), row.reason)


def shape_value(shape: float) -> float | None:
    """A Gamma posterior's shape; NULL: infinite."""
    return None if math.isinf(shape) else shape


def hints_value(hints: Hints | None) -> str | None:
    """What a sitemap said, as a JSON array of its fields."""
    if hints is None:
        return None
    return json.dumps(_HINTS(hints))


def page_row(values: tuple[Any, ...]) -> PageRow:
    """The page of a row of its table."""
    row = PageRow._make(values)
    shape = math.inf if row.shape is None else row.shape
    hints = Hints(*json.loads(values[14])) if values[14] else None
    return row._replace(kind=Kind(row.kind), shape=shape, hints=hints)


def visit_values(row: VisitRow) -> tuple[Any, ...]:
    """A visit without its number."""
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
        *(astuple(outcome.document) if outcome.document else (None, None, None, None, None)),
        outcome.date,
        ref and ref.file,
        ref and ref.offset,
        ref and ref.length,
        outcome.error,
        outcome.retry_after,
        outcome.age,
        outcome.charset,
    )


def visit_row(values: tuple[Any, ...]) -> VisitRow:
    """The visit of a row of its table."""
    _, page, slot, plan, attempt, finished, lease, decided = values[:8]
    started, ended, result, status, digest, decoded, fingerprint, etag, last_modified, location = values[8:18]
    length, media_type, images, tables, outlinks, by_script, words, date, warc, offset, size = values[18:29]
    error, retry_after, age, charset = values[29:]
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
        document=None if outlinks is None else Document(images, tables, outlinks, bool(by_script), words),
        date=date,
        capture=CaptureRef(warc, offset, size) if warc else None,
        error=error,
        retry_after=retry_after,
        age=age,
        charset=charset,
    )
    return VisitRow(page, Slot(slot), Plan(plan), attempt, bool(finished), lease, decided, outcome)


def capture_values(row: CaptureRow) -> tuple[Any, ...]:
    """A site capture as its table has it."""
    return (
        row.capture,
        json.dumps(asdict(row.spec), default=str),
        *row[2:6],
        json.dumps(row.notes),
        json.dumps(row.interruptions),
        json.dumps(dict(row.skipped)),
        row.audit and json.dumps(row.audit),
        row.swings and json.dumps(row.swings.deviations),
    )


def capture_row(values: tuple[Any, ...]) -> CaptureRow:
    """The site capture of a row of its table."""
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
        values[10] and Swings(tuple(json.loads(values[10]))),
    )


def subsite_values(row: SubsiteRow) -> tuple[Any, ...]:
    """A part of a site as its table has it."""
    return (*row[:7], json.dumps([(*branch[:1], sorted(branch.without), branch.span) for branch in row.branches]))


def subsite_row(values: tuple[Any, ...]) -> SubsiteRow:
    """The part of a row of its table."""
    branches = tuple(
        Branch(tuple(root), frozenset(without), span and (span[0], span[1]))
        for root, without, span in json.loads(values[7])
    )
    return SubsiteRow._make((*values[:7], branches))
