"""The worst that misplacing pages can do to the blur of a single-visit capture (Theorem 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.errors import UsageError
from sharc_crawler.evidence.blur import penalty
from sharc_crawler.evidence.measured import check_measured

if TYPE_CHECKING:
    from numpy.typing import NDArray


def worst_case_slots(rates: NDArray[np.float64], misplaced: int) -> NDArray[np.int64]:
    """The slot (from 0) of each page when the hottest ``misplaced`` pages take the outermost slots, hottest outermost.

    The others are in organ pipes on the slots that are left; with none misplaced that is the optimum.

    >>> worst_case_slots(np.array([1.0, 2.0, 3.0, 4.0]), 0)
    array([0, 3, 1, 2])
    >>> worst_case_slots(np.array([1.0, 2.0, 3.0, 4.0]), 2)
    array([1, 2, 3, 0])
    """
    pages = len(rates)
    if not 0 <= misplaced <= pages:
        raise UsageError(f"misplaced={misplaced} must be between 0 and the number of pages, {pages}")
    check_measured(pages, rates, None)
    outermost_first = np.argsort(-_penalties(pages), kind="stable")
    coldest_first = np.argsort(rates, kind="stable")
    order = np.concatenate((coldest_first[pages - misplaced :][::-1], coldest_first[: pages - misplaced]))
    slots = np.empty(pages, np.int64)
    slots[order] = outermost_first
    return slots


def worst_case_increase(rates: NDArray[np.float64], misplaced: int, step: float = 1.0) -> float:
    """How much the sum of λω grows over the optimum's when the worst ``misplaced`` pages are misplaced.

    In changes times seconds; divided by the capture's length (n+1 pages: nΔ) it is the increase of the blur.

    >>> worst_case_increase(np.array([1, 1, 2, 2, 3, 3, 4, 4, 5, 5.0]), 4)  # Example 6, over 755
    176.0
    """
    penalties = _penalties(len(rates)) * step**2
    worst, best = (penalties[worst_case_slots(rates, count)] for count in (misplaced, 0))
    return float(rates @ (worst - best))


def _penalties(pages: int) -> NDArray[np.float64]:
    return penalty(np.arange(pages, dtype=np.float64), (0.0, max(pages - 1.0, 1.0)))
