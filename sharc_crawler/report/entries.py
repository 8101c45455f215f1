"""The entries of ``report.json`` for one URL each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence import measures
from sharc_crawler.evidence.reasons import Reason, code, in_words
from sharc_crawler.instants import iso, maybe_iso
from sharc_crawler.model import Kind, Plan, Slot
from sharc_crawler.report.words import every, percent, plain, span
from sharc_crawler.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, VisitFacts
    from sharc_crawler.model import Instant, Url, Verdict
    from sharc_crawler.report.blurring import Blur


def missing(page: PageFacts) -> bool:
    """Whether a page or resource was not captured."""
    return page.verdict is None and page.kind in (Kind.PAGE, Kind.RESOURCE)


def moved(targets: Mapping[str, str | None], captured: Set[str]) -> set[str]:
    """The URLs that redirect to one that was captured, at once or over others: nothing is missing.

    >>> sorted(moved({"http://h/a": "http://h/b#top", "http://h/b": "http://h/c", "http://h/d": None}, {"http://h/c"}))
    ['http://h/a', 'http://h/b']
    """
    found: set[str] = set()
    for _ in targets:  # as many times as there are hops, at most
        more = {url for url, target in targets.items() if target and {target, canonical(target)} & (captured | found)}
        if more == found:
            break
        found = more
    return found


def missing_entry(page: PageFacts) -> dict[str, Any]:
    """What was not captured, and why."""
    visit = page.visit
    return {
        "url": page.url,
        "kind": page.kind.value,
        "via": page.via,
        "reason": in_words(page.reason or (visit.error if visit and visit.error else Reason.UNVISITED)),
        "target": page.target,
        "status": visit.status if visit else None,
    }


def not_followed(facts: CaptureFacts) -> dict[str, Any]:
    """What was named and is no page of the capture: sightings by reason, and the URLs as far as they are listed."""
    return {
        "sightings": dict(facts.skipped),
        "urls": [{"url": row.url, "reason": row.reason, "via": row.via} for row in facts.outside],
    }


def page_entry(
    page: PageFacts, reference: Instant | None, complete: Mapping[Url, Verdict], blur: Blur
) -> dict[str, Any]:
    """All that is known of one URL; ``complete``: verdicts with the embedded resources counted in."""
    length = measures.interval(page, reference)
    own = page.url if page.kind is Kind.PAGE else None
    whole = complete.get(own) if own else None
    return {
        "url": page.url,
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
        "interval_seconds": length,
        "survival": measures.survival(page, reference),
        "verdict": page.verdict.value if page.verdict else None,
        "evidence": page.evidence.value if page.evidence else None,
        "reason": in_words(page.reason),
        "code": code(page.reason) or None,
        "complete": whole.value if whole else None,
        "embeds": len(page.embeds),
        "fingerprint_equal": measures.fingerprint_equal(page),
        "stochastic_blur": blur.stochastic.get(own) if own else None,
        "actual_blur": blur.actual.get(own) if own else None,
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
    """Why the strategy placed the page so, from its rate and the interval that it was given."""
    if page.plan is None:
        return ""
    changes = f"changes {every(page.rate)} on average" if page.rate else "is not expected to change"
    chance = measures.survival(page, reference)
    length = measures.interval(page, reference)
    if chance is None or length is None:
        return changes
    if page.visit and page.visit.slot is Slot.ONLY and length == 0:
        return f"{changes}; downloaded once, at the reference instant itself"
    odds = f"{changes}; over {span(length)} it stays the same with a chance of {percent(chance)}"
    return f"{odds}: its place near the reference instant was given to others" if page.plan is Plan.HOPELESS else odds
