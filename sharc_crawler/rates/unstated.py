"""Rates of a site that states nothing of its changes, and of which there is no history: each page's is the prior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sharc_crawler.model import Instant, RateEstimate, Sighting
from sharc_crawler.rates.base import ONCE_A_MONTH, PRIOR

if TYPE_CHECKING:
    from sharc_crawler.rates.chain import Chain
    from sharc_crawler.rates.swings import Swings

GUESS = RateEstimate(ONCE_A_MONTH, PRIOR, shape=1.0, spread=ONCE_A_MONTH)


class UnstatedRates:
    """What a chain of sources says that had nothing to go by; with the site's first hint there is one.

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
