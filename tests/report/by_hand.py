"""Facts put together by hand, around one reference instant T."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Kind, Result, Slot, Url, Verdict
from sharc_crawler.report.document import capture_entry, document
from sharc_crawler.report.entries import page_entries
from sharc_crawler.report.html import render
from sharc_crawler.report.opened import open_facts
from sharc_crawler.report.shown_pages import RateClass, RateClasses

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.report.pages import Truth

T = 1_795_000_000.0


def page(url: str = "/", **fields: object) -> PageFacts:
    return PageFacts(
        Url(url), **{"kind": Kind.PAGE, "via": "seed", "depth": 0, "rate": 0.0, "rate_source": "prior"} | fields
    )


def visit(started: float, slot: Slot = Slot.FIRST, result: Result = Result.OK) -> VisitFacts:
    return VisitFacts(slot, result, started, started + 0.5)


def judged(url: str, verdict: Verdict | None, before: float = 10.0, after: float = 10.0, **fields: object) -> PageFacts:
    downloads = {"visit": visit(T - before), "revisit": visit(T + after, Slot.SECOND)}
    return page(url, verdict=verdict, evidence=Evidence.BYTES, **downloads | fields)


def facts(*pages: PageFacts, **fields: object) -> CaptureFacts:
    values = {"seeds": (), "started": T - 60, "ended": T + 60, "reference": T} | fields
    return CaptureFacts(site="s", strategy="bfs", pages=pages, **values)


def load_facts(folder: Path, truth: Truth | None = None) -> list[CaptureFacts]:
    """The facts of a small capture on disk, pages and all."""
    with open_facts(folder, truth) as captures:
        return [replace(made, pages=tuple(made.pages)) for made in captures]


def pages_of(made: CaptureFacts) -> list[dict[str, Any]]:
    """The lines of report-pages.jsonl."""
    return list(page_entries(made))


def entry_of(made: CaptureFacts) -> dict[str, Any]:
    """The report of a capture, its pages and what was not captured among it."""
    pages = pages_of(made)
    lost = [page for page in pages if page["verdict"] is None and page["kind"] in ("page", "resource")]
    return {**capture_entry(made), "pages": pages, "lost": lost}


def classes_of(made: CaptureFacts) -> list[RateClass]:
    """The chart of change rates."""
    found = RateClasses()
    for entry in pages_of(made):
        found.add(entry)
    return found.classes()


def rendered(*made: CaptureFacts) -> dict[str, str]:
    """The pages of report.html."""
    lines = [json.dumps(page) for facts in made for page in pages_of(facts)]
    return {name: "".join(pieces) for name, pieces in render(document(made), lines).items()}
