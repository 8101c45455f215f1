"""The port of sources of change rates, and the prior rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from sharc_crawler.model import Instant, Rate, RateEstimate, Sighting

if TYPE_CHECKING:
    from sharc_crawler.rates.chain import Chain
    from sharc_crawler.rates.swings import Swings

ONCE_A_MONTH: Rate = 12 / 31_557_600
PRIOR = "prior"  #: source of a guessed rate
MODIFIED = "last-modified"  #: source of a rate made with that header
NO_CHANGE = "unchanged"  #: source of the rate of a page that no capture saw change: it also rests on other pages
GUESS = RateEstimate(ONCE_A_MONTH, PRIOR, shape=1.0, spread=ONCE_A_MONTH)


class Stated(NamedTuple):
    """Lastmods and changefreqs of pages, in columns."""

    urls: list[str]
    lastmods: Sequence[float]  #: NaN: none
    precisions: Sequence[float]
    frequencies: Sequence[str | None]


class RateSource(Protocol):
    """Gives change rates of pages, in bulk; one source per site capture."""

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate | None]:
        """Return one estimate per sighting, in their order; ``None`` where the source abstains."""


@runtime_checkable
class TellsSwings(Protocol):
    """A source that also knows how far its rates vary together."""

    def swings(self) -> Swings | None:
        """Return how far rates vary together, from the history; ``None`` without one."""


class UnstatedRates:
    """Rates of a site without history: the prior until the first hint, then those of a chain.

    >>> from sharc_crawler.model import Hints, Sighting
    >>> from sharc_crawler.rates.chain import default_chain
    >>> rates = UnstatedRates(default_chain)
    >>> silent, daily = Sighting("http://h/a"), Sighting("http://h/b", hints=Hints(changefreq="daily"))
    >>> [rate.source for found in (rates.rates([silent], 0.0), rates.rates([daily, silent], 0.0)) for rate in found]
    ['prior', 'sitemap', 'prior']
    """

    def __init__(self, make: Callable[[], Chain]) -> None:
        self._make = make
        self._chain: Chain | None = None

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate]:
        """Return one estimate per sighting, in their order."""
        chain = self._known(sightings)
        return [GUESS] * len(sightings) if chain is None else chain.rates(sightings, now)

    def weight(self, sighting: Sighting) -> float:
        """Return the page's weight: 1 unless hints say otherwise."""
        chain = self._chain or (sighting.hints and self._known([sighting]))
        return chain.weight(sighting) if chain else 1.0

    def swings(self) -> Swings | None:
        """Return how far rates vary together, as far as the chain knows."""
        return None if self._chain is None else self._chain.swings()

    def _known(self, sightings: Sequence[Sighting]) -> Chain | None:
        if self._chain is None and any(sighting.hints is not None for sighting in sightings):
            self._chain = self._make()
        return self._chain
