"""What a simulated crawler believes about each page, and the rate source that gives it to the frontier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.errors import DataError
from sharc_crawler.model import Instant, RateEstimate, Sighting


@dataclass(frozen=True, slots=True)
class Belief:
    """A simulated crawler's knowledge; arrays have one entry per page of the site."""

    source: str  #: name of the rates' source
    rates: NDArray[np.float64]  #: changes per second, >= 0
    shapes: NDArray[np.float64]  #: shapes of the rates' Gamma posteriors; inf: point estimates
    utilities: NDArray[np.float64]  #: Olston and Pandey's utilities, from the full history of changes
    attested: NDArray[np.bool_]  #: whether the page's lastmod is trusted
    guessed: int = 0  #: number of pages for which no source knew a rate
    seen: Instant | None = None  #: when the archive last saw all pages; None: never
    again: bool = True  #: whether the source may be asked again after sitemaps have been read again

    def __post_init__(self) -> None:
        good = np.isfinite(self.rates) & (self.rates >= 0)
        if not good.all():
            page = int(np.argmin(good))
            raise DataError(f"rates={self.source}: page {page} has the rate {self.rates[page]}; it is a number >= 0")


class BelievedRates:
    """The frontier's rate source.

    ``told`` gives the new belief when sitemaps are read again at an instant; None: the belief stays.
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
        """None: reports of simulated captures do not need them."""

    def weight(self, sighting: Sighting) -> float:  # noqa: ARG002 - the port's
        """All pages have the same weight."""
        return 1.0
