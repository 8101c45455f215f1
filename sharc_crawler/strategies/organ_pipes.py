"""Organ pipes: the hottest pages in the middle of the capture, for the least blur (Theorem 2 of the paper)."""

from __future__ import annotations

import math

from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.leads import Leads
from sharc_crawler.strategies.ranked import RankedStrategy
from sharc_crawler.strategies.ranking import octaves_of

EARLY = 1e-9  #: a slot this much (of a step) before its time is on time


class _OrganPipes(RankedStrategy):
    """Each remaining slot's penalty against the one at hand: as many pages as slots are worse are colder.

    Pages discovered later are laid over the slots then left.
    """

    def _rank(self) -> int:
        return max(0, self._waiting() - 1 - max(0, self._slots_to_mirror()))

    def _slots_to_mirror(self) -> int:
        """How many slots ahead the other side of the middle has the same penalty; <= 0: the middle is past."""
        size = self.visits + self._waiting()
        if self.setting.observation is None:
            return size - 1 - 2 * self.visits
        middle = sum(self.setting.observation) / 2
        if self.revisits:  # a page's two downloads lie `size` steps apart, on average centred on the middle
            middle -= size * self.setting.step / 2
        return math.floor(2 * (middle - self.now) / self.setting.step + EARLY)


class SharcOffline(_OrganPipes):
    """Single visits, the hottest nearest to the middle of the observation interval (Algorithm 1, Theorem 3).

    >>> from sharc_crawler.strategies.base import Candidates, Setting
    >>> offline = SharcOffline(Setting())
    >>> offline.add(Candidates.of([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]))
    >>> [offline.next(now).page for now in range(6)]
    [0, 2, 4, 5, 3, 1]
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, revisits="none")


class SharcRevisits(_OrganPipes):
    """Visit and revisit, each in the order of organ pipes (Definition 4): the greedy diagonal, near the optimum."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, revisits="fifo")


class SharcOnline(RankedStrategy):
    """Organ pipes while the site is being discovered (Algorithm 2, eqs. 11-16).

    It departs from Algorithm 2 in the first stage. There the coldest page is taken as long as less than half of the
    site is known; so where cold pages lead nowhere, they are spent soon, and then the hot ones, long before the middle.
    Here pages found are watched: if they are colder than those that they are found on, a hotter page may come first
    that leads to many (``leads.py``).
    """

    def __init__(self, setting: Setting, revisits: str = "none") -> None:
        super().__init__(setting, revisits)
        self._leads = Leads()
        self._led = False  # the last visit was one that the leads named

    def _found(self, heats: list[float]) -> None:
        if self._led:
            self._leads.found(octaves_of(heats))

    def _rank(self) -> int:
        downloaded, detected = len(self._visited), self._pages.count
        known = downloaded + detected
        size = max(self.setting.size, known)
        self._led = known <= size / 2
        if self._led:  # ascending
            return self._leads.follow(self._pages, size - known)
        if downloaded <= size / 2:  # middle
            return min(downloaded, detected - 1)
        return detected - 1  # descending
