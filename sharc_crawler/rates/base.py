"""The port of all that knows how often pages change, and what is said where nothing is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from sharc_crawler.model import Instant, Rate, RateEstimate, Sighting

if TYPE_CHECKING:
    from sharc_crawler.rates.chain import Chain
    from sharc_crawler.rates.swings import Swings

ONCE_A_MONTH: Rate = 12 / 31_557_600
PRIOR = "prior"  #: the source of a rate that nothing told: a guess
NO_CHANGE = "unchanged"  #: the source of a rate of a page that no capture saw change: it rests on other pages, too
GUESS = RateEstimate(ONCE_A_MONTH, PRIOR, shape=1.0, spread=ONCE_A_MONTH)


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


class UnstatedRates:
    """Rates of a site without history that states nothing of its changes: the prior, and with its first hint a chain's.

    >>> from sharc_crawler.model import Hints, Sighting
    >>> from sharc_crawler.rates.chain import default_chain
    >>> rates = UnstatedRates(default_chain)
    >>> silent, daily = Sighting("http://h/a"), Sighting("http://h/b", hints=Hints(changefreq="daily"))
    >>> [one.source for found in (rates.rates([silent], 0.0), rates.rates([daily, silent], 0.0)) for one in found]
    ['prior', 'sitemap', 'prior']
    """

    def __init__(self, make: Callable[[], Chain]) -> None:
        self._make = make
        self._chain: Chain | None = None

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate]:
        """One estimate per sighting, in their order."""
        chain = self._known(sightings)
        return [GUESS] * len(sightings) if chain is None else chain.rates(sightings, now)

    def weight(self, sighting: Sighting) -> float:
        """1, as long as nothing else is said."""
        chain = self._chain or (sighting.hints and self._known([sighting]))
        return chain.weight(sighting) if chain else 1.0

    def swings(self) -> Swings | None:
        """No history tells of any."""
        return None if self._chain is None else self._chain.swings()

    def _known(self, sightings: Sequence[Sighting]) -> Chain | None:
        if self._chain is None and any(sighting.hints is not None for sighting in sightings):
            self._chain = self._make()
        return self._chain
