"""Make ``report.json``: all facts of a capture as a whole (``report.schema.json``, docs/report.md).

Its pages are lines of ``report-pages.jsonl`` (:mod:`sharc_crawler.report.entries`), as there may be a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sharc_crawler import __version__
from sharc_crawler.evidence import measures
from sharc_crawler.evidence.claim import claim
from sharc_crawler.evidence.facts import CaptureFacts, SubsiteFacts, each_part
from sharc_crawler.evidence.worded import grouped
from sharc_crawler.instants import iso, maybe_iso
from sharc_crawler.model import HowMade, Kind, Verdict
from sharc_crawler.report.claim import in_words
from sharc_crawler.report.entries import not_followed
from sharc_crawler.report.notes import left_by_bounds, noted
from sharc_crawler.report.phrases import plain

if TYPE_CHECKING:
    from sharc_crawler.evidence.details import Details
    from sharc_crawler.evidence.figures import PageSums
    from sharc_crawler.seeds.hacs.selection import Selection

FORMAT = "sharc-report"
VERSION = 1  #: of the schema; a reader of version 1 can read every report that says 1
REASONS = 20  #: most reasons for missing pages that are listed


def document(captures: Sequence[CaptureFacts], selection: Selection | None = None) -> dict[str, Any]:
    """The report of a folder's site captures: instants as RFC 3339 text in UTC, durations in seconds, rates per second.

    The same facts always give the same document.
    """
    found: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "generator": {"name": "sharc-crawler", "version": __version__},
        "captures": [capture_entry(facts) for facts in captures],
    }
    if selection:
        from sharc_crawler.report.selection import entry  # only where seeds were ranked

        found["seeds"] = entry(selection)
    return found


def capture_entry(facts: CaptureFacts) -> dict[str, Any]:
    """The report of one site capture."""
    figures, details, notes = facts.figures, facts.details, noted(facts)
    return {
        **_capture(facts),
        "times": _times(facts),
        "claim": in_words(claim(facts)),
        "left_by_budget": left_by_bounds(facts) or None,
        "coherence": figures.whole.tally.totals()
        | {"complete": _complete(facts), "expected": figures.whole.expected.totals()},
        "subsites": [_subsite(part, sums) for part, _, sums in each_part(facts)],
        "plans": figures.plans.totals(),
        "blur": details.blur.totals(),
        "truth": figures.truth and figures.truth.totals(),
        "resources": figures.resources.totals(),
        "audit": plain(facts.audit) if facts.audit else None,
        "rate_sources": dict(figures.rate_sources),
        "notes": notes,
        "notes_how_made": sum(isinstance(note, HowMade) for note in notes),
        "not_followed": not_followed(facts),
        "not_captured": _not_captured(details),
        "urls": figures.urls,
    }


def _not_captured(details: Details) -> dict[str, Any]:
    """How many URLs are missing, and why; how many redirect."""
    reasons = grouped((reason, number) for (_, reason), number in details.missing.items())
    return {
        "missing": reasons.total(),
        "reasons": dict(reasons.most_common(REASONS)),
        "redirects": details.redirects.total(),
        "redirecting_pages": details.redirects[Kind.PAGE],
    }


def _subsite(part: SubsiteFacts, sums: PageSums) -> dict[str, Any]:
    """A part of the site: captured separately, or a folder of a site captured as a whole."""
    return {
        "name": part.name,
        "reference": maybe_iso(part.reference),
        "started": iso(part.started),
        "ended": maybe_iso(part.ended),
        "planned_share": plain(part.planned),
        "coherence": sums.tally.totals() | {"expected": sums.expected.totals()},
    }


def _capture(facts: CaptureFacts) -> dict[str, Any]:
    return {
        "site": facts.site,
        "seeds": list(facts.seeds),
        "strategy": facts.strategy,
        "settings": plain(facts.settings),
        "software": dict(facts.software),
        "warcs": list(facts.warcs),
        "exchanges": facts.exchanges,
        "payload_bytes": facts.payload_bytes,
    }


def _times(facts: CaptureFacts) -> dict[str, Any]:
    return {
        "started": iso(facts.started),
        "ended": maybe_iso(facts.ended),
        "reference": maybe_iso(facts.reference),
        "seconds": None if facts.ended is None else facts.ended - facts.started,
        "visits": facts.figures.visits.totals(),
        "revisits": facts.figures.revisits.totals(),
        "step_seconds": facts.step,
        "interruptions": [
            {"from": iso(start), "to": iso(end), "seconds": end - start} for start, end in facts.interruptions
        ],
    }


def _complete(facts: CaptureFacts) -> dict[str, Any]:
    counts = facts.details.complete
    return {verdict.value: counts[verdict] for verdict in Verdict} | {
        "share": measures.share(counts[Verdict.COHERENT], counts.total()),
        "on_word": embedded.on_word() if (embedded := facts.figures.completeness) else 0,
    }
