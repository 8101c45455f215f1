"""Copies that lead on to copies, whatever else they name: a parent, a first page or a menu do not make a page true.

Such a page shows what another showed, was first named by such a page, and was itself the first to name others. After a
few in a row, all that only copies named waits until nothing else is left. After twice as many in a row as the site has
contents, it is left. A new content among them begins the row anew, as expired links lead to true pages, too. What seeds
and sitemaps name is never left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.model import Kind
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from sharc_crawler.model import PageId
    from sharc_crawler.state.pages import PageTable

DOUBT = 10  #: such copies in a row, from which on what copies named waits
LEAST = 50  #: from which on it is left: as far as one leads to the next by hops=50
PATIENT = 200  #: the same, where all tells that the pages are there before they are named
SHARE = 2  #: or as many for each content of the site, where these are more
GAPS = 5  #: or as many times what lay between the new contents among them
MOST = 2_000  #: at most
_COPY, _LEADS = 1, 2


class Barren:
    """Counts such copies in a row."""

    def __init__(self) -> None:
        self._marks = bytearray()  # by page
        self._row = self._visits = self._new = 0
        self.doubted = False  #: what copies named waits; it stays so
        self.closed = ""  #: why it is left; it stays so
        self.patient = False

    def saw(self, page: PageId, first: PageId, contents: int, pages: PageTable) -> None:
        """A page was captured; ``first``: had shown the same; ``contents``: of the site."""
        self._learn(pages)
        if first != page:
            for one in (page, first):
                self._marks[one] |= _COPY * (pages.depths[one] > 0)  # seeds name true pages, whatever their address
        if not self.has(pages.parents[page]):
            return
        if first == page:
            self._new += 1
            self._row = 0
        elif self.leads(page):
            self._visits += 1
            self._row += 1
            self.doubted = self.doubted or self._row >= DOUBT
            gap = (self._visits - self._row) / max(1, self._new)
            least = PATIENT if self.patient else LEAST
            if self._row >= min(MOST, max(least, SHARE * contents, GAPS * gap)) and not self.closed:
                self.closed = (
                    f"{counted(self._row, 'page')} in a row were copies of others, and so were those that led there"
                )

    def doubts(self, parent: PageId) -> bool:
        """Is a page to wait that another was the first to name?"""
        return self.doubted and self.has(parent)

    def has(self, page: PageId) -> bool:
        """Does it show what another does, too?"""
        return 0 <= page < len(self._marks) and bool(self._marks[page] & _COPY)

    def leads(self, page: PageId) -> bool:
        """Is it one that was the first to name others?"""
        return self.has(page) and bool(self._marks[page] & _LEADS)

    def _learn(self, pages: PageTable) -> None:
        known = len(self._marks)
        self._marks.extend(bytes(len(pages) - known))
        for page in range(known, len(pages)):
            if (parent := pages.parents[page]) >= 0 and pages.kinds[page] is Kind.PAGE:
                self._marks[parent] |= _LEADS
