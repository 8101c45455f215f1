"""Rows of the frontier's tables (``frontier_schema.sql``), to and from the records of the store's port."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.frontier.store import CaptureRow, PageRow, SubsiteRow, VisitRow
from sharc_crawler.model import (
    NO_VALIDATORS,
    CaptureRef,
    Document,
    Hints,
    Kind,
    Outcome,
    Phase,
    Plan,
    Result,
    Slot,
    Validators,
)
from sharc_crawler.subsites.branch import Branch

if TYPE_CHECKING:
    from sharc_crawler.rates.swings import Swings

_NO_DOCUMENT = (None,) * len(Document._fields)
_RESULTS, _SLOTS = {one.value: one for one in Result}, {one.value: one for one in Slot}
_SPEC = [field.name for field in fields(CaptureSpec)]
_PLANS, _KINDS = {one.value: one for one in Plan}, {one.value: one for one in Kind}
# As plain texts: SQLite's driver looks for an adapter of any other type, which takes longer than to write a number.
_NAMES: dict[str, str] = {one: one.value for kind in (Kind, Slot, Plan, Result) for one in kind}


def page_values(row: PageRow) -> tuple[Any, ...]:
    """A page as its table has it."""
    page, capture, key, url, kind, host, depth, parent, via, state, rate, source, shape, weight, hints, reason = row
    place = page, capture, key, url, _NAMES[kind], host, depth, parent, via, int(state)
    return (*place, rate, source, shape_value(shape), weight, hints_value(hints), reason)


def shape_value(shape: float) -> float | None:
    """A Gamma posterior's shape; NULL: infinite."""
    return None if math.isinf(shape) else shape


def hints_value(hints: Hints | None) -> str | None:
    """What a sitemap said, as a JSON array of its fields."""
    if hints is None:
        return None
    if hints[2:5] == (None, None, None):  # a date alone, as most sitemaps have it
        return f"[{_json(hints[0])}, {_json(hints[1])}, null, null, null, {_json(hints[5])}]"
    return f"[{', '.join(map(_json, hints))}]"


def _json(field: object) -> str:
    """As json.dumps does, which takes long for a float: sitemaps name hundreds of thousands."""
    if field is None:
        return "null"
    return repr(field) if type(field) is float and math.isfinite(field) else json.dumps(field)


def page_row(values: tuple[Any, ...]) -> PageRow:
    """The page of a row of its table."""
    *row, shape, weight, hints, reason = values
    row[4] = _KINDS[row[4]]
    read = Hints(*json.loads(hints)) if hints else None
    return PageRow._make((*row, math.inf if shape is None else shape, weight, read, reason))


def visit_values(row: VisitRow) -> tuple[Any, ...]:
    """A visit without its number."""
    outcome = row.outcome
    ref = outcome.capture
    return (
        row.page,
        _NAMES[row.slot],
        _NAMES[row.plan],
        *row[3:7],
        outcome.started,
        outcome.ended,
        _NAMES[outcome.result],
        outcome.status,
        outcome.digest,
        outcome.decoded,
        outcome.fingerprint,
        outcome.validators.etag,
        outcome.validators.last_modified,
        outcome.location,
        outcome.length,
        outcome.media_type,
        *(outcome.document or _NO_DOCUMENT),
        outcome.date,
        ref and ref.file,
        ref and ref.offset,
        ref and ref.length,
        outcome.error,
        outcome.retry_after,
        outcome.age,
        outcome.charset,
        outcome.part,
    )


def visit_row(values: tuple[Any, ...]) -> VisitRow:
    """The visit of a row of its table."""
    _, page, slot, plan, attempt, finished, lease, decided = values[:8]
    started, ended, result, status, digest, decoded, fingerprint, etag, last_modified, location = values[8:18]
    length, media_type, images, tables, outlinks, by_script, words, date, warc, offset, size = values[18:29]
    error, retry_after, age, charset, part = values[29:]
    # In the order of the fields, and by dicts: a crawl that goes on reads hundreds of thousands.
    outcome = Outcome(
        _RESULTS[result],
        started,
        ended,
        status,
        digest,
        fingerprint,
        Validators(etag, last_modified) if etag or last_modified else NO_VALIDATORS,
        decoded,
        location,
        length,
        media_type,
        charset,
        None if outlinks is None else Document(images, tables, outlinks, bool(by_script), words),
        date,
        age,
        bool(part),
        CaptureRef(warc, offset, size) if warc else None,
        error,
        retry_after,
    )
    return VisitRow(page, _SLOTS[slot], _PLANS[plan], attempt, bool(finished), lease, decided, outcome)


def capture_values(row: CaptureRow) -> tuple[Any, ...]:
    """A site capture as its table has it."""
    return (
        row.capture,
        json.dumps({name: getattr(row.spec, name) for name in _SPEC}, default=str),
        *row[2:6],
        json.dumps(row.notes),
        json.dumps(row.interruptions),
        json.dumps(dict(row.skipped)),
        row.audit and json.dumps(row.audit),
        row.swings and json.dumps(row.swings),
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
        values[10] and _swings(*json.loads(values[10])),
    )


def _swings(deviations: list[float], crowd: float) -> Swings:
    from sharc_crawler.rates.swings import Swings  # only where captures were compared

    return Swings(tuple(deviations), crowd)


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
