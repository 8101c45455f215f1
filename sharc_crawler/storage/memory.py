"""Frontier state that is kept as long as the process lives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sharc_crawler.frontier.store import Batch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sharc_crawler.frontier.store import LinksRow


class MemoryStore:
    """Keeps what was committed, for tests and for crawls that nobody wants to resume."""

    def __init__(self) -> None:
        self._all = Batch()

    def commit(self, batch: Batch) -> None:
        """Add the batch to what is known."""
        every = self._all
        every.pages += batch.pages
        every.visits += batch.visits
        every.judgements += batch.judgements
        every.links += batch.links
        every.lastmods += batch.lastmods
        every.outside += batch.outside
        every.embeds = list(dict.fromkeys([*every.embeds, *batch.embeds]))
        every.captures |= batch.captures
        every.hosts |= batch.hosts
        every.novelties |= batch.novelties
        every.subsites |= batch.subsites
        every.members += batch.members
        for page, rate, source, shape in batch.rates:
            every.pages[page] = every.pages[page]._replace(rate=rate, source=source, shape=shape)
        for page, hints in batch.hints:
            every.pages[page] = every.pages[page]._replace(hints=hints)

    def load(self) -> Batch:
        """All that was committed."""
        return replace(self._all, links=[])

    def links(self) -> Iterator[LinksRow]:
        """What documents linked to."""
        return iter(self._all.links)

    def close(self) -> None:
        """Nothing to do."""
