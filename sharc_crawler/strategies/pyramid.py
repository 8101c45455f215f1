"""The pyramid: all visits, then all revisits in reverse order, around the last page's single download.

The slots left have the intervals 0, 2Δ, 4Δ, ...; the next visit is the one with the longest interval.
"""

from __future__ import annotations

from collections.abc import Sequence

from sharc_crawler.model import PageId, Plan
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.classes import Classes, Planner, Run
from sharc_crawler.strategies.phases import PhasedStrategy
from sharc_crawler.strategies.planned import PlannedPages


class PyramidStrategy(PhasedStrategy):
    """Follows a planner, offline and online."""

    def __init__(self, setting: Setting, planner: Planner, *, attested_apart: bool = False) -> None:
        super().__init__(setting, "lifo", apex=not attested_apart)  # with lastmods, T is a sitemap's download
        self._planner = planner
        self._pages = PlannedPages(self._plan, setting.prior, attested_apart=attested_apart)
        self._pages.bounded = setting.bounded
        self._may_scout = not attested_apart

    def _plan(self, classes: Classes) -> list[Run]:
        return self._planner(classes, 2 * self.setting.step)

    def _put(self, candidates: Candidates) -> None:
        if self._may_scout and len(candidates):  # decided once, at the first pages
            self._may_scout = False
            if self.setting.size > len(candidates):
                from sharc_crawler.strategies.scout import Scout  # only if more pages are expected than known

                self._pages.scout = Scout()
        self._pages.put(candidates)

    def _take(self) -> tuple[PageId, Plan]:
        missing = max(0, self.setting.size - self.visits - len(self._pages))  # expected, but undiscovered
        taken = self._pages.take(missing, self.setting.step)
        return taken.page, taken.plan

    def _discard(self, page: PageId) -> bool:
        return self._pages.discard(page) is not None

    def _waiting(self) -> int:
        return len(self._pages)

    def revisits_ahead(self) -> list[PageId]:
        """Return the revisits: more is known now than when they were planned."""
        return self._ahead()

    def linked(self, pages: Sequence[PageId]) -> None:
        """Tell the scout which pages are linked to."""
        if self._pages.scout is not None:
            self._pages.scout.linked(pages)

    def reprice(self, page: PageId, rate: float) -> None:
        """Move a waiting page to its new class."""
        self._pages.reprice(page, rate)
