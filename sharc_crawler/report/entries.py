"""Make the lines of ``report-pages.jsonl``: an entry for each URL of a capture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sharc_crawler.evidence import measures
from sharc_crawler.evidence.details import Detail
from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, VisitFacts
from sharc_crawler.evidence.figures import MEANT, why_not
from sharc_crawler.evidence.worded import code, in_words
from sharc_crawler.instants import iso, maybe_iso
from sharc_crawler.model import Instant, Plan, Slot
from sharc_crawler.rates.base import PRIOR
from sharc_crawler.report.phrases import changing, plain
from sharc_crawler.report.words import percent, span

#: appended to a reason
OLDER = "; the first is a former capture's copy, called unmodified by the server: it may have changed before that"


def not_followed(facts: CaptureFacts) -> dict[str, Any]:
    """URLs that were named but not followed: mentions by reason, and the URLs that are listed."""
    return {
        "sightings": dict(facts.skipped),
        "urls": [{"url": row.url, "reason": row.reason, "via": row.via} for row in facts.outside],
    }


def page_entries(facts: CaptureFacts) -> Iterator[dict[str, Any]]:
    """The entry of each URL of a capture, in the order of discovery."""
    for page, detail in facts.details.walk():
        yield _page_entry(page, facts, detail)


def _page_entry(page: PageFacts, facts: CaptureFacts, detail: Detail) -> dict[str, Any]:
    """All facts of one URL; ``complete``: its verdict together with its embedded resources."""
    reference = facts.reference
    captured = page.verdict is not None or page.kind not in MEANT
    return {
        "site": facts.site,
        "url": page.url,
        "archived_as": page.archived_as or None,
        "kind": page.kind.value,
        "via": page.via,
        "depth": page.depth,
        "subsite": page.subsite,
        "weight": page.weight,
        "rate": plain(page.rate),
        "rate_source": page.rate_source,
        "plan": page.plan.value if page.plan else None,
        "plan_reason": _plan_reason(page, reference),
        "visit": _visit(page.visit),
        "revisit": _visit(page.revisit),
        "interval_seconds": measures.interval(page, reference),
        "survival": measures.survival(page, reference),
        "verdict": page.verdict.value if page.verdict else None,
        "evidence": page.evidence.value if page.evidence else None,
        "reason": in_words(page.reason if captured else why_not(page)) + (OLDER if page.older and facts.belied else ""),
        "code": code(page.reason) or None,
        "target": page.target,
        "moved": detail.moved,
        "complete": detail.complete.value if detail.complete else None,
        "embeds": len(page.embeds),
        "data": list(page.data),
        "fingerprint_equal": measures.fingerprint_equal(page),
        "content": content.value if (content := measures.content(page)) else None,
        "stochastic_blur": detail.stochastic_blur,
        "actual_blur": detail.actual_blur,
        "truth": _truth(page),
    }


def _visit(visit: VisitFacts | None) -> dict[str, Any] | None:
    if visit is None:
        return None
    return {
        "slot": visit.slot.value,
        "result": visit.result.value,
        "decided": maybe_iso(visit.decided),
        "started": iso(visit.started),
        "ended": iso(visit.ended),
        "status": visit.status,
        "attempts": visit.attempts,
        "length": visit.length,
        "digest": visit.digest,
        "warc": visit.warc,
        "error": visit.error,
    }


def _truth(page: PageFacts) -> dict[str, Any] | None:
    if page.truth is None and page.true_changes is None:
        return None
    return {"unchanged": page.truth, "changes": [iso(change) for change in page.true_changes or ()]}


def _plan_reason(page: PageFacts, reference: Instant | None) -> str:
    """Why the strategy placed the page so: its rate, and the interval between its downloads."""
    if page.plan is None:
        return ""
    changes = changing(page.rate, page.rate_source)
    chance = measures.survival(page, reference)
    length = measures.interval(page, reference)
    if chance is None or length is None:
        return changes
    if page.visit and page.visit.slot is Slot.ONLY and length == 0:
        return f"{changes}; downloaded once, at the reference instant itself"
    if page.rate_source == PRIOR:
        odds = changes
    else:
        odds = f"{changes}; over {span(length)} it stays the same with a chance of {percent(chance)}"
    return f"{odds}: others were preferred near the reference instant" if page.plan is Plan.HOPELESS else odds
