"""The exchanges of a capture, row by row, in the order they ended: what logs are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.store import ExchangeRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sharc_crawler.frontier.store import Batch


def exchanges_of(state: Batch, after: int = 0) -> Iterator[ExchangeRow]:
    """Those of loaded state that are numbered above ``after``; for stores that have no quicker way to them."""
    verdicts = {row.page: row.verdict.value for row in state.judgements}
    for number, visit in enumerate(state.visits[after:], after + 1):
        page, outcome = state.pages[visit.page], visit.outcome
        spec = state.captures[page.capture].spec
        yield ExchangeRow(
            number,
            spec.site,
            spec.seeds[0],
            outcome.ended,
            page.url,
            page.kind.value,
            page.via,
            state.pages[page.parent].url if page.parent >= 0 else None,
            page.depth,
            visit.lease,
            visit.decided,
            visit.slot.value,
            visit.plan.value,
            visit.attempt,
            page.rate,
            page.source,
            outcome.started,
            outcome.result.value,
            outcome.status,
            outcome.error,
            visit.finished,
            outcome.length,
            outcome.media_type,
            outcome.digest,
            outcome.location,
            outcome.capture.file if outcome.capture else None,
            outcome.capture.offset if outcome.capture else None,
            verdicts.get(visit.page),
        )
