"""Captures of a site in parts, each with its own reference instant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sharc_crawler.evidence.facts import CaptureFacts, SubsiteFacts, each_part
from sharc_crawler.instants import second
from sharc_crawler.plural import counted
from sharc_crawler.report.words import short
from sharc_crawler.state.rows import CaptureRow, SubsiteRow

UNASSIGNED = "in no part yet"  #: pages not assigned yet, during a capture
MAX_PARTS = 5  #: most parts in a summary


def captured_parts(capture: CaptureRow, rows: Sequence[SubsiteRow], *, waiting: bool) -> tuple[SubsiteFacts, ...]:
    """The parts of a capture; ``waiting``: with one for pages that are not assigned yet."""
    parts = [
        SubsiteFacts(
            row.name,
            capture.reference if row.ended is None else row.reference,
            row.begun,
            row.ended,
            row.share,
        )
        for row in rows
    ]
    if waiting:
        parts.append(SubsiteFacts(UNASSIGNED, None, capture.started, None))
    return tuple(parts)


def largest_parts(facts: CaptureFacts) -> Iterator[tuple[str, str]]:
    """The lines of a summary on the largest parts: (name, value)."""
    totals = [(part, counts) for part, _, sums in each_part(facts) if (counts := sums.tally.totals())["coherent"]]
    largest = sorted(totals, key=lambda one: -one[1]["coherent"])
    for number, (part, counts) in enumerate(largest[:MAX_PARTS]):
        at = f" at {second(part.reference)}" if part.reference is not None else ""
        words = f"{counts['coherent']:,} of {counted(counts['captured'], 'page')} coherent{at}: {short(part.name)}"
        yield "" if number else "parts", words
    if len(largest) > MAX_PARTS:
        yield "", f"… and {counted(len(largest) - MAX_PARTS, 'more part')} in the report"
