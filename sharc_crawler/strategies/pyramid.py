"""The pyramid: all visits, then all revisits in the reverse order, around the last page's single download.

The slots that are left have the intervals 0, 2Δ, 4Δ, ...; the visit to make is the one on the longest interval.
"""

from __future__ import annotations

from collections.abc import Sequence

from sharc_crawler.model import PageId, Plan
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.classes import Classes, Planner, Run
from sharc_crawler.strategies.phases import PhasedStrategy
from sharc_crawler.strategies.planned import PlannedPages


class PyramidStrategy(PhasedStrategy):
    """Follows a planner, offline and online alike."""

    def __init__(self, setting: Setting, planner: Planner, *, attested_apart: bool = False) -> None:
        super().__init__(setting, "lifo", apex=not attested_apart)  # T is then a sitemap's download, not a page's
        self._planner = planner
        self._pages = PlannedPages(self._plan, setting.prior, attested_apart=attested_apart)
        self._pages.bounded = setting.bounded
        self._may_scout = not attested_apart

    def _plan(self, classes: Classes) -> list[Run]:
        return self._planner(classes, 2 * self.setting.step)

    def _put(self, candidates: Candidates) -> None:
        if self._may_scout and len(candidates):  # the first pages: from now on the known ones do not become fewer
            self._may_scout = False
            if self.setting.size > len(candidates):
                from sharc_crawler.strategies.scout import Scout  # where more pages are expected than are known

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
        """The order of the revisits is open: the plan was made with what was known before the visits."""
        return self._ahead()

    def linked(self, pages: Sequence[PageId]) -> None:
        """Pages that many link to are likely to have links."""
        if self._pages.scout is not None:
            self._pages.scout.linked(pages)

    def reprice(self, page: PageId, rate: float) -> None:
        """Move a waiting page to its new class."""
        self._pages.reprice(page, rate)
