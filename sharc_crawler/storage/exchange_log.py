"""State that is loaded whole, row by row: exchanges in the order they ended, URLs in the order of discovery."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sharc_crawler.frontier.rows import Batch, ExchangeRow, LastmodRow, UrlRow, VisitRow
from sharc_crawler.model import Kind, Verdict


def exchanges_of(state: Batch, after: int = 0) -> Iterator[ExchangeRow]:
    """The exchanges of loaded state numbered above ``after``; for stores that have no quicker way to them."""
    made = {page for page, needed in state.embeds if state.pages[needed].kind is Kind.DATA}
    judged = (row for row in state.judgements if row.verdict is Verdict.CHANGED or row.page not in made)
    verdicts = {row.page: row.verdict.value for row in judged}
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


def urls_of(state: Batch, capture: int) -> Iterator[UrlRow]:
    """The URLs of a capture in loaded state; for stores that have no way to read them one after the other."""
    judgements = {row.page: row for row in state.judgements}
    members = dict(state.members)
    visits: dict[int, list[VisitRow]] = defaultdict(list)
    embeds: dict[int, list[str]] = defaultdict(list)
    for visit in state.visits:
        visits[visit.page].append(visit)
    lastmods: dict[int, list[LastmodRow]] = defaultdict(list)
    for said in state.lastmods:
        lastmods[said.page].append(said)
    for page, resource in state.embeds:
        embeds[page].append(state.pages[resource].key)
    for row in state.pages:
        if row.capture == capture:
            own, needs = tuple(visits[row.page]), tuple(embeds[row.page])
            said_of = tuple(lastmods[row.page])
            yield UrlRow(row, own, judgements.get(row.page), needs, said_of, members.get(row.page))
