"""Series without an end: each page's address differs in one number from that of the page that named it (``?page=7``).

A page counts where it names nothing new but pages of its series. After a few in a row the next waits until nothing else
is left. After a year of months, and again each time that the row is twice as long, two pages are asked for twice more,
each with a number that nobody names. The rest is left where two pages show what their numbers show, and nothing else
each time, and still name the next.
"""

from __future__ import annotations

import re
from operator import ne
from typing import TYPE_CHECKING

from sharc_crawler.addresses.unlikely import look_again_at, look_at, nobodys
from sharc_crawler.plural import counted
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.traps.fleeting import named_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.model import PageId
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.traps.renamed import Renamed

LATE = 3  #: such pages in a row, from which on the next waits
ROW = 12  #: from which on they are compared with a number that nobody names: a year of months
SAME = 2  #: pages that have to show what that shows
TRIES = 16  #: pages of one series that are compared
STEP = 100  #: between two numbers that follow each other, at most
_NUMBER = re.compile(r"([0-9]+)")


class Series:
    """Counts such pages by row; asks, and knows which series have no end."""

    def __init__(self, pages: PageTable, renamed: Renamed) -> None:
        self._pages, self._renamed = pages, renamed
        self._rows: dict[PageId, int] = {}
        self._compared: dict[str, list[tuple[str, PageId]]] = {}  # series → numbers that nobody names, and pages
        self._endless: set[str] = set()  # of these
        self._judged: dict[str, int] = {}  # of these, after so many answers

    def saw(self, page: PageId, linked: Sequence[PageId]) -> list[str]:
        """A page was captured that names these; what is to be asked for."""
        pages, parent = self._pages, self._pages.parents[page]
        own = self._of(page)
        if not own or any(self._of(one) != own for one in linked if pages.parents[one] == page):
            return []
        self._rows[page] = row = self._rows.get(parent, 0) + 1
        if row < ROW:
            return []
        compared = self._compared.setdefault(own, [])
        early = row < ROW * 2 ** (len(compared) // SAME)
        if early or len(compared) >= TRIES or self._has_no_end(own):
            return []
        far = nobodys(url := pages.urls[page], pages.urls[parent], "9" * len(compared))
        compared.append((far, page))
        return [look_at(far), look_again_at(far), look_at(url), look_again_at(url)]

    def _of(self, page: PageId) -> str:
        """The series of a page that another page of it named; empty: there is none."""
        parent = self._pages.parents[page]
        return "" if parent == NO_PARENT else series_of(self._pages.urls[page], self._pages.urls[parent])

    def _has_no_end(self, series: str) -> bool:
        """Do enough pages show what a number shows that nobody names, and name the next when they are asked again?"""
        if series not in self._endless and self._judged.get(series) != self._renamed.answers:
            self._judged[series] = self._renamed.answers
            same = (self._shows(*one) for one in self._compared.get(series, ()))
            self._endless |= {series} if sum(same) >= SAME else set()
        return series in self._endless

    def _shows(self, far: str, page: PageId) -> bool:
        following = named_first(page, self._pages)
        names = any(self._renamed.names_again(page, one) for one in following)
        return names and self._renamed.shows_same(far, page) and not self._renamed.shows_more(page, far)

    def waits(self, page: PageId) -> bool:
        """Is a page to wait until nothing else is left?"""
        return self.is_late(self._pages.parents[page]) and bool(self._of(page))

    def is_late(self, page: PageId) -> bool:
        """Did so many in a row name nothing new that the next waits?"""
        return self._rows.get(page, 0) >= LATE

    def why_not(self, url: str, parent: PageId) -> str:
        """Why a page that ``parent`` named first is left; empty: it is not."""
        if (row := self._rows.get(parent, 0)) < ROW or not self._has_no_end(series_of(url, self._pages.urls[parent])):
            return ""
        return f"{counted(row, 'page')} of its series in a row named nothing new, as a number does that nobody names"


def series_of(url: str, other: str, step: int = STEP) -> str:
    """What two addresses have in common that differ in one number by so much at most; empty: they do not.

    >>> series_of("http://h/list?page=3", "http://h/list?page=2"), series_of("http://h/a7k", "http://h/a907k")
    ('http://h/list?page=#', '')
    """
    parts, others = _NUMBER.split(url), _NUMBER.split(other)  # texts and numbers by turns
    if parts[::2] != others[::2] or (differ := [*map(ne, parts, others)]).count(True) != 1:
        return ""
    at = differ.index(True)
    return "".join([*parts[:at], "#", *parts[at + 1 :]]) if abs(int(parts[at]) - int(others[at])) <= step else ""
