"""A clock that was far off, and set right while a capture ran: what came after need not count as copies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.evidence.intervals import DATE_PRECISION, FAR, MOST
from sharc_crawler.model import Outcome

LAST = 5  #: visits by which both clocks agree


def now_right(answer: Outcome, ahead: NDArray[np.float64]) -> bool:
    """Does an answer bear the time of our own clock, as did most of several before T, since one was far ahead of it?

    ``ahead``: how far, of the visits before T. Copies of a server whose clock is ahead would have to be just so old.

    >>> from sharc_crawler.model import Outcome, Result
    >>> fresh = Outcome(Result.OK, 1000.5, 1000.6, date=1000.0)
    >>> now_right(fresh, np.array([3600.0] * 9 + [-0.5] * 5)), now_right(fresh, np.array([3600.0] * 9 + [-0.5] * 4))
    (True, False)
    """
    since = ahead[np.flatnonzero(ahead > FAR)[-1] + 1 :]
    agree = np.count_nonzero(abs(since) <= DATE_PRECISION)
    ours = answer.date is not None and abs(answer.date - answer.started) <= DATE_PRECISION
    return ours and len(since) >= LAST and bool(agree >= MOST * len(since))
