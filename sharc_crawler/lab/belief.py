"""What a simulated crawler holds true of each page, and how its strategy is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.errors import DataError
from sharc_crawler.model import Instant, RateEstimate, Sighting


@dataclass(frozen=True, slots=True)
class Belief:
    """One entry per page of the site."""

    source: str  #: where the rates come from
    rates: NDArray[np.float64]  #: changes per second, >= 0
    shapes: NDArray[np.float64]  #: of Gamma posteriors; inf: point estimates
    utilities: NDArray[np.float64]  #: Olston and Pandey's, from the full history of changes
    attested: NDArray[np.bool_]  #: the page's lastmod is trusted
    guessed: int = 0  #: pages that no source knows a rate of, of all that were asked
    seen: Instant | None = None  #: when the archive saw all pages last; None: it never did
    again: bool = True  #: the source may be asked again, when sitemaps have been read again

    def __post_init__(self) -> None:
        good = np.isfinite(self.rates) & (self.rates >= 0)
        if not good.all():
            page = int(np.argmin(good))
            raise DataError(f"rates={self.source}: page {page} has the rate {self.rates[page]}; it is a number >= 0")


class BelievedRates:
    """The frontier's source of rates.

    ``told``: what is believed once sitemaps have been read again at an instant, where that counts.
    """

    def __init__(
        self, belief: Belief, numbers: dict[str, int], told: Callable[[Instant], Belief] | None = None
    ) -> None:
        self._belief = belief
        self._numbers = numbers
        self._told = told
        self._asked = False

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate]:
        """One estimate per sighting."""
        if self._told is not None and self._asked and sightings and all(one.hints for one in sightings):
            self._belief = self._told(now)
        self._asked = True
        return [self._estimate(self._numbers[sighting.url]) for sighting in sightings]

    def _estimate(self, page: int) -> RateEstimate:
        belief = self._belief
        return RateEstimate(float(belief.rates[page]), belief.source, float(belief.shapes[page]))

    def swings(self) -> None:
        """Nothing is reported of a simulated capture that it would be needed for."""

    def weight(self, sighting: Sighting) -> float:  # noqa: ARG002 - the port's
        """All pages count alike."""
        return 1.0
