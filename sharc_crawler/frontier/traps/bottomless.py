"""Folders that have whatever page is asked for, each of which names ever new ones: they have no end, whatever they say.

Texts of such pages may differ at each visit, or there may be none. Where a few pages of a folder name none but new
ones, two addresses made like theirs are asked for that nobody names. A site that has no such page says so. Where both
are pages that name new ones, others each, the folder is bottomless: what its pages alone name waits until nothing else
is left. Where all that one of them named is gone when it is asked for again, it is left after a row of such pages, in
which none leads no further, or back to what is known, or to what such an address named: error pages may suggest true
ones by chance.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sharc_crawler.known_urls import UNSEEN
from sharc_crawler.plural import counted
from sharc_crawler.unlikely import another, look_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.frontier.traps.echoes import Echoes
    from sharc_crawler.frontier.traps.fleeting import FleetingLinks
    from sharc_crawler.model import PageId

ASK = 5  #: such pages in a row, from which on it is asked
ROW = 20  #: from which on what they name is left, where links are gone when their page is asked again
MOST = 10  #: folders that are asked in
KNOWN = 20_000  #: first steps of paths that are counted
COMMON = 3  #: such pages under one first step of the path, which is a folder then; else it may be made up, too


class _MadeFolder:
    """What is known of one."""

    def __init__(self) -> None:
        self.row: list[PageId] = []  # pages that lead on
        self.probes: tuple[str, ...] = ()
        self.last: PageId = UNSEEN  # one of its pages, to be asked for again
        self.why = ""  # the rest of it is left; it stays so


class Bottomless:
    """Counts pages that lead on by folder; asks, and knows the answers."""

    def __init__(self) -> None:
        self.closed = False  #: is anything left?
        self._pages: PageTable | None = None
        self._leading = bytearray()  # by page: is it one?
        self._firsts: Counter[str] = Counter()  # first steps of their paths
        self._folders: dict[str, _MadeFolder] = {}
        self._asked = 0
        self._looks: FleetingLinks | None = None  # what answers showed

    def saw(
        self,
        page: PageId,
        new: Sequence[PageId],
        pages: PageTable,
        copies: Echoes | None,
        looks: FleetingLinks | None,
    ) -> Sequence[str]:
        """A page was captured that names these new ones, and no others; what is to be asked for."""
        self._pages, self._looks, url = pages, looks, pages.urls[page]
        if new:
            self._leading.extend(bytes(max(0, page + 1 - len(self._leading))))
            self._leading[page] = 1
            self._firsts[_first(url)] += len(self._firsts) < KNOWN
        if not self._leads_on(pages.parents[page]):
            return ()
        folder = self._folders.setdefault(self._folder(url), _MadeFolder())
        if not new or (copies and any(one in copies.copies for one in folder.row)):  # what they show tells more
            folder.row = []
        if looks and looks.invented and any(pages.urls[one] in looks.invented for one in new):
            looks.leading.clear()  # it was a true one
        if len(new) > 1:  # parts of a series know the next alone
            folder.row = [*folder.row[1 - ROW :], page]
            return self._weigh(folder, pages)
        return ()

    def _weigh(self, folder: _MadeFolder, pages: PageTable) -> Sequence[str]:
        row = len(folder.row)
        if not folder.probes and row >= ASK and self._asked < MOST:
            last = [pages.urls[one] for one in folder.row[-ASK:]]
            if made := another(last):
                self._asked += 1
                folder.probes, folder.last = (made, another(last, "1")), folder.row[-1]
                return (*folder.probes, look_at(last[-1]))
        if not folder.why and row >= ROW and self._made(folder) and self._gone(folder):
            self.closed = True
            folder.why = f"{counted(row, 'page')} in a row named none but new ones, as addresses do that nobody names"
        return ()

    def _made(self, folder: _MadeFolder) -> bool:
        """Does it have whatever page is asked for?"""
        return self._looks is not None and bool(folder.probes) and self._looks.leading.issuperset(folder.probes)

    def _gone(self, folder: _MadeFolder) -> bool:
        return self._looks is not None and folder.last in self._looks.gone

    def waits(self, page: PageId, url: str) -> bool:
        """Is a page to wait until nothing else is left?"""
        if self._pages is None or not self._leads_on(self._pages.parents[page]):
            return False
        folder = self._folders.get(self._folder(url))
        return folder is not None and self._made(folder)

    def why_not(self, parent: PageId, url: str) -> str:
        """Why a page is left that another named first; empty: it is not."""
        folder = self._folders.get(self._folder(url)) if self.closed and self._leads_on(parent) else None
        return folder.why if folder else ""

    def _folder(self, url: str) -> str:
        first = _first(url)
        return first if self._firsts[first] >= COMMON else url.split("/", 3)[2]

    def _leads_on(self, page: PageId) -> bool:
        return 0 <= page < len(self._leading) and bool(self._leading[page])


def _first(url: str) -> str:
    """Host and first folder of an address.

    >>> _first("http://h/a/b?c=d"), _first("http://h/a")
    ('h/a', 'h')
    """
    parts = url.partition("?")[0].split("/", 4)
    return "/".join(parts[2:4] if len(parts) > 4 else parts[2:3])
