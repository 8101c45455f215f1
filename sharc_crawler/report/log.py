"""The log of a capture: every decision and what came of it, from the stored facts, in the order they ended.

The store has each visit before it counts, so the log needs no file of its own: it is complete after a crash, and can be
written while the crawl goes on.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sharc_crawler.model import Kind, Result
from sharc_crawler.report.instants import iso

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sharc_crawler.frontier.store import Batch, PageRow, VisitRow
    from sharc_crawler.model import Instant

#: Heritrix's codes where there is no HTTP status
HERITRIX_FAILED, HERITRIX_ROBOTS = -2, -9998


def entries(state: Batch) -> Iterator[dict[str, Any]]:
    """One entry for each exchange and for each URL refused without one; fields as in ``docs/report.md``."""
    judged = {row.page: row for row in state.judgements}
    for visit in state.visits:
        page = state.pages[visit.page]
        outcome, judgement = visit.outcome, judged.get(visit.page)
        ref = outcome.capture
        yield {
            "time": iso(outcome.ended),
            "site": state.captures[page.capture].spec.site,
            "url": page.url,
            "kind": page.kind.value,
            "via": page.via,
            "referrer": _referrer(state, page),
            "depth": page.depth,
            "decision": visit.lease,
            "decided": iso(visit.decided),
            "slot": visit.slot.value,
            "plan": visit.plan.value,
            "attempt": visit.attempt,
            "rate": page.rate,
            "rate_source": page.source,
            "started": iso(outcome.started),
            "result": outcome.result.value,
            "status": outcome.status,
            "error": outcome.error,
            "settled": visit.settled,
            "bytes": outcome.length,
            "media_type": outcome.media_type,
            "digest": outcome.digest,
            "location": outcome.location,
            "warc": ref.file if ref else None,
            "offset": ref.offset if ref else None,
            "verdict": judgement.verdict.value if judgement else None,
        }


def heritrix_lines(state: Batch) -> Iterator[str]:
    """The lines of a ``crawl.log`` as Heritrix writes it, for tools that read those."""
    for visit in state.visits:
        page, outcome = state.pages[visit.page], visit.outcome
        fields = (
            f"{iso(outcome.ended)[:23]}Z",
            f"{_code(visit):>5}",
            f"{outcome.length or '-':>10}",
            page.url,
            _hops(page) or "-",
            _referrer(state, page) or "-",
            outcome.media_type or "no-type",
            "#001",
            f"{_stamp(outcome.started)}+{round(1000 * (outcome.ended - outcome.started))}",
            outcome.digest or "-",
            state.captures[page.capture].spec.seeds[0],
            f"{visit.slot.value},{visit.attempt}t",
        )
        yield " ".join(fields)


def _referrer(state: Batch, page: PageRow) -> str | None:
    return state.pages[page.parent].url if page.parent >= 0 else None


def _code(visit: VisitRow) -> int:
    outcome = visit.outcome
    if outcome.status is not None:
        return outcome.status
    return HERITRIX_ROBOTS if outcome.result is Result.REFUSED else HERITRIX_FAILED


def _hops(page: PageRow) -> str:
    """How it was found: P prerequisite, E embedded, M sitemap, L link."""
    if page.kind is Kind.ROBOTS:
        return "P"
    if page.kind is Kind.SITEMAP:
        return "M"
    return "L" * max(page.depth - 1, 0) + "E" if page.kind is Kind.RESOURCE else "L" * page.depth


def _stamp(instant: Instant) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime("%Y%m%d%H%M%S%f")[:17]
