"""Organ pipes: visit the hottest pages in the middle of the capture, for the least blur (Theorem 2 of the paper)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from math import exp2

from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.ranked import RankedStrategy
from sharc_crawler.strategies.ranking import Ranking, octaves_of


class Leads:
    """Learns which waiting page leads most cheaply to undiscovered pages, by what former visits found.

    A page visited before the middle of the capture costs blur in proportion to its heat. If cold pages run out, hot
    ones fill the slots there. So a hotter page may come early for the colder pages that it leads to. This is scheduling
    under precedence with unknown successors. With known ones the best order is by the least heat per page, where a page
    and its successors count together (Horn, Single-machine job sequencing with treelike precedence ordering and linear
    delay penalties, SIAM J. Appl. Math. 23, 1972). Here successors are expected: as many pages as visits to the page's
    octave of heat have found on average, as much colder than the page as found pages were than those naming them, and
    at most as hot as found pages are on average.

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
        self._found: Counter[int] = Counter()  # pages found, by the octave of the page visited
        self._octaves = 0  # sum of the octaves of all pages found
        self._steps = 0  # sum of their differences from the octave of the page visited
        self._last = 0  # octave of the last visit
        self._chosen: int | None = None  # an octave whose pages are all next, unless pages are found

    def follow(self, waiting: Ranking, missing: int) -> int:
        """Return the rank of the page to visit now; pages found until the next call count as found on it."""
        coldest = waiting.octave(0)
        octave = coldest if coldest == self._chosen else self._best(coldest, waiting, missing)
        self._visits[octave] += 1
        self._last = octave
        return 0 if octave == coldest else waiting.first(octave)

    def found(self, octaves: Sequence[int]) -> None:
        """Enter the octaves of new pages."""
        if octaves:
            total = sum(octaves)
            self._found[self._last] += len(octaves)
            self._octaves += total
            self._steps += total - len(octaves) * self._last
            self._chosen = None

    def _best(self, coldest: int, waiting: Ranking, missing: int) -> int:
        """Return the octave with the least heat per page."""
        if self._steps >= 0:  # found pages are not colder
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
        """Return how many pages a visit to this octave finds on average; ``prior`` counts as one visit."""
        return (prior + self._found[octave]) / (1 + self._visits[octave])


def heat_per_page(octave: float, brings: float, below: float) -> float:
    """Return the mean heat of a page of this octave and the pages it ``brings``, of octave ``below`` or colder.

    >>> heat_per_page(0, 3, -2), heat_per_page(0, 3, 2)
    (0.4375, 1.0)
    """
    return (exp2(octave) + brings * exp2(min(octave, below))) / (1 + brings)


EARLY = 1e-9  #: tolerance, in steps, for a slot before its time


class _OrganPipes(RankedStrategy):
    """Picks the page by rank: as many waiting pages are hotter as remaining slots have a smaller penalty.

    Pages discovered later are laid over the slots then left.
    """

    def _rank(self) -> int:
        return max(0, self._waiting() - 1 - max(0, self._slots_to_mirror()))

    def _slots_to_mirror(self) -> int:
        """Return how many slots ahead the penalty is the same as now, beyond the middle; <= 0: the middle is past."""
        size = self.visits + self._waiting()
        if self.setting.observation is None:
            return size - 1 - 2 * self.visits
        middle = sum(self.setting.observation) / 2
        if self.revisits:  # a page's two downloads are `size` steps apart, centred on the middle on average
            middle -= size * self.setting.step / 2
        return math.floor(2 * (middle - self.now) / self.setting.step + EARLY)


class SharcOffline(_OrganPipes):
    """Makes single visits, the hottest nearest to the middle of the observation interval (Algorithm 1, Theorem 3).

    >>> from sharc_crawler.strategies.base import Candidates, Setting
    >>> offline = SharcOffline(Setting())
    >>> offline.add(Candidates.of([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]))
    >>> [offline.next(now).page for now in range(6)]
    [0, 2, 4, 5, 3, 1]
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, revisits="none")


class SharcRevisits(_OrganPipes):
    """Makes visits, then revisits, both in the order of organ pipes (Definition 4): a greedy order near the optimum."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, revisits="fifo")


class SharcOnline(RankedStrategy):
    """Organ pipes while the site is being discovered (Algorithm 2, eqs. 11-16).

    It differs from Algorithm 2 in the first stage. There the coldest page is next until half of the site is known. If
    cold pages lead nowhere, they are soon used up, and hot ones follow long before the middle. Here, if found pages are
    colder than those naming them, a hotter page that leads to many may come first (:class:`Leads`).
    """

    def __init__(self, setting: Setting, revisits: str = "none") -> None:
        super().__init__(setting, revisits)
        self._leads = Leads()
        self._led = False  # the last visit was chosen by the leads

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
