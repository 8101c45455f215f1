"""Batches as JSON: for stores that keep lines, rows of a journal or messages."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.frontier.store import (
    Batch,
    HostRow,
    JudgementRow,
    LastmodRow,
    LinksRow,
    NoveltyRow,
    OutsideRow,
)
from sharc_crawler.model import Hints, Verdict
from sharc_crawler.storage import frontier_reading, frontier_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Rows = Iterable[list[Any]]


def to_json(batch: Batch) -> str:
    """On one line.

    >>> to_json(Batch(lastmods=[LastmodRow(3, 10.5, 9.0, 1.0)]))
    '{"lastmods": [[3, 10.5, 9.0, 1.0]]}'
    """
    rows: dict[str, list[Any]] = {
        "pages": [frontier_rows.page_values(row) for row in batch.pages],
        "visits": [frontier_rows.visit_values(row) for row in batch.visits],
        "judgements": list(batch.judgements),
        "captures": [frontier_rows.capture_values(row) for row in batch.captures.values()],
        "hosts": list(batch.hosts.values()),
        "embeds": batch.embeds,
        "links": list(batch.links),
        "lastmods": list(batch.lastmods),
        "rates": [(page, rate, source, frontier_rows.shape_value(shape)) for page, rate, source, shape in batch.rates],
        "hints": [(page, frontier_rows.hints_value(hints)) for page, hints in batch.hints],
        "novelties": list(batch.novelties.values()),
        "outside": list(batch.outside),
        "subsites": [frontier_rows.subsite_values(row) for row in batch.subsites.values()],
        "members": batch.members,
        "kept": [list(row) for row in batch.kept.items()],
    }
    return json.dumps({name: some for name, some in rows.items() if some})


def of_json(text: str) -> Batch:
    """From what :func:`to_json` made; raises :class:`ValueError` and the like for anything else.

    >>> of_json(to_json(Batch(members=[(4, 1)]))).members
    [(4, 1)]
    """
    return Batch(**{name: _READ[name](rows) for name, rows in json.loads(text).items()})


def _judgement(values: list[Any]) -> JudgementRow:
    page, verdict, evidence, reason = values
    return JudgementRow(page, Verdict(verdict), Evidence(evidence), reason)


def _links(values: list[Any]) -> LinksRow:
    page, time, targets = values
    return LinksRow(page, time, tuple(targets))


_READ: dict[str, Callable[[Rows], Any]] = {
    "pages": lambda rows: [frontier_reading.page_row(tuple(row)) for row in rows],
    "visits": lambda rows: [frontier_reading.visit_row((None, *row)) for row in rows],
    "judgements": lambda rows: list(map(_judgement, rows)),
    "captures": lambda rows: {row[0]: frontier_rows.capture_row(tuple(row)) for row in rows},
    "hosts": lambda rows: {row[0]: HostRow._make(row) for row in rows},
    "embeds": lambda rows: list(map(tuple, rows)),
    "links": lambda rows: list(map(_links, rows)),
    "lastmods": lambda rows: list(map(LastmodRow._make, rows)),
    "rates": lambda rows: [
        (page, rate, source, math.inf if shape is None else shape) for page, rate, source, shape in rows
    ],
    "hints": lambda rows: [(page, Hints(*json.loads(hints)) if hints else None) for page, hints in rows],
    "novelties": lambda rows: {row[0]: NoveltyRow._make(row) for row in rows},
    "outside": lambda rows: list(map(OutsideRow._make, rows)),
    "subsites": lambda rows: {(row[0], row[1]): frontier_reading.subsite_row(tuple(row)) for row in rows},
    "members": lambda rows: list(map(tuple, rows)),
    "kept": lambda rows: {name: text for name, text in rows},  # noqa: C416 - rows of JSON
}
