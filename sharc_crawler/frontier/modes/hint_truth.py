"""How likely hints are to be true, page by page: what tells of nothing does so of calm pages as of lively ones.

As in Busa-Fekete et al., *A Scalable Crawling Algorithm Utilizing Noisy Change-Indicating Signals*, WWW 2025: changes
of a page of rate λ are told of, and false signals come at a rate ν, the same for all. Of a page's signals a share
λ/(λ + ν) is true. ν is learned from the pages that were visited again because of a hint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.model import Rate

    Column = NDArray[np.float64]

TRUE, FALSE = 3.0, 0.1  #: hints of either kind that are supposed beforehand, of the calmest page
CALMEST = 1e-12  #: changes per second, at least
TRIED = 100  #: false rates


class HintTruth:
    """What hints were worth so far.

    >>> known, rates = HintTruth(), np.array([1e-6, 1e-4])
    >>> known.probability(rates).round(2).tolist()
    [0.97, 1.0]
    >>> for _ in range(20):
    ...     known.looked(1e-6, False)
    >>> known.probability(rates).round(2).tolist()
    [0.13, 0.94]
    """

    def __init__(self) -> None:
        self._rates: list[Rate] = []
        self._true: list[bool] = []

    def looked(self, rate: Rate, changed: bool) -> None:
        """A page of that rate was visited again: had it changed?"""
        self._rates.append(rate)
        self._true.append(changed)

    def probability(self, rates: Column) -> Column:
        """How likely hints for pages of these rates are true."""
        if not len(rates):
            return np.zeros(0)
        own = np.maximum(rates, CALMEST)
        looked = np.maximum([own.min(), own.min(), *self._rates], CALMEST)
        true = np.array([TRUE, 0.0, *self._true], np.float64)
        false = np.array([0.0, FALSE, *(not one for one in self._true)], np.float64)
        tried = np.geomspace(looked.min() / 100, looked.max() * 100, TRIED)
        shares = looked / (looked + tried[:, None])
        likelihood = (true * np.log(shares) + false * np.log1p(-shares)).sum(1)
        found: Column = own / (own + tried[likelihood.argmax()])
        return found
