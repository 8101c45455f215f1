"""Pages that wait, from coldest to hottest: the page of any rank, whatever their number."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

import numpy as np
from sortedcontainers import SortedList

from sharc_crawler.strategies.page_numbers import ByPage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sharc_crawler.model import PageId

PAGE_BITS = 32
PAGE_MASK = (1 << PAGE_BITS) - 1
FRACTION_BITS = 52  #: of a double; before them is its exponent (no heat has a sign), which is BIAS for 1
BIAS = 1023
FEW = 8  #: pages that are put one by one sooner than together
_HEAT, _BITS = Struct("d"), Struct("q")


class Ranking:
    """Heats are exact; pages of equal heat are in the order of their numbers, which is that of their discovery.

    A page is one integer in a sorted list: the bits of its heat (as whole numbers they are in the order of the
    heats, none of which is negative), and behind them its number.

    >>> ranking = Ranking()
    >>> ranking.put(np.arange(4), np.array([0.3, 0.1, 0.3, 0.2]))
    >>> ranking.pop(3), ranking.pop(0), len(ranking)
    (0, 1, 2)
    """

    def __init__(self) -> None:
        self._keys = SortedList()
        self._bits = ByPage("q")  # of the heats of pages that wait, and 1; 0: it does not wait

    def __len__(self) -> int:
        return len(self._keys)

    def put(self, pages: NDArray[np.int64], heats: NDArray[np.float64]) -> None:
        """Pages begin to wait; heats are >= 0."""
        known = self._bits
        keys = []
        for page, bits in zip(pages.tolist(), (heats + 0.0).view(np.int64).tolist(), strict=True):  # -0.0 becomes 0.0
            known[page] = bits + 1
            keys.append(bits << PAGE_BITS | page)
        if len(keys) > FEW:
            self._keys.update(keys)
            return
        for key in keys:
            self._keys.add(key)

    def move(self, page: PageId, heat: float) -> None:
        """A page is as hot as this now, if it waits."""
        if self.discard(page):
            (bits,) = _BITS.unpack(_HEAT.pack(heat + 0.0))
            self._bits[page] = bits + 1
            self._keys.add(bits << PAGE_BITS | page)

    def pop(self, rank: int) -> PageId:
        """Of the pages as hot as the one of this rank (0: the coldest), the one found first waits no longer."""
        keys = self._keys
        key = keys.pop(rank)
        if rank and keys[rank - 1] >> PAGE_BITS == key >> PAGE_BITS:
            keys.add(key)
            key = keys.pop(keys.bisect_left(key >> PAGE_BITS << PAGE_BITS))
        page: PageId = key & PAGE_MASK
        self._bits[page] = 0
        return page

    def octave(self, rank: int) -> int:
        """The octave of the heat of the page of this rank, as by :func:`octaves_of`."""
        octave: int = (self._keys[rank] >> FRACTION_BITS + PAGE_BITS) - BIAS
        return octave

    def octaves(self) -> Iterator[int]:
        """The octaves of the waiting pages, from coldest to hottest, each once."""
        rank = 0
        while rank < len(self):
            yield (octave := self.octave(rank))
            rank = self.first(octave + 1)

    def first(self, octave: int) -> int:
        """The rank of the coldest page of this octave or a hotter one."""
        rank: int = self._keys.bisect_left(octave + BIAS << FRACTION_BITS + PAGE_BITS)
        return rank

    def discard(self, page: PageId) -> bool:
        """A page waits no longer; False: it did not wait."""
        bits = self._bits[page]
        if bits:
            self._keys.remove(bits - 1 << PAGE_BITS | page)
            self._bits[page] = 0
        return bits > 0


def octaves_of(heats: NDArray[np.float64]) -> list[int]:
    """The logarithms of heats to base 2, rounded down (below the normal doubles: -1023).

    >>> octaves_of(np.array([0.3, 1, 1.9, 4, 0]))
    [-2, 0, 0, 2, -1023]
    """
    octaves: list[int] = (((heats + 0.0).view(np.int64) >> FRACTION_BITS) - BIAS).tolist()
    return octaves
