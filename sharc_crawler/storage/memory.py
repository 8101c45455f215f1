"""Frontier state in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sharc_crawler.model import Kind, Verdict
from sharc_crawler.state.rows import (
    Batch,
    CaptureRow,
    ExchangeRow,
    HostRow,
    LastmodRow,
    LinksRow,
    OutsideRow,
    SubsiteRow,
    UrlRow,
    VisitRow,
)


class MemoryStore:
    """Keeps state in memory only, for tests and for crawls that need not be resumed."""

    def __init__(self, folder: Path | None = None, *, reading: bool = False) -> None:  # noqa: ARG002 - the port's
        self._all = Batch()
        self._embeds: set[tuple[int, int]] = set()  # those in the state

    @staticmethod
    def holds(folder: Path) -> bool:  # noqa: ARG004 - the port's
        """No folder ever holds state of this store."""
        return False

    @staticmethod
    def set_aside(folder: Path) -> None:
        """There is nothing to set aside."""

    def commit(self, batch: Batch) -> None:
        """Add a batch to the state."""
        every = self._all
        every.pages += batch.pages
        every.visits += batch.visits
        every.judgements += batch.judgements
        every.links += batch.links
        every.lastmods += batch.lastmods
        every.outside += batch.outside
        if batch.embeds:
            new = [pair for pair in dict.fromkeys(batch.embeds) if pair not in self._embeds]
            self._embeds.update(new)
            every.embeds += new
        every.captures |= batch.captures
        every.hosts |= batch.hosts
        every.novelties |= batch.novelties
        every.subsites |= batch.subsites
        every.members += batch.members
        every.kept |= batch.kept
        for page, rate, source, shape in batch.rates:
            every.pages[page] = every.pages[page]._replace(rate=rate, source=source, shape=shape)
        for page, hints in batch.hints:
            every.pages[page] = every.pages[page]._replace(hints=hints)

    def replace(self, state: Batch) -> None:
        """Replace all state except links."""
        links, self._all, self._embeds = self._all.links, Batch(), set()
        self.commit(replace(state, links=links))

    def load(self) -> Batch:
        """All that was committed."""
        judged = {row.page: row for row in self._all.judgements}  # the last word stands
        return replace(self._all, links=[], judgements=list(judged.values()))

    def captures(self) -> dict[int, CaptureRow]:
        """The site captures alone."""
        return dict(self._all.captures)

    def hosts(self) -> dict[str, HostRow]:
        """The hosts alone."""
        return dict(self._all.hosts)

    def subsites(self) -> dict[tuple[int, int], SubsiteRow]:
        """The parts of sites alone."""
        return dict(self._all.subsites)

    def urls(self, capture: int) -> Iterator[UrlRow]:
        """The URLs of a capture in the order of discovery."""
        return urls_of(self._all, capture)

    def outside(self) -> Iterator[OutsideRow]:
        """URLs that captures saw and did not take."""
        return iter(self._all.outside)

    def exchanges(self, after: int = 0) -> Iterator[ExchangeRow]:
        """All exchanges numbered above ``after``, in the order they ended."""
        return exchanges_of(self._all, after)

    def links(self) -> Iterator[LinksRow]:
        """The links of documents."""
        return iter(self._all.links)

    def close(self) -> None:
        """Nothing to do."""


def exchanges_of(state: Batch, after: int = 0) -> Iterator[ExchangeRow]:
    """The exchanges in loaded state numbered above ``after``; for stores without a faster way."""
    made = {page for page, needed in state.embeds if state.pages[needed].kind is Kind.DATA}
    judged = (row for row in state.judgements if row.verdict is Verdict.CHANGED or row.page not in made)
    verdicts = {row.page: row.verdict.value for row in judged}
    for number, visit in enumerate(state.visits[after:], after + 1):
        page, outcome = state.pages[visit.page], visit.outcome
        spec = state.captures[page.capture].spec
        referrer = state.pages[page.parent].url if page.parent >= 0 else None
        warc, offset = (outcome.capture.file, outcome.capture.offset) if outcome.capture else (None, None)
        yield ExchangeRow(
            number, spec.site, spec.seeds[0], outcome.ended, page.url, page.kind.value, page.via, referrer, page.depth,
            visit.lease, visit.decided, visit.slot.value, visit.plan.value, visit.attempt, page.rate, page.source,
            outcome.started, outcome.result.value, outcome.status, outcome.error, visit.finished, outcome.length,
            outcome.media_type, outcome.digest, outcome.location, warc, offset, verdicts.get(visit.page),
        )  # fmt: skip


def urls_of(state: Batch, capture: int) -> Iterator[UrlRow]:
    """The URLs of a capture in loaded state; for stores without a faster way."""
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
