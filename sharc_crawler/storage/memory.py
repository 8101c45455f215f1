"""Frontier state that is kept as long as the process lives."""

from __future__ import annotations

from sharc_crawler.frontier.store import Batch


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
        every.embeds = list(dict.fromkeys([*every.embeds, *batch.embeds]))
        every.captures |= batch.captures
        every.hosts |= batch.hosts
        for page, rate, source in batch.rates:
            every.pages[page] = every.pages[page]._replace(rate=rate, source=source)

    def load(self) -> Batch:
        """All that was committed."""
        return self._all

    def close(self) -> None:
        """Nothing to do."""
