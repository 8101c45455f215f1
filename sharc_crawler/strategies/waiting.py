"""Waiting pages, grouped by change rate: the cost of a plan depends on the number of classes, not of pages."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.errors import UsageError
from sharc_crawler.model import PageId


class Line:
    """A queue of pages, open at both ends.

    >>> line = Line()
    >>> line.extend([3, 5, 4])
    >>> line.popleft(), line.pop(), list(line)
    (3, 4, [5])
    """

    __slots__ = ("_first", "_pages")

    def __init__(self) -> None:
        self._pages = array("i")
        self._first = 0  # index of the first page

    def __iter__(self) -> Iterator[PageId]:
        return iter(self._pages[self._first :])

    def column(self) -> NDArray[np.int64]:
        """Return all page numbers as an array."""
        return np.array(self._pages[self._first :], np.int64)

    def append(self, page: PageId) -> None:
        """Add a page number at the end."""
        self._pages.append(page)

    def extend(self, pages: Iterable[PageId]) -> None:
        """Add several page numbers at the end."""
        self._pages.extend(pages)

    def popleft(self) -> PageId:
        """Remove and return the first page number."""
        page = self._pages[self._first]
        self._first += 1
        if 2 * self._first > len(self._pages):  # half is gone: move the rest, in amortized constant time
            del self._pages[: self._first]
            self._first = 0
        return page

    def pop(self) -> PageId:
        """Remove and return the last page number."""
        return self._pages.pop()


class ByPage:
    """A number per page, by default 0; two-byte integers, or of an array's ``typecode``.

    Page numbers rise, with gaps: they are found by bisection, or directly as long as there is no gap.

    >>> numbers = ByPage()
    >>> numbers[7] = 2; numbers[9] = 1; numbers[8] = 3
    >>> [numbers[page] for page in range(6, 11)]
    [0, 2, 3, 1, 0]
    """

    def __init__(self, typecode: str = "H") -> None:
        self.pages = array("i")  #: ascending
        self.numbers: array[Any] = array(typecode)  #: in the order of pages

    def _place(self, page: PageId) -> int:
        pages = self.pages
        if pages and 0 <= (guess := page - pages[0]) < len(pages) and pages[guess] == page:
            return guess
        return bisect_left(pages, page)

    def __getitem__(self, page: PageId) -> Any:
        place = self._place(page)
        return self.numbers[place] if place < len(self.pages) and self.pages[place] == page else 0

    def __setitem__(self, page: PageId, number: float) -> None:
        pages = self.pages
        if not pages or page > pages[-1]:
            pages.append(page)
            self.numbers.append(number)
            return
        place = self._place(page)
        if pages[place] == page:
            self.numbers[place] = number
        else:
            pages.insert(place, page)
            self.numbers.insert(place, number)

    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return all pages, ascending, and their numbers."""
        return np.array(self.pages, np.int64), np.array(self.numbers, np.int64)


Key = tuple[float, float, float, bool]  # rate, weight, shape, attested


@lru_cache(maxsize=1 << 12)  # weights and shapes are the same for many pages
def _bin(value: float, width: float) -> float:
    """Return the middle of a value's bin of this relative width."""
    if value in {0.0, math.inf}:
        return value
    return math.exp(width * round(math.log(value) / width))


class WaitingClass:
    """Pages equal in rate, weight, posterior shape and attestation; first come, first served."""

    __slots__ = ("attested", "heat", "known", "line", "number", "position", "rate", "shape", "waiting", "weight")

    def __init__(self, rate: float, weight: float, shape: float, attested: bool, number: int) -> None:
        self.number = number  # from 1 within a capture; 0: of none
        self.rate = rate
        self.weight = weight
        self.heat = rate * weight  # weighted changes per second
        self.shape = shape
        self.attested = attested
        self.line = Line()  # some of its pages may wait no longer, or in another class
        self.waiting = 0
        self.known = 0  # pages ever put into this class
        self.position = 0  # rank among the classes, coldest first


