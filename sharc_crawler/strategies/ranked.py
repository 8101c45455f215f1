"""Orders by rank: the pages that wait, from coldest to hottest, and a rule that names the place of the next."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING

from sharc_crawler.model import Plan
from sharc_crawler.strategies.phases import PhasedStrategy
from sharc_crawler.strategies.waiting import WaitingPages

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sharc_crawler.model import PageId
    from sharc_crawler.strategies.base import Candidates, Setting

CLASSES = 1024  #: exact up to here; then rates are binned to 1 % or more


class RankedStrategy(PhasedStrategy):
    """A subclass names the rank of the next page; heat is weight times rate."""

    def __init__(self, setting: Setting, revisits: str) -> None:
        super().__init__(setting, revisits)
        self._pages = WaitingPages(CLASSES)

    @abstractmethod
    def _rank(self) -> int:
        """The place of the next visit's page among the waiting, from 0 (coldest)."""

    def _put(self, candidates: Candidates) -> None:
        columns = (candidates.pages, self._heats(candidates), candidates.weights)
        for page, rate, weight in zip(*(column.tolist() for column in columns), strict=True):
            self._pages.put(page, rate, weight, math.inf)

    def _heats(self, candidates: Candidates) -> NDArray[np.float64]:
        """What pages are ranked by, before weights: their mean rates."""
        return candidates.rates

    def _take(self) -> tuple[PageId, Plan]:
        return self._pages.pop(self._pages.at(self._rank())), Plan.HOPEFUL

    def _discard(self, page: PageId) -> bool:
        return self._pages.discard(page) is not None

    def _waiting(self) -> int:
        return len(self._pages)

    def reprice(self, page: PageId, rate: float) -> None:
        """Move a waiting page to its new place."""
        self._pages.reprice(page, rate)


class HottestFirst(RankedStrategy):
    """Among the known pages, the one that changes most."""

    def __init__(self, setting: Setting, revisits: str = "lifo") -> None:
        super().__init__(setting, revisits)

    def _rank(self) -> int:
        return self._waiting() - 1


class OlstonPandey(HottestFirst):
    """The highest utility first: the blur of a page downloaded at the end of the observation interval.

    For that, ``Candidates.utilities`` are (1/(o_e-o_s)) Σ (h_j - o_s) over the history of changes; by default the rate.
    Source: Olston and Pandey, Recrawl scheduling based on information longevity, WWW 2008, as the paper applies it.
    """

    def __init__(self, setting: Setting, revisits: str = "none") -> None:
        super().__init__(setting, revisits)

    def _heats(self, candidates: Candidates) -> NDArray[np.float64]:
        return candidates.utilities

    def reprice(self, page: PageId, rate: float) -> None:
        """Utilities do not follow the rates."""


class HottestLast(RankedStrategy):
    """Among the known pages, the one that changes least."""

    def __init__(self, setting: Setting, revisits: str = "lifo") -> None:
        super().__init__(setting, revisits)

    def _rank(self) -> int:
        return 0
