"""Facts put together by hand, around one reference instant T."""

from __future__ import annotations

from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Kind, Result, Slot, Url, Verdict

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
