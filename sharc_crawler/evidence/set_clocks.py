"""Servers' clocks that were far off and set right during a capture: later answers are no copies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.evidence.intervals import DATE_PRECISION, FAR, MOST
from sharc_crawler.model import Outcome

LAST = 5  #: minimum of visits since the clock was set


def now_right(answer: Outcome, ahead: NDArray[np.float64]) -> bool:
    """Has an answer our own clock's time, like most visits before T since the last one that was far ahead?

    ``ahead``: of the visits before T. Copies by a clock that is ahead would have to be exactly that old.

    >>> from sharc_crawler.model import Outcome, Result
    >>> fresh = Outcome(Result.OK, 1000.5, 1000.6, date=1000.0)
    >>> now_right(fresh, np.array([3600.0] * 9 + [-0.5] * 5)), now_right(fresh, np.array([3600.0] * 9 + [-0.5] * 4))
    (True, False)
    """
    since = ahead[np.flatnonzero(ahead > FAR)[-1] + 1 :]
    agree = np.count_nonzero(abs(since) <= DATE_PRECISION)
    ours = answer.date is not None and abs(answer.date - answer.started) <= DATE_PRECISION
    return ours and len(since) >= LAST and bool(agree >= MOST * len(since))
