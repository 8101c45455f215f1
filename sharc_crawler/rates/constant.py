"""One rate for all pages."""

from __future__ import annotations

from collections.abc import Sequence

from sharc_crawler.errors import UsageError
from sharc_crawler.model import Instant, Rate, RateEstimate, Sighting
from sharc_crawler.rates.base import ONCE_A_MONTH


class ConstantRates:
    """A source that gives every page the same rate and never abstains.

    >>> from sharc_crawler.model import Sighting
    >>> ConstantRates(2.0).rates([Sighting("http://h/")], now=0.0)[0].rate
    2.0
    """

    def __init__(self, rate: Rate = ONCE_A_MONTH) -> None:
        if not isinstance(rate, int | float) or not 0 <= rate < float("inf"):
            raise UsageError(f"rate={rate!r} of the constant source must be a number of changes per second, 0 or more")
        self._estimate = RateEstimate(rate, "constant")

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> list[RateEstimate]:  # noqa: ARG002 - the port's
        """Return one estimate per sighting."""
        return [self._estimate] * len(sightings)
