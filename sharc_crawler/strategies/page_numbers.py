"""Many page numbers: a page that waits costs bytes, not objects."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import PageId


class Line:
    """Pages in the order in which they came; either end may leave.

    >>> line = Line()
    >>> line.extend([3, 5, 4])
    >>> line.popleft(), line.pop(), list(line)
    (3, 4, [5])
    """

    __slots__ = ("_first", "_pages")

    def __init__(self) -> None:
        self._pages = array("i")
        self._first = 0  # those before have left

    def __iter__(self) -> Iterator[PageId]:
        return iter(self._pages[self._first :])

    def column(self) -> NDArray[np.int64]:
        """All page numbers as an array."""
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
        if 2 * self._first > len(self._pages):  # half is gone: move the rest, which costs less than it took to get here
            del self._pages[: self._first]
            self._first = 0
        return page

    def pop(self) -> PageId:
        """Remove and return the last page number."""
        return self._pages.pop()


class ByPage:
    """A number per page, 0 for a page that was given none; whole and of two bytes, or of an array's ``typecode``.

    The pages of a capture are numbered upwards, but with gaps: each is found by bisection, those without a gap at once.

    >>> numbers = ByPage()
    >>> numbers[7] = 2; numbers[9] = 1; numbers[8] = 3
    >>> [numbers[page] for page in range(6, 11)]
    [0, 2, 3, 1, 0]
    """

    def __init__(self, typecode: str = "H") -> None:
        self.pages = array("i")  #: ascending
        self.numbers: array[Any] = array(typecode)  #: of each

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
        """All pages, ascending, and their numbers."""
        return np.array(self.pages, np.int64), np.array(self.numbers, np.int64)
