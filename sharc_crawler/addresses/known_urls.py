"""Compact tables of URLs: a set of known URLs in about 20 bytes each, and their texts in one buffer.

A URL is identified by the 64-bit hash of its text (Python's own, with a new key per process), as in Mercator and
BUbiNG. The probability that any two of a million URLs collide is 3 in 10⁸, for ten million 3 in 10⁶.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice, pairwise
from operator import itemgetter
from typing import Any, TypeVar

from sharc_crawler.model import PageId

T = TypeVar("T")
UNSEEN = -1
_SMALLEST = 64  # initial places, a power of two: most of thousands of sites have few pages
_FEW = 1 << 16  # up to so many places are filled one by one: faster than loading NumPy
_SOME = 100  # fewer URLs are entered one by one: as fast
_LOAD = 0.6  # maximum load: a look-up then probes one to four places


def picked(column: Sequence[T], rows: Sequence[int]) -> tuple[T, ...]:
    """Return the values in some rows of a column, in a third of the time of a loop."""
    return itemgetter(*rows)(column) if rows[1:2] else tuple(map(column.__getitem__, rows))


class SeenUrls:
    """A mapping from URLs to page numbers: an open-addressed table with linear probing, in two columns.

    >>> seen = SeenUrls()
    >>> seen.add("http://h/a", 7), seen.add("http://h/a", 8)
    (-1, 7)
    >>> seen.find(["http://h/a", "http://h/b"]), "http://h/b" in seen, len(seen)
    ([7, -1], False, 1)
    """

    def __init__(self, smallest: int = _SMALLEST) -> None:
        """``smallest``: initial places, a power of two."""
        self._used = 0
        self._allot(smallest)

    def __len__(self) -> int:
        return self._used

    def __contains__(self, key: str) -> bool:
        return self.get(key) != UNSEEN

    def get(self, key: str) -> PageId:
        """Return the page number of a URL; ``UNSEEN`` if it is unknown."""
        return self.find((key,))[0]

    def find(self, keys: Sequence[str]) -> list[PageId]:
        """Return the page number of each URL."""
        hashes, pages, mask = self._hashes, self._pages, self._mask
        found: list[PageId] = []
        for value in map(hash, keys):
            place = value & mask
            while hashes[place] != value and pages[place] != UNSEEN:  # inlined _put: faster
                place = place + 1 & mask
            found.append(pages[place])
        return found

    def add(self, key: str, page: PageId) -> PageId:
        """Add a URL unless it is known; return the page number that it had, or ``UNSEEN``."""
        if self._used >= _LOAD * len(self._hashes):
            self._grow()
        if (known := self.get(key)) == UNSEEN:
            self._put(hash(key), page)
            self._used += 1
        return known

    def add_all(self, keys: Sequence[str], pages: Sequence[PageId]) -> None:
        """Add unknown URLs, each once, with their page numbers."""
        self._grow(len(keys))
        self._used += len(keys)
        if len(keys) < _SOME:
            for page, value in zip(pages, map(hash, keys), strict=True):
                self._put(value, page)
            return
        import numpy as np  # only for many

        self._put_all(np.fromiter(map(hash, keys), np.int64, len(keys)), np.fromiter(pages, np.int32, len(keys)))

    def _put_all(self, hashes: Any, numbers: Any) -> None:
        """Add URLs whose place is free, all at once (of several for one place the last); then the others one by one."""
        import numpy as np

        hash_column, page_column = np.frombuffer(self._hashes, np.int64), np.frombuffer(self._pages, np.int32)
        places = hashes & self._mask
        free = np.flatnonzero(page_column[places] == UNSEEN)
        hash_column[places[free]] = hashes[free]
        lie = free[hash_column[places[free]] == hashes[free]]
        page_column[places[lie]] = numbers[lie]
        elsewhere = np.ones(len(hashes), bool)
        elsewhere[lie] = False
        for at in np.flatnonzero(elsewhere).tolist():
            self._put(int(hashes[at]), int(numbers[at]))

    def _put(self, value: int, page: PageId) -> None:
        """Put a hash in its place, or the next free one."""
        hashes, pages, mask = self._hashes, self._pages, self._mask
        place = value & mask
        while hashes[place] != value and pages[place] != UNSEEN:
            place = place + 1 & mask
        hashes[place], pages[place] = value, page

    def _allot(self, places: int) -> None:
        self._mask = places - 1
        # Arrays are faster for single entries; for many, NumPy uses the same memory.
        self._hashes = array("q", bytes(8 * places))
        self._pages = array("i", b"\xff" * (4 * places))  # -1, UNSEEN: a free place

    def _grow(self, more: int = 1) -> None:
        """Double the places until there is room for so many more."""
        former, places = (self._hashes, self._pages), len(self._hashes)
        while self._used + more > _LOAD * places:
            places *= 2
        if places == len(self._hashes):
            return
        self._allot(places)
        if len(self._hashes) > _FEW:
            import numpy as np

            hashes, pages = np.frombuffer(former[0], np.int64), np.frombuffer(former[1], np.int32)
            self._put_all(hashes[pages != UNSEEN], pages[pages != UNSEEN])
            return
        for value, page in zip(*former, strict=True):
            if page != UNSEEN:
                self._put(value, page)


class Texts:
    """A list of texts in one buffer.

    >>> texts = Texts()
    >>> texts.append("http://h/"); texts.append("http://h/a")
    >>> texts[1], len(texts)
    ('http://h/a', 2)
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._ends = array("Q", [0])

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, text: str) -> None:
        """Append a text."""
        self._buffer += text.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._buffer))

    def extend(self, texts: Iterable[str]) -> None:
        """Append texts."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        ends = accumulate(map(len, encoded), initial=len(self._buffer))
        self._ends.extend(islice(ends, 1, None))
        self._buffer += b"".join(encoded)

    def __iter__(self) -> Iterator[str]:
        return (self._buffer[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(self._ends))

    def __getitem__(self, row: int) -> str:
        return self._buffer[self._ends[row] : self._ends[row + 1]].decode("utf-8", "surrogatepass")
