"""Waiting pages, sorted from coldest to hottest, with fast access by rank."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from math import frexp, inf

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import PageId
from sharc_crawler.strategies.waiting import ByPage

LOWEST, HIGHEST = -1023, 1023  #: octaves of subnormal and of the largest doubles
FEW = 8  #: up to so many pages are inserted one by one: faster
MOST = 1000  #: maximum of pages in a block, before it is halved


class Ranking:
    """A sorted list of pages by heat; pages of equal heat are in the order of their numbers, that of discovery.

    Pages lie in blocks of two columns, heats and page numbers: float objects scattered in memory are slow to compare.
    Strategies go through ranks step by step, so each rank is searched from the block of the last one.

    >>> ranking = Ranking()
    >>> ranking.put([0, 1, 2, 3], [0.3, 0.1, 0.3, 0.2])
    >>> ranking.pop(3), ranking.pop(0), ranking.count
    (0, 1, 2)
    """

    def __init__(self) -> None:
        self._heat_of = ByPage("d")  # last heat of each page
        self._lay(np.zeros(0), np.zeros(0, np.int32))

    def _lay(self, heats: NDArray[np.float64], pages: NDArray[np.int32]) -> None:
        """Replace all pages by these sorted ones; no block is empty unless it is the only one."""
        self.count = len(pages)  #: number of waiting pages
        parts = range(0, self.count or 1, MOST // 2)
        self._heats = [array("d", heats[at : at + MOST // 2].tobytes()) for at in parts]
        self._pages = [array("i", pages[at : at + MOST // 2].tobytes()) for at in parts]
        firsts = slice(MOST // 2, None, MOST // 2)
        self._least = [
            (0.0, -1),
            *zip(heats[firsts].tolist(), pages[firsts].tolist(), strict=True),
        ]  # first of each block
        self._coldest = array("d", [heat for heat, _ in self._least])  # heats of these
        self._block = self._before = 0  # block where the last rank was found, and pages before it

    def put(self, pages: list[PageId], heats: list[float]) -> None:
        """Add pages; heats are >= 0."""
        known = self._heat_of
        if pages and (not known.pages or pages[0] > known.pages[-1]) and pages == sorted(pages):  # usual
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
        if not at or (heats[at - 1] == heat and pages[at - 1] > page):  # an older page among equally hot ones
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
            del self._least[max(block, 1)], self._coldest[max(block, 1)]  # its neighbour covers its range
            self._block = self._before = 0
        return page

    def _find(self, heat: float, page: PageId) -> tuple[int, int]:
        """Return the block of a page of this heat, and its place there, or where it would be inserted."""
        block = bisect_right(self._least, (heat, page)) - 1
        heats = self._heats[block]
        at = bisect_left(heats, heat)
        if at < len(heats) and heats[at] == heat:
            at = bisect_left(self._pages[block], page, at, bisect_right(heats, heat, at))
        return block, at

    def _from(self, heat: float) -> tuple[int, int]:
        """Return block and place of the first page at least this hot; a block behind the last: there is none."""
        block, at = self._find(heat, -1)
        return (block, at) if at < len(self._heats[block]) else (block + 1, 0)

    def _at(self, rank: int) -> tuple[int, int]:
        """Return block and place of the page of this rank."""
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
        """Change a page's heat, if it waits."""
        if self.discard(page):
            self._heat_of[page] = heat
            self._add(page, heat)

    def pop(self, rank: int) -> PageId:
        """Remove and return the page of this rank (0: coldest); of equally hot pages the one found first."""
        block, at = self._at(rank)
        heat = self._heats[block][at]
        if rank and (self._heats[block][at - 1] if at else self._heats[block - 1][-1]) == heat:
            block, at = self._from(heat)
        return self._remove(block, at)

    def octave(self, rank: int) -> int:
        """Return the octave (see :func:`octaves_of`) of the page of this rank."""
        block, at = self._at(rank)
        return _octave(self._heats[block][at])

    def octaves(self) -> Iterator[int]:
        """Yield the octaves of the waiting pages, from coldest to hottest, each once."""
        block = at = 0
        while self.count and block < len(self._heats):
            yield (octave := _octave(self._heats[block][at]))
            block, at = self._from(_least_of(octave + 1))

    def first(self, octave: int) -> int:
        """Return the rank of the coldest page of this octave or a hotter one."""
        block, at = self._from(_least_of(octave))
        return sum(map(len, self._heats[:block])) + at

    def discard(self, page: PageId) -> bool:
        """Remove a page; return ``False`` if it does not wait."""
        block, at = self._find(self._heat_of[page], page)
        pages = self._pages[block]
        waits = at < len(pages) and pages[at] == page
        if waits:
            self._remove(block, at)
        return waits


def _octave(heat: float) -> int:
    return octave if heat and (octave := frexp(heat)[1] - 1) > LOWEST else LOWEST


def _least_of(octave: int) -> float:
    """Return the lower bound of an octave's heats."""
    return 0.0 if octave <= LOWEST else inf if octave > HIGHEST else 2.0**octave


def octaves_of(heats: list[float]) -> list[int]:
    """Return the logarithms of heats to base 2, rounded down (-1023 for subnormal doubles).

    >>> octaves_of([0.3, 1, 1.9, 4, 0])
    [-2, 0, 0, 2, -1023]
    """
    return [*map(_octave, heats)]
