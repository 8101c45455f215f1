"""Judgements of the data that scripts of pages fetched; only captures made with a browser have any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sharc_crawler.evidence.data import DataState, judged_with_data, redirected
from sharc_crawler.model import Instant, Judgement, Slot, Url
from sharc_crawler.report.pages import counted, last, not_judged_yet
from sharc_crawler.state.rows import JudgementRow, UrlRow

if TYPE_CHECKING:
    from sharc_crawler.evidence.facts import PageFacts
    from sharc_crawler.report.pages import Truth
    from sharc_crawler.report.subsites import SubsiteParts


class DataStates:
    """Collects pieces of data, and their judgements."""

    def __init__(self) -> None:
        self._rows: dict[Url, tuple[JudgementRow, Instant, Instant]] = {}

    def add(self, url: UrlRow) -> None:
        """Add a piece of data, if it was captured or redirected."""
        visits = counted(url)
        first = last([visit for visit in visits if visit.slot is not Slot.SECOND])
        if first is None:
            return
        judgement = url.judgement or not_judged_yet(url.page, first)
        if led := redirected(first.outcome.result, first.outcome.status):
            judgement = JudgementRow(url.page.page, led.verdict, led.evidence, led.reason)
        if judgement is not None:
            self._rows[Url(url.page.key)] = judgement, first.outcome.started, visits[-1].outcome.started

    def states(self, subsites: SubsiteParts) -> dict[Url, DataState]:
        """The state of each piece by URL."""
        return {
            url: DataState(Judgement(row.verdict, row.evidence, row.reason), subsites.of(row.page).reference, downloads)
            for url, (row, *downloads) in self._rows.items()
        }


def with_states(
    page: PageFacts,
    reference: Instant | None,
    data: Mapping[Url, DataState],
    truth: Truth | None,
    span: tuple[Instant, Instant],
) -> PageFacts:
    """A page judged together with the data its scripts fetched; ``span``: the time to ask for true changes."""
    page = judged_with_data(page, reference, data)
    if page.truth is None or not page.data or truth is None:
        return page
    from sharc_crawler.evidence.truth import with_data  # of a demo

    return with_data(page, [(truth(url, *span), data[url]) for url in page.data])
