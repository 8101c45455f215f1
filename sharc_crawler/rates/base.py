"""The port of all that knows how often pages change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.model import Instant, RateEstimate, Sighting


class RateSource(Protocol):
    """Gives change rates of pages that were sighted; asked in bulk, one source per site capture."""

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate | None]:
        """One estimate per sighting, in their order; ``None`` where the source has nothing to say."""
