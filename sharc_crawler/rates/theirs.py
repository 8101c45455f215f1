"""A source of rates from somebody else's package: what it answers is looked at, and its faults are told as its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sharc_crawler.errors import SharcError, UsageError
from sharc_crawler.model import RateEstimate
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sharc_crawler.model import Instant, Sighting
    from sharc_crawler.rates.base import RateSource

    Rates = Callable[[Sequence[Sighting], Instant], Sequence[RateEstimate | None]]


def checked(source: RateSource) -> Rates:
    """Its ``rates``; raises :class:`~sharc_crawler.errors.UsageError` where that fails, or answers what is none.

    >>> class Short:
    ...     def rates(self, sightings, now): return []
    >>> checked(Short())(["a page"], 0.0)
    Traceback (most recent call last):
    ...
    sharc_crawler.errors.UsageError: the rate source Short gave 0 answers for 1 page: one for each is needed
    """
    name = type(source).__qualname__

    def rates(sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate | None]:
        try:
            found = source.rates(sightings, now)
            given = len(found)
        except SharcError:
            raise
        except Exception as error:
            raise UsageError(f"the rate source {name} failed: {type(error).__name__}: {error}") from error
        if given != len(sightings):
            pages = counted(len(sightings), "page")
            raise UsageError(f"the rate source {name} gave {given:,} answers for {pages}: one for each is needed")
        for one in found:
            if one is not None and not (isinstance(one, RateEstimate) and 0 <= one.rate < math.inf):
                raise UsageError(f"the rate source {name} gave {one!r}: RateEstimate(rate, source) or None is needed")
        return found

    return rates
