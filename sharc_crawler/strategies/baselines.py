"""The orders of ordinary crawlers, by discovery alone."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque

from sharc_crawler.model import PageId, Plan
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.phases import PhasedStrategy


class _Discovery(PhasedStrategy):
    """Keeps waiting pages in one line."""

    def __init__(self, setting: Setting, revisits: str = "lifo") -> None:
        super().__init__(setting, revisits)
        self._line: deque[PageId] = deque()
        self._left: set[PageId] = set()  # pages of the line that still wait

    def _put(self, candidates: Candidates) -> None:
        pages = candidates.pages.tolist()
        self._left.update(pages)
        self._queue(pages)

    @abstractmethod
    def _queue(self, pages: list[PageId]) -> None:
        """Add pages found together to the line."""

    def _take(self) -> tuple[PageId, Plan]:
        while (page := self._line.popleft()) not in self._left:
            pass
        self._left.remove(page)
        return page, Plan.HOPEFUL

    def _discard(self, page: PageId) -> bool:
        waits = page in self._left
        self._left.discard(page)
        return waits

    def _waiting(self) -> int:
        return len(self._left)

    def reprice(self, page: PageId, rate: float) -> None:
        """Do nothing: rates do not matter here."""


class Bfs(_Discovery):
    """Breadth first: in the order of discovery (Table 2 of the paper)."""

    def _queue(self, pages: list[PageId]) -> None:
        self._line.extend(pages)


class Dfs(_Discovery):
    """Depth first: the links of a page come before all else, in their order (Table 1 of the paper).

    >>> from sharc_crawler.strategies.base import Candidates, Setting
    >>> dfs = Dfs(Setting())
    >>> dfs.add(Candidates.of([1, 2], [0, 0]))
    >>> dfs.add(Candidates.of([3, 4], [0, 0]))
    >>> dfs.next(0).page
    3
    """

    def _queue(self, pages: list[PageId]) -> None:
        self._line.extendleft(reversed(pages))
