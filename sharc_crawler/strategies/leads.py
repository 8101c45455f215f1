"""Which waiting page leads most cheaply to pages that are missing: expected, but still undiscovered.

What is visited before the middle of a capture costs blur in proportion to its heat, and the slots there will be filled:
if cold pages run out, by hot ones. So a page may be worth its heat for the colder pages that it brings. This is
scheduling under precedence, where what is behind a page is known only when it has been visited. The order that is best
where all is known takes first what has the least heat per page, a page and what it brings taken together (Horn,
Single-machine job sequencing with treelike precedence ordering and linear delay penalties, SIAM J. Appl. Math. 23,
1972). Here it is what a page is expected to bring: as many pages as visits to pages of its octave of heat have brought,
as much colder than it as pages found so far were than those that they were found on, and at most as hot as these are on
average.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import exp2

from sharc_crawler.strategies.ranking import Ranking


class Leads:
    """Learns what visits bring, while they are made as it says.

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
