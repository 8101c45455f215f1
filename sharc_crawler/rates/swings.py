"""How far a site's changes swing together: busy days and quiet weeks, rebuilds, what rates are wrong by as a body.

Rates foretell how many pages change in a time; what comes is off by more than chance, and the more, the shorter the
time is. How far, a site's own history tells (:mod:`~sharc_crawler.rates.swings_learned`); where there is none, or
little of it, a stated figure is held. Rebuilds are told apart (:mod:`~sharc_crawler.rates.rebuilds`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from sharc_crawler.model import Seconds

HOUR, DAY = 3_600.0, 86_400.0
# Medians over four histories, as rounded as they deserve (benchmarks/bench_expected.py: needed).
STEADY = 0.2  #: relative deviation that no length of time averages out
BURSTS = 0.8  #: of a day: people come and go, robots edit; over longer they average out
#: Pages that are edited at once, as a capture meets them. A change of a wiki, drawn at random, is one of 6.1 and 9.3
#: pages changed within ten minutes of one another (two years); half of the others fall into the intervals of their own
#: visits. On large sites bursts hide that, on small ones it is most of what is uncertain.
GROUP = 4.0
KNOTS = tuple(DAY * 2**k for k in range(-3, 9))  #: lengths of time that are told of: three hours to 256 days


class Swings(NamedTuple):
    """Relative deviations of the number of changes in some lengths of time, of all pages together, beyond chance.

    >>> [round(Swings.usual().at(days * DAY), 2) for days in (1, 14, 30)]
    [0.82, 0.3, 0.25]
    """

    deviations: tuple[float, ...]  #: at :data:`KNOTS`
    group: float = 1.0  #: pages edited at once; 1 where the deviations hold that, too
    rebuilds: float = 0.0  #: of many pages at once, per second
    touched: float = 0.0  #: share of the pages that one touches

    @classmethod
    @lru_cache(maxsize=16)  # asked for each part of a site
    def usual(cls, watched: Seconds = math.inf) -> Swings:
        """What is held of a site whose rates were told by so long a time that was watched, and of words alone."""
        return cls(tuple(usual(length, watched) for length in KNOTS), GROUP)

    def at(self, length: Seconds) -> float:
        """In a time of this length."""
        place = min(max(math.log2(max(length, HOUR) / KNOTS[0]), 0.0), len(KNOTS) - 1.0)
        low = min(int(place), len(KNOTS) - 2)
        low_part, high_part = self.deviations[low : low + 2]
        return low_part + (high_part - low_part) * (place - low)

    def rebuild(self, length: Seconds) -> float:
        """The chance that one comes in a time of this length."""
        return -math.expm1(-self.rebuilds * length)


def usual(length: Seconds, watched: Seconds = math.inf) -> float:
    """The stated figure: steady part, bursts in the time to come, and bursts in the time that the rates are of.

    >>> round(usual(30 * DAY, DAY), 2)
    0.84
    """
    return math.sqrt(STEADY**2 + BURSTS**2 * (DAY / max(length, HOUR) + DAY / max(watched, HOUR)))
