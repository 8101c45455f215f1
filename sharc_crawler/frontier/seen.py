"""The URL-seen test: which URLs are known, in some 20 bytes each, whatever their length.

A URL is known by the 64-bit hash of its text (Python's own, keyed anew in every process), as in Mercator and BUbiNG:
that any two of a million URLs share one has a probability of 3 in 10⁸, of ten million 3 in 10⁶.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sharc_crawler.model import PageId

UNSEEN = -1
_SMALLEST = 1024  # places; a power of two
_LOAD = 0.6  # of the places that are taken at most: a look-up then tries one to four


class SeenUrls:
    """Page numbers by URL: an open-addressed table with linear probing, in two columns.

    >>> seen = SeenUrls()
    >>> seen.add("http://h/a", 7)
    >>> seen.find(["http://h/a", "http://h/b"]), "http://h/b" in seen, len(seen)
    ([7, -1], False, 1)
    """

    def __init__(self) -> None:
        self._used = 0
        self._hashes = array("q")  # 0: a free place
        self._pages = array("i")
        self._allot(_SMALLEST)

    def __len__(self) -> int:
        return self._used

    def __contains__(self, key: str) -> bool:
        return self.find((key,))[0] != UNSEEN

    def __getitem__(self, key: str) -> PageId:
        (page,) = self.find((key,))
        if page == UNSEEN:
            raise KeyError(key)
        return page

    def find(self, keys: Iterable[str]) -> list[PageId]:
        """The page number of each URL; ``UNSEEN`` for those that are not known."""
        hashes, pages, mask = self._hashes, self._pages, self._mask
        found = []
        for key in keys:
            wanted = hash(key) or 1
            place = wanted & mask
            while (there := hashes[place]) != wanted and there:
                place = place + 1 & mask
            found.append(pages[place] if there else UNSEEN)
        return found

    def add(self, key: str, page: PageId) -> None:
        """A URL that was not known is known."""
        if self._used >= _LOAD * len(self._hashes):
            self._grow()
        self._put(hash(key) or 1, page)
        self._used += 1

    def _put(self, value: int, page: PageId) -> None:
        place = value & self._mask
        while self._hashes[place]:
            place = place + 1 & self._mask
        self._hashes[place] = value
        self._pages[place] = page

    def _allot(self, places: int) -> None:
        self._mask = places - 1
        self._hashes = array("q", bytes(8 * places))
        self._pages = array("i", bytes(4 * places))

    def _grow(self) -> None:
        """Twice the places. Taken in the order of their first choice, all find their places at once."""
        hashes, pages = np.frombuffer(self._hashes, np.int64), np.frombuffer(self._pages, np.int32)
        self._allot(2 * len(hashes))
        taken = np.flatnonzero(hashes)
        taken = taken[np.argsort(hashes[taken] & self._mask)]
        steps = np.arange(len(taken))
        places = np.maximum.accumulate((hashes[taken] & self._mask) - steps) + steps
        inside = int(np.searchsorted(places, len(self._hashes)))  # the few others go on at the beginning
        np.frombuffer(self._hashes, np.int64)[places[:inside]] = hashes[taken[:inside]]
        np.frombuffer(self._pages, np.int32)[places[:inside]] = pages[taken[:inside]]
        for at in taken[inside:].tolist():
            self._put(int(hashes[at]), int(pages[at]))
