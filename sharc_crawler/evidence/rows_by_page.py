"""Rows by page, stored in columns, not objects: there may be a million pages."""

from __future__ import annotations

import math
from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator, MutableMapping
from typing import Generic, TypeVar

from sharc_crawler.evidence.lastmods import Download, Lastmod
from sharc_crawler.model import Instant, PageId

Row = TypeVar("Row")
Value = TypeVar("Value")
_NONE = -1
_FORMER, _AWAY = 1, 2


class RowsByPage(MutableMapping[int, list[Row]], Generic[Row]):
    """A mapping from pages to their rows, in the order of adding."""

    def __init__(self) -> None:
        self._last = array("i")  # last row of each page; -1: none
        self._before = array("i")  # for each row, the row before it of the same page
        self._pages = 0

    def __len__(self) -> int:
        return self._pages

    def __iter__(self) -> Iterator[PageId]:
        return (page for page, row in enumerate(self._last) if row != _NONE)

    def __contains__(self, page: object) -> bool:
        return isinstance(page, int) and self._row_of(page) != _NONE

    def __getitem__(self, page: PageId) -> list[Row]:
        rows, row = [], self._row_of(page)
        while row != _NONE:
            rows.append(self._made(row))
            row = self._before[row]
        if not rows:
            raise KeyError(page)
        return rows[::-1]

    def __setitem__(self, page: PageId, rows: list[Row]) -> None:
        if page in self:
            del self[page]
        for row in rows:
            self.add(page, row)

    def __delitem__(self, page: PageId) -> None:
        if page not in self:
            raise KeyError(page)
        self._last[page] = _NONE
        self._pages -= 1

    @abstractmethod
    def add(self, page: PageId, row: Row) -> None:
        """Add a row to a page."""

    def _row_of(self, page: PageId) -> int:
        return self._last[page] if 0 <= page < len(self._last) else _NONE

    def _enter(self, page: PageId) -> int:
        """Enter a new last row of a page; return its former last row."""
        if (new := page + 1 - len(self._last)) > 0:
            self._last.extend([_NONE] * new)
        before = self._last[page]
        self._pages += before == _NONE
        self._last[page] = len(self._before)
        self._before.append(before)
        return before

    @abstractmethod
    def _made(self, row: int) -> Row:
        """Make a row from its columns."""


class Lastmods(RowsByPage[Lastmod]):
    """The lastmods of each page.

    >>> lastmods = Lastmods()
    >>> lastmods.add(3, Lastmod(9.0, 5.0, 6.0))
    >>> lastmods[3], list(lastmods)
    ([Lastmod(read=9.0, earliest=5.0, latest=6.0)], [3])
    """

    def __init__(self) -> None:
        super().__init__()
        self._instants = array("d")

    def add(self, page: PageId, row: Lastmod) -> None:
        """Add a lastmod."""
        self._enter(page)
        self._instants.extend(row)

    def _made(self, row: int) -> Lastmod:
        return Lastmod(*self._instants[3 * row : 3 * row + 3])


class Downloads(RowsByPage[Download]):
    """The downloads of each page.

    >>> downloads = Downloads()
    >>> downloads.add(0, Download(1.0, 2.0, None, "sha1:A"))
    >>> downloads[0][0].date, downloads[0][0].digest, 1 in downloads
    (None, 'sha1:A', False)
    """

    def __init__(self) -> None:
        super().__init__()
        self._instants = array("d")
        self._signs = bytearray()
        self._digests: list[str | None] = []
        self._contents: list[str | None] = []

    def add(self, page: PageId, row: Download) -> None:
        """Add a download."""
        before = self._enter(page)
        started, ended, date, digest, modified, content, age, former, away = row
        self._instants.extend((started, ended, _known(date), _known(modified), age))
        self._signs.append(_FORMER * former | _AWAY * away)
        for texts, text in ((self._digests, digest), (self._contents, content)):
            same = before != _NONE and texts[before] == text
            texts.append(texts[before] if same else text)  # share equal texts

    def _made(self, row: int) -> Download:
        started, ended, date, modified, age = self._instants[5 * row : 5 * row + 5]
        signs, digest, content = self._signs[row], self._digests[row], self._contents[row]
        dates = _or_none(date), digest, _or_none(modified)
        return Download(started, ended, *dates, content, age, bool(signs & _FORMER), bool(signs & _AWAY))


class FewByPage(MutableMapping[int, Value], Generic[Value]):
    """A mapping from pages to values, of which only a few are different.

    >>> few = FewByPage([(1, "/a/*"), (5, "/b/*")])
    >>> few[3] = "/a/*"
    >>> dict(few), few.get(0), len(few)
    ({1: '/a/*', 3: '/a/*', 5: '/b/*'}, None, 3)
    """

    def __init__(self, pairs: Iterable[tuple[PageId, Value]] = ()) -> None:
        self._codes = array("i")  # index of each page's value; -1: none
        self._values: list[Value] = []
        self._code_of: dict[Value, int] = {}
        self._pages = 0
        for page, value in pairs:
            self[page] = value

    def __len__(self) -> int:
        return self._pages

    def __iter__(self) -> Iterator[PageId]:
        return (page for page, code in enumerate(self._codes) if code != _NONE)

    def __getitem__(self, page: PageId) -> Value:
        if not 0 <= page < len(self._codes) or self._codes[page] == _NONE:
            raise KeyError(page)
        return self._values[self._codes[page]]

    def __setitem__(self, page: PageId, value: Value) -> None:
        self._codes.extend([_NONE] * (page + 1 - len(self._codes)))
        code = self._code_of.setdefault(value, len(self._values))
        if code == len(self._values):
            self._values.append(value)
        self._pages += self._codes[page] == _NONE
        self._codes[page] = code

    def __delitem__(self, page: PageId) -> None:
        self[page]  # or KeyError
        self._pages -= 1
        self._codes[page] = _NONE


def _known(instant: Instant | None) -> float:
    return math.nan if instant is None else instant


def _or_none(instant: float) -> Instant | None:
    return None if math.isnan(instant) else instant
