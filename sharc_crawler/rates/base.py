"""The port of all that knows how often pages change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from sharc_crawler.model import Instant, Rate, RateEstimate, Sighting
    from sharc_crawler.rates.swings import Swings

ONCE_A_MONTH: Rate = 12 / 31_557_600
PRIOR = "prior"  #: the source of a rate that nothing told: a guess
NO_CHANGE = "unchanged"  #: the source of a rate of a page that no capture saw change: it rests on other pages, too


class Said(NamedTuple):
    """What sitemaps say of pages, in columns."""

    urls: list[str]
    lastmods: Sequence[float]  #: NaN: none
    precisions: Sequence[float]
    frequencies: Sequence[str | None]


class RateSource(Protocol):
    """Gives change rates of pages that were sighted; asked in bulk, one source per site capture."""

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate | None]:
        """One estimate per sighting, in their order; ``None`` where the source has nothing to say."""


@runtime_checkable
class TellsSwings(Protocol):
    """A source that also knows how far all of its rates may be off together."""

    def swings(self) -> Swings | None:
        """What the history tells of that; ``None``: there is none."""
