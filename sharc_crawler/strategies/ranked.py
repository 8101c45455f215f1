"""Strategies by rank: a rule picks the next page from the waiting ones, sorted from coldest to hottest."""

from __future__ import annotations

import math
import sys
from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.evidence.checks import check_values
from sharc_crawler.model import PageId, Plan
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.phases import HOPEFUL, PhasedStrategy
from sharc_crawler.strategies.ranking import Ranking

HOTTEST = sys.float_info.max  #: upper bound of heat


class RankedStrategy(PhasedStrategy):
    """Base of strategies by rank; heat is weight times rate."""

    def __init__(self, setting: Setting, revisits: str) -> None:
        super().__init__(setting, revisits)
        self._pages = Ranking()
        self._weights: dict[PageId, float] = {}  # those other than 1

    @abstractmethod
    def _rank(self) -> int:
        """Return the next page's rank among the waiting ones; 0: coldest."""

    def _put(self, candidates: Candidates) -> None:
        pages, heats, weights = candidates.pages.tolist(), self._utilities(candidates), candidates.weights.tolist()
        if weights.count(1.0) < len(weights):  # rare
            heats = np.minimum(heats * candidates.weights, HOTTEST)
            self._weights.update((page, weight) for page, weight in zip(pages, weights, strict=True) if weight != 1)
        hot = heats.tolist()
        self._pages.put(pages, hot)
        self._found(hot)

    def _utilities(self, candidates: Candidates) -> NDArray[np.float64]:
        """Return what pages are ranked by, before weights: mean rates."""
        return candidates.rates

    def _found(self, heats: list[float]) -> None:
        """Note the heats of new pages."""

    def _take(self) -> tuple[PageId, Plan]:
        return self._pages.pop(self._rank()), HOPEFUL

    def _discard(self, page: PageId) -> bool:
        return self._pages.discard(page)

    def _waiting(self) -> int:
        return self._pages.count

    def reprice(self, page: PageId, rate: float) -> None:
        """Move a waiting page to its new place."""
        if not 0 <= rate < math.inf:
            check_values(np.array([page]), "rate", np.array([rate]))
        self._pages.move(page, min(rate * self._weights.get(page, 1.0), HOTTEST))


class HottestFirst(RankedStrategy):
    """Visits the known page that changes most."""

    def __init__(self, setting: Setting, revisits: str = "lifo") -> None:
        super().__init__(setting, revisits)

    def _rank(self) -> int:
        return self._waiting() - 1


class OlstonPandey(HottestFirst):
    """Visits the page with the highest utility: the blur of a page downloaded at the end of the observation interval.

    ``Candidates.utilities`` must be (1/(o_e-o_s)) Σ (h_j - o_s) over the history of changes; the default is the rate.
    Source: Olston and Pandey, Recrawl scheduling based on information longevity, WWW 2008, as the paper applies it.
    """

    def __init__(self, setting: Setting, revisits: str = "none") -> None:
        super().__init__(setting, revisits)

    def _utilities(self, candidates: Candidates) -> NDArray[np.float64]:
        return candidates.utilities

    def reprice(self, page: PageId, rate: float) -> None:
        """Do nothing: utilities do not depend on rates."""


class HottestLast(RankedStrategy):
    """Visits the known page that changes least."""

    def __init__(self, setting: Setting, revisits: str = "lifo") -> None:
        super().__init__(setting, revisits)

    def _rank(self) -> int:
        return 0
