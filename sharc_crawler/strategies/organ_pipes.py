"""Organ pipes: the hottest pages in the middle of the capture, for the least blur (Theorem 2 of the paper)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from math import exp2

from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.ranked import RankedStrategy
from sharc_crawler.strategies.ranking import Ranking, octaves_of


class Leads:
    """Which waiting page leads most cheaply to pages that are missing: learns what visits bring, made as it says.

    What is visited before the middle of a capture costs blur in proportion to its heat, and the slots there will be
    filled: if cold pages run out, by hot ones. So a page may be worth its heat for the colder pages that it brings.
    This is scheduling under precedence, where what is behind a page is known only when it has been visited. The order
    that is best where all is known takes first what has the least heat per page, a page and what it brings taken
    together (Horn, Single-machine job sequencing with treelike precedence ordering and linear delay penalties, SIAM
    J. Appl. Math. 23, 1972). Here it is what a page is expected to bring: as many pages as visits to pages of its
    octave of heat have brought, as much colder than it as pages found so far were than those that they were found on,
    and at most as hot as these are on average.

    >>> from sharc_crawler.strategies.ranking import Ranking
    >>> leads, waiting = Leads(), Ranking()
    >>> waiting.put([0], [1000.0])
    >>> waiting.pop(leads.follow(waiting, missing=66))
    0
    >>> waiting.put([*range(1, 7)], [1.0, 1.1, 1.2, 1.3, 1.4, 2.0])
    >>> leads.found([0, 0, 0, 0, 0, 1])  # far colder than the page that they were found on: so are those below them
    >>> [waiting.pop(leads.follow(waiting, missing=60)) for _ in range(3)]  # two pages lead nowhere: look elsewhere
    [1, 2, 6]
    """

    def __init__(self) -> None:
        self._visits: Counter[int] = Counter()  # by octave
        self._found: Counter[int] = Counter()  # pages, by the octave of the page visited
        self._octaves = 0  # of all pages found, summed
        self._steps = 0  # from the octave of the page visited up to that of each found on it, summed
        self._last = 0  # octave of the last visit
        self._chosen: int | None = None  # the coldest octave: its pages are next, one and all, if nothing is found

    def follow(self, waiting: Ranking, missing: int) -> int:
        """The rank of the page to visit now; what is found until the next visit is found on it."""
        coldest = waiting.octave(0)
        octave = coldest if coldest == self._chosen else self._best(coldest, waiting, missing)
        self._visits[octave] += 1
        self._last = octave
        return 0 if octave == coldest else waiting.first(octave)

    def found(self, octaves: Sequence[int]) -> None:
        """Pages of these octaves were not known before."""
        if octaves:
            total = sum(octaves)
            self._found[self._last] += len(octaves)
            self._octaves += total
            self._steps += total - len(octaves) * self._last
            self._chosen = None

    def _best(self, coldest: int, waiting: Ranking, missing: int) -> int:
        """The octave with the least heat per page."""
        if self._steps >= 0:  # what is found on a page is not colder than it
            return coldest
        pages, prior = self._found.total(), missing / waiting.count
        mean, step = self._octaves / pages, self._steps / pages
        costs = (
            (heat_per_page(octave, self._brings(octave, prior), min(mean, octave + step)), octave)
            for octave in waiting.octaves()
        )
        (_, best), *others = sorted(costs)
        if best == coldest and (not others or exp2(best) <= others[0][0]):
            self._chosen = best
        return best

    def _brings(self, octave: int, prior: float) -> float:
        """How many pages a visit to this octave is likely to bring: ``prior``, and what visits have brought."""
        return (prior + self._found[octave]) / (1 + self._visits[octave])


def heat_per_page(octave: float, brings: float, below: float) -> float:
    """Of a page of this octave with pages of the octave ``below`` that it brings; hotter ones need not come next.

    >>> heat_per_page(0, 3, -2), heat_per_page(0, 3, 2)
    (0.4375, 1.0)
    """
    return (exp2(octave) + brings * exp2(min(octave, below))) / (1 + brings)


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