class WaitingPages:
    """Waiting pages by class, coldest (smallest weight times rate) first.

    Up to ``limit`` classes are exact; beyond, rates, weights and shapes are binned by 1 %, if need be by 2 %, 4 % etc.

    >>> waiting = WaitingPages(limit=100)
    >>> for page, rate in enumerate([0.3, 0.1, 0.1]):
    ...     _ = waiting.put(page, rate, weight=1.0, shape=math.inf, attested=False)
    >>> waiting.pop(waiting.at(0)), waiting.pop(waiting.at(1))
    (1, 0)
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.width = 0.0  #: relative width of bins; 0: exact
        self._waiting = 0
        self.number_of = ByPage()  #: number of each page's class; 0: it does not wait
        self.numbered: list[WaitingClass] = []  #: all classes ever made
        self.by_key: dict[Key, WaitingClass] = {}
        self._sorted: list[WaitingClass] = []
        self._counts = np.zeros(0, np.int64)  # waiting pages, by position
        self.stale = False  #: are the two above out of date?

    def __len__(self) -> int:
        return self._waiting

    @property
    def classes(self) -> list[WaitingClass]:
        """All classes, coldest first, also those without waiting pages."""
        if self.stale:
            self._sort()
        return self._sorted

    def put(self, page: PageId, rate: float, weight: float, shape: float, attested: bool) -> WaitingClass:
        """Add a waiting page; return its class."""
        found = self.of((rate, weight, shape, attested))
        self.number_of[page] = found.number
        found.line.append(page)
        found.known += 1
        self.count(found, 1)
        return found

    def at(self, rank: int) -> WaitingClass:
        """Return the class of the waiting page of this rank; 0: coldest."""
        classes = self.classes
        return classes[int(self._counts.cumsum().searchsorted(rank, "right"))]

    def pop(self, source: WaitingClass, newest: bool = False) -> PageId:
        """Remove and return the first, or newest, waiting page of a class (there is one)."""
        take = source.line.pop if newest else source.line.popleft
        while self.number_of[page := take()] != source.number:
            pass
        self.number_of[page] = 0
        self.count(source, -1)
        return page

    def waiting(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the waiting pages, ascending, and the numbers of their classes."""
        pages, numbers = self.number_of.columns()
        waits = numbers > 0
        return pages[waits], numbers[waits]

    def discard(self, page: PageId) -> WaitingClass | None:
        """Remove a waiting page; return its class, or ``None`` if it does not wait."""
        source = self._class_of(page)
        if source is not None:
            self.number_of[page] = 0
            self.count(source, -1)
        return source

    def reprice(self, page: PageId, rate: float) -> WaitingClass | None:
        """Change a waiting page's rate; return its new class, or ``None`` if it does not wait."""
        if not 0 <= rate < math.inf:
            raise UsageError(f"the rate of page {page} is {rate}; it must be a finite number >= 0")
        source = self._class_of(page)
        if source is None or rate == source.rate:
            return source
        self.discard(page)
        source.known -= 1
        return self.put(page, rate, source.weight, source.shape, source.attested)

    def _class_of(self, page: PageId) -> WaitingClass | None:
        number = self.number_of[page]
        return self.numbered[number - 1] if number else None

    def new(self, key: Key) -> WaitingClass:
        """Make a class."""
        made = self.by_key[key] = WaitingClass(*key, number=len(self.numbered) + 1)
        self.numbered.append(made)
        return made

    def count(self, of: WaitingClass, change: int) -> None:
        """Change the number of waiting pages of a class."""
        of.waiting += change
        self._waiting += change
        if not self.stale:
            self._counts[of.position] += change

    def make_room(self) -> None:
        """Widen bins until there is room for one more class."""
        while len(self.by_key) >= self.limit:
            from sharc_crawler.strategies.waiting_many import coarsen  # rare

            coarsen(self)

    def of(self, key: Key) -> WaitingClass:
        """Return the class of a key, made if it is new."""
        found = self.by_key.get(self.binned(key))
        if found is None:
            self.make_room()
            key = self.binned(key)
            found = self.by_key.get(key) or self.new(key)
            self.stale = True
        return found

    def binned(self, key: Key) -> Key:
        """Return the key binned by the current width."""
        if not self.width:
            return key
        rate, weight, shape, attested = key
        return _bin(rate, self.width), _bin(weight, self.width), _bin(shape, self.width), attested

    def _sort(self) -> None:
        self._sorted = sorted(self.by_key.values(), key=lambda known: known.heat)
        for position, known in enumerate(self._sorted):
            known.position = position
        self._counts = np.array([known.waiting for known in self._sorted], np.int64)
        self.stale = False
