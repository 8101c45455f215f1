"""What a forecast in whole numbers holds, read fairly: of a true one it is as much as it says, however few it counts.

From ``low`` to ``high`` lie more than 80 % of captures, since both numbers count as a whole. Here each counts by the
part of its chance that lies between the two quantiles. (Called a randomized probability integral transform.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.evidence.measures import HIGH, LOW

if TYPE_CHECKING:
    from sharc_crawler.evidence.measures import Expected


def fair(expected: Expected, found: dict[str, float]) -> float:
    """How much of the chance of what was lost lies between the two quantiles: 0 or 1 but at the edges.

    A whole number k stands for k - 1/2 to k + 1/2.
    """
    lost = found["pages"] - found["counted"]
    least = level(expected, found["deviation"], lost - 0.5) if lost else 0.0
    most = level(expected, found["deviation"], lost + 0.5) if found["counted"] else 1.0
    if most <= least:
        return float(LOW <= least <= HIGH)
    return max(0.0, min(most, HIGH) - max(least, LOW)) / (most - least)


def level(expected: Expected, deviation: float, lost: float) -> float:
    """The share of captures that are said to lose no more."""
    low, high = 1e-9, 1.0 - 1e-9
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if expected._lost(deviation, middle) <= lost else (low, middle)
    return low
