"""Servers' clocks that were far off and set right during a capture: later answers are no copies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.evidence.intervals import DATE_PRECISION, FAR, MOST

LAST = 5  #: minimum of visits since the clock was set


def set_right(ahead: NDArray[np.float64]) -> bool:
    """Have most visits before T our own clock's time, since the last one whose Date was far ahead?

    >>> set_right(np.array([3600.0] * 9 + [-0.5] * 5)), set_right(np.array([3600.0] * 9 + [-0.5] * 4))
    (True, False)
    """
    since = ahead[np.flatnonzero(ahead > FAR)[-1] + 1 :]
    return len(since) >= LAST and bool(np.count_nonzero(abs(since) <= DATE_PRECISION) >= MOST * len(since))
