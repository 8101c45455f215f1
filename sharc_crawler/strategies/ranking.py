"""Pages that wait, from coldest to hottest: the page of any rank, whatever their number."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from math import frexp, inf

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import PageId
from sharc_crawler.strategies.waiting import ByPage

LOWEST, HIGHEST = -1023, 1023  #: octaves: of what is below the normal doubles, and of the greatest
FEW = 8  #: pages that are put one by one sooner than together
MOST = 1000  #: pages of a block, before it is halved


class Ranking:
    """Heats are exact; pages of equal heat are in the order of their numbers, which is that of their discovery.

    They lie in blocks, each two columns: heats, and page numbers. Objects for a heat each would be scattered in memory,
    and to compare with them would mean to wait for it. Orders go through the ranks step by step, so a rank is found
    from the block where the last one was.

    >>> ranking = Ranking()
    >>> ranking.put([0, 1, 2, 3], [0.3, 0.1, 0.3, 0.2])
    >>> ranking.pop(3), ranking.pop(0), ranking.count
    (0, 1, 2)
    """

    def __init__(self) -> None:
        self._heat_of = ByPage("d")  # of each page, the last
        self._lay(np.zeros(0), np.zeros(0, np.int32))

    def _lay(self, heats: NDArray[np.float64], pages: NDArray[np.int32]) -> None:
        """These pages, in their order, and no others; no block is empty, unless it is the only one."""
        self.count = len(pages)  #: of pages that wait
        parts = range(0, self.count or 1, MOST // 2)
        self._heats = [array("d", heats[at : at + MOST // 2].tobytes()) for at in parts]
        self._pages = [array("i", pages[at : at + MOST // 2].tobytes()) for at in parts]
        firsts = slice(MOST // 2, None, MOST // 2)
        self._least = [(0.0, -1), *zip(heats[firsts].tolist(), pages[firsts].tolist(), strict=True)]  # of each block
        self._coldest = array("d", [heat for heat, _ in self._least])  # the same, heats alone
        self._block = self._before = 0  # where the last rank was found, and pages before it

    def put(self, pages: list[PageId], heats: list[float]) -> None:
        """Pages begin to wait; heats are >= 0."""
        known = self._heat_of
        if pages and (not known.pages or pages[0] > known.pages[-1]) and pages == sorted(pages):  # nearly always
            known.pages.extend(pages)
            known.numbers.extend(heats)
        else:
            for page, heat in zip(pages, heats, strict=True):
                known[page] = heat
        if len(pages) <= FEW or 4 * len(pages) < self.count:
            for page, heat in zip(pages, heats, strict=True):
                self._add(page, heat)
            return
        every = np.concatenate([*map(np.array, self._heats), heats])
        numbers = np.concatenate([*map(np.array, self._pages), pages]).astype(np.int32)
        order = np.lexsort((numbers, every))
        self._lay(every[order], numbers[order])

    def _add(self, page: PageId, heat: float) -> None:
        block = bisect_right(self._coldest, heat) - 1
        heats, pages = self._heats[block], self._pages[block]
        at = bisect_right(heats, heat)
        if not at or (heats[at - 1] == heat and pages[at - 1] > page):  # not behind those as hot: one found before
            block, at = self._find(heat, page)
            heats, pages = self._heats[block], self._pages[block]
        heats.insert(at, heat)
        pages.insert(at, page)
        self.count += 1
        if block < self._block:
            self._before += 1
        if len(pages) > MOST:
            half = MOST // 2
            self._heats.insert(block + 1, heats[half:])
            self._pages.insert(block + 1, pages[half:])
            self._least.insert(block + 1, (heats[half], pages[half]))
            self._coldest.insert(block + 1, heats[half])
            del heats[half:], pages[half:]
            self._block = self._before = 0

    def _remove(self, block: int, at: int) -> PageId:
        pages = self._pages[block]
        del self._heats[block][at]
        page = pages.pop(at)
        self.count -= 1
        if block < self._block:
            self._before -= 1
        if not pages and self.count:
            del self._heats[block], self._pages[block]
            del self._least[max(block, 1)], self._coldest[max(block, 1)]  # a neighbour takes what it took
            self._block = self._before = 0
        return page

    def _find(self, heat: float, page: PageId) -> tuple[int, int]:
        """The block of a page of this heat, and its place there, or where it would be."""
        block = bisect_right(self._least, (heat, page)) - 1
        heats = self._heats[block]
        at = bisect_left(heats, heat)
        if at < len(heats) and heats[at] == heat:
            at = bisect_left(self._pages[block], page, at, bisect_right(heats, heat, at))
        return block, at

    def _from(self, heat: float) -> tuple[int, int]:
        """Where the first page as hot as this or hotter is; in a block behind the last: there is none."""
        block, at = self._find(heat, -1)
        return (block, at) if at < len(self._heats[block]) else (block + 1, 0)

    def _at(self, rank: int) -> tuple[int, int]:
        """Where the page of this rank is."""
        if rank == 0:
            return 0, 0
        blocks, block, before = self._pages, self._block, self._before
        while rank < before:
            block -= 1
            before -= len(blocks[block])
        while rank >= before + len(blocks[block]):
            before += len(blocks[block])
            block += 1
        self._block, self._before = block, before
        return block, rank - before

    def move(self, page: PageId, heat: float) -> None:
        """A page is as hot as this now, if it waits."""
        if self.discard(page):
            self._heat_of[page] = heat
            self._add(page, heat)

    def pop(self, rank: int) -> PageId:
        """Remove the page of this rank (0: the coldest); of pages equally hot, the one found first."""
        block, at = self._at(rank)
        heat = self._heats[block][at]
        if rank and (self._heats[block][at - 1] if at else self._heats[block - 1][-1]) == heat:
            block, at = self._from(heat)
        return self._remove(block, at)

    def octave(self, rank: int) -> int:
        """The octave of the heat of the page of this rank, as by :func:`octaves_of`."""
        block, at = self._at(rank)
        return _octave(self._heats[block][at])

    def octaves(self) -> Iterator[int]:
        """The octaves of the waiting pages, from coldest to hottest, each once."""
        block = at = 0
        while self.count and block < len(self._heats):
            yield (octave := _octave(self._heats[block][at]))
            block, at = self._from(_least_of(octave + 1))

    def first(self, octave: int) -> int:
        """The rank of the coldest page of this octave or a hotter one."""
        block, at = self._from(_least_of(octave))
        return sum(map(len, self._heats[:block])) + at

    def discard(self, page: PageId) -> bool:
        """A page waits no longer; False: it did not wait."""
        block, at = self._find(self._heat_of[page], page)
        pages = self._pages[block]
        waits = at < len(pages) and pages[at] == page
        if waits:
            self._remove(block, at)
        return waits


def _octave(heat: float) -> int:
    return octave if heat and (octave := frexp(heat)[1] - 1) > LOWEST else LOWEST


def _least_of(octave: int) -> float:
    """What no heat of this octave or a hotter one is below."""
    return 0.0 if octave <= LOWEST else inf if octave > HIGHEST else 2.0**octave


def octaves_of(heats: list[float]) -> list[int]:
    """The logarithms of heats to base 2, rounded down (below the normal doubles: -1023).

    >>> octaves_of([0.3, 1, 1.9, 4, 0])
    [-2, 0, 0, 2, -1023]
    """
    return [*map(_octave, heats)]
