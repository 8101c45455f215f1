"""How far a site's rates vary together: busy days, quiet weeks, rebuilds, common errors of rates.

Rates predict how many pages change in a time. The actual number deviates by more than chance, and more so the shorter
the time is. A site's history shows by how much (:mod:`~sharc_crawler.rates.swings_learned`); with little history a
usual value is assumed. Rebuilds are treated separately (:mod:`~sharc_crawler.rates.rebuilds`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from sharc_crawler.model import Seconds

HOUR, DAY = 3_600.0, 86_400.0
# Rounded medians over four histories (benchmarks/bench_expected.py: needed).
STEADY = 0.2  #: relative deviation that no length of time averages out
BURSTS = 0.8  #: relative deviation of a day (people, robots), which longer times average out
#: Pages edited at once, as a capture sees them. A random change of a wiki is one of 6.1 or 9.3 pages changed within ten
#: minutes (in two years); half of the others fall into the intervals of their own visits. On large sites bursts hide
#: that; on small ones it is most of the uncertainty.
GROUP = 4.0
KNOTS = tuple(DAY * 2**k for k in range(-3, 9))  #: lengths of time: three hours to 256 days


class Swings(NamedTuple):
    """Relative deviations, beyond chance, of the number of changes of all pages, by length of time.

    >>> [round(Swings.usual().at(days * DAY), 2) for days in (1, 14, 30)]
    [0.82, 0.3, 0.25]
    """

    deviations: tuple[float, ...]  #: at :data:`KNOTS`
    group: float = 1.0  #: pages edited at once; 1 if the deviations include that
    rebuilds: float = 0.0  #: rebuilds per second
    touched: float = 0.0  #: share of the pages that a rebuild touches

    @classmethod
    @lru_cache(maxsize=16)  # asked for each part of a site
    def usual(cls, level: float = 0.0) -> Swings:
        """Return usual values; ``level``: variance of the logarithm of the rates' level (0: from lastmods)."""
        return cls(tuple(usual(length, level) for length in KNOTS), GROUP)

    def at(self, length: Seconds) -> float:
        """Return the deviation for a length of time."""
        place = min(max(math.log2(max(length, HOUR) / KNOTS[0]), 0.0), len(KNOTS) - 1.0)
        low = min(int(place), len(KNOTS) - 2)
        low_part, high_part = self.deviations[low : low + 2]
        return low_part + (high_part - low_part) * (place - low)

    def rebuild(self, length: Seconds) -> float:
        """Return the probability of a rebuild within a length of time."""
        return -math.expm1(-self.rebuilds * length)


def usual(length: Seconds, level: float = 0.0) -> float:
    """Return the usual deviation: steady part, bursts in the coming time, and that of the rates' level.

    >>> round(usual(30 * DAY), 2)
    0.25
    """
    return math.sqrt(STEADY**2 + BURSTS**2 * DAY / max(length, HOUR) + level)
