"""``report.json``: everything that is known of a capture, as plain JSON (``report.schema.json``, docs/report.md)."""

from __future__ import annotations

from collections import Counter
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence import measures
from sharc_crawler.evidence.claim import claim
from sharc_crawler.evidence.facts import each_part, references
from sharc_crawler.instants import iso, maybe_iso
from sharc_crawler.model import Kind, Verdict
from sharc_crawler.report.blurring import Blur
from sharc_crawler.report.claim import in_words
from sharc_crawler.report.entries import missing, missing_entry, not_followed, page_entry
from sharc_crawler.report.notes import left_by_bounds, noted
from sharc_crawler.report.selection import entry
from sharc_crawler.report.words import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, SubsiteFacts, VisitFacts
    from sharc_crawler.model import Url
    from sharc_crawler.seeds.hacs.selection import Selection

FORMAT = "sharc-report"
VERSION = 1  #: of the schema; a reader of version 1 can read all that says 1


def document(captures: Sequence[CaptureFacts], selection: Selection | None = None) -> dict[str, Any]:
    """The report of a folder's site captures: instants as RFC 3339 text in UTC, durations in seconds, rates per second.

    The same facts always give the same document.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "generator": {"name": "sharc-crawler", "version": version("sharc-crawler")},
        "captures": [capture_entry(facts) for facts in captures],
        **({"seeds": entry(selection)} if selection else {}),
    }


def capture_entry(facts: CaptureFacts) -> dict[str, Any]:
    """The report of one site capture."""
    pages = [page for page in facts.pages if page.kind is Kind.PAGE]
    totals = measures.tally(pages)
    complete = measures.completeness(facts.pages, references(facts))
    blur = Blur(facts.pages)
    return {
        **_capture(facts),
        "times": _times(facts, pages),
        "claim": in_words(claim(facts)),
        "left_by_budget": left_by_bounds(facts) or None,
        "coherence": totals | {"complete": _complete(complete), "expected": measures.expected(pages, facts.reference)},
        "subsites": [_subsite(part, own) for part, own in each_part(facts)],
        "plans": measures.plans(pages),
        "blur": blur.totals(),
        "truth": measures.truth(pages),
        "resources": measures.tally([page for page in facts.pages if page.kind is Kind.RESOURCE]),
        "audit": plain(facts.audit) if facts.audit else None,
        "rate_sources": dict(Counter(page.rate_source for page in pages if page.verdict is not None)),
        "decisions": plain(facts.stats),
        "notes": [*noted(facts), *facts.notes],
        "not_followed": not_followed(facts),
        "not_captured": [missing_entry(page) for page in facts.pages if missing(page)],
        "pages": [page_entry(page, facts.reference, complete, blur) for page in facts.pages],
    }


def _subsite(part: SubsiteFacts, own: CaptureFacts) -> dict[str, Any]:
    """A part of the site: captured by itself, or a folder of a site captured as a whole."""
    pages = [page for page in own.pages if page.kind is Kind.PAGE]
    return {
        "name": part.name,
        "reference": maybe_iso(part.reference),
        "started": iso(part.started),
        "ended": maybe_iso(part.ended),
        "planned_share": plain(part.planned),
        "coherence": measures.tally(pages) | {"expected": measures.expected(pages, part.reference)},
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


def _times(facts: CaptureFacts, pages: Iterable[PageFacts]) -> dict[str, Any]:
    captured = [page for page in pages if page.verdict is not None and page.visit]
    return {
        "started": iso(facts.started),
        "ended": maybe_iso(facts.ended),
        "reference": maybe_iso(facts.reference),
        "seconds": None if facts.ended is None else facts.ended - facts.started,
        "visits": _phase(page.visit for page in captured),
        "revisits": _phase(page.revisit for page in captured),
        "step_seconds": facts.step,
        "interruptions": [
            {"from": iso(start), "to": iso(end), "seconds": end - start} for start, end in facts.interruptions
        ],
    }


def _phase(visits: Iterable[VisitFacts | None]) -> dict[str, Any] | None:
    made = [visit for visit in visits if visit]
    if not made:
        return None
    first, last = min(visit.started for visit in made), max(visit.ended for visit in made)
    return {"from": iso(first), "to": iso(last), "seconds": last - first, "pages": len(made)}


def _complete(verdicts: Mapping[Url, Verdict]) -> dict[str, Any]:
    counts = Counter(verdicts.values())
    return {verdict.value: counts[verdict] for verdict in Verdict} | {
        "share": measures.share(counts[Verdict.COHERENT], len(verdicts))
    }
