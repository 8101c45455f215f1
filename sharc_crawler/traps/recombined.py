"""Addresses put together from words of others, which grow without end: ``/en/de/en/a``, ``?from=/a?from=/b``.

An address has *level* 0 if one of its words is new. Otherwise it has one level more than the page that named it first
if it has more words than that, and one level less if it has fewer. Lists by several features grow in this way,
languages before whatever path, addresses to return to.

Pages of level 1 and more wait after a few in a row, in one folder, that named no others first. The deepest are visited
first, so it is soon known whether they lead deep. If they do, the rest of level 2 and more is left after ten in a row.
Before, three of these are asked for twice more: they may show nothing each time but what visited pages with words of
their addresses show. Then all of level 1 are visited.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from typing import TYPE_CHECKING
from urllib.parse import unquote

from sharc_crawler.addresses.unlikely import look_again_at, look_at
from sharc_crawler.model import Kind
from sharc_crawler.plural import counted
from sharc_crawler.state.lifecycle import State
from sharc_crawler.traps.addresses import first_folder
from sharc_crawler.traps.doubted import HELD, LAST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sharc_crawler.model import PageId
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.traps.renamed import Renamed
    from sharc_crawler.traps.rules import Traps

DOUBT = 4  #: pages of a folder in a row that named no others first, from which on such pages wait
DEEP = 6  #: level that a page had before any is left: lists by a few features end before
ROW = 10  #: pages in a row, from which on the rest is left
SAME, DIFFER = 3, 2  #: pages that show nothing else, and for each that does; of these, until the row begins anew
TIMES = 3  #: and has to be so many times as long
BESIDE = 3  #: pages that one is compared with
MOST = 50_000  #: words that are known
_ESCAPES = re.compile(r"%(?:25)*")
_WORD = re.compile(r"[^/?&=#,+;:.%\s()\[\]~|!*'@\"<>]+")
_SPREAD = 2_654_435_761  # draws pages in an order that is always the same


class _GrownFolder:
    """Such pages of one folder."""

    def __init__(self) -> None:
        self.doubted = False  # they wait; it stays so
        self.deepest = 0
        self.why = ""  # the rest is left; it stays so
        self.begin()

    def begin(self) -> None:
        self.barren = 0  # visited ones since the last that brought something new
        self.row: list[PageId] = []  # those of level 2 and more
        self.same: set[PageId] = set()  # of these, that show nothing else
        self.differ: set[PageId] = set()


class Recombined:
    """Knows the level of each page; counts those that bring nothing new, and asks."""

    def __init__(self, traps: Traps, pages: PageTable) -> None:
        self._traps, self._pages = traps, pages
        self._words: set[str] = set()
        self._levels = bytearray()  # by page
        self._lengths = array("H")  # of their addresses, in words
        self._folders: defaultdict[str, _GrownFolder] = defaultdict(_GrownFolder)
        self._times = 1  # so many times as many pages in a row are needed
        self.leaves = False  #: is anything left?

    def _learn(self) -> None:
        pages = self._pages
        for page in range(len(self._levels), len(pages)):
            words = words_of(pages.urls[page]) if pages.kinds[page] is Kind.PAGE else []
            level = self._level_of(words, pages.parents[page])
            if not level and len(self._words) < MOST:
                self._words.update(words)
            self._levels.append(level)
            self._lengths.append(min(len(words), 65_535))

    def _level_of(self, words: Sequence[str], parent: PageId) -> int:
        """The level of an address that a page named first."""
        if parent < 0 or not self._words.issuperset(words):
            return 0
        longer = (len(words) > self._lengths[parent]) - (len(words) < self._lengths[parent])
        return min(255, max(0, self._levels[parent] + longer))

    def saw(self, page: PageId, linked: Sequence[PageId]) -> None:
        """A page was captured that names these."""
        self._learn()
        pages, levels = self._pages, self._levels
        if not (level := levels[page]):
            return
        folder = self._folders[own := first_folder(pages.urls[page])]
        folder.deepest = max(folder.deepest, level)
        new = [one for one in linked if pages.parents[one] == page]
        if any(not levels[one] or (levels[one] <= level and first_folder(pages.urls[one]) != own) for one in new):
            folder.begin()
        elif new or folder.doubted:
            folder.barren += 1
            folder.row += [page] if level > 1 else []
            folder.doubted = folder.doubted or folder.barren >= DOUBT

    def waits(self, page: PageId) -> int:
        """Is a page to wait until nothing else is left, and how long? 0: it is not."""
        self._learn()
        folder = self._folders.get(first_folder(self._pages.urls[page])) if self._levels[page] else None
        if folder is None or not folder.doubted:
            return 0
        return HELD if self._levels[page] == 1 else LAST + (folder.deepest < DEEP)

    def asks(self, renaming: Callable[[], Renamed]) -> list[str]:
        """Nothing else is left: what is to be asked for."""
        wanted = (self._judge(one, renaming) for one in self._folders.values() if one.deepest >= DEEP and not one.why)
        return next(filter(None, wanted), [])

    def _judge(self, folder: _GrownFolder, renaming: Callable[[], Renamed]) -> list[str]:
        """Leaves the rest if the row is long enough; what is to be asked for before."""
        if len(folder.row) < ROW * self._times:
            return []
        copies = self._traps.copies.copies if self._traps.copies else {}
        for page in sorted(folder.row, key=lambda one: one * _SPREAD % 2**32):
            if len(folder.same) >= SAME * (1 + len(folder.differ)):
                break
            if page in copies or page in folder.same or page in folder.differ:
                continue
            urls = [self._pages.urls[one] for one in (page, *self._beside(page))]
            if wanted := (renamed := renaming()).once(look_again_at(urls[0]), *map(look_at, urls)):
                return wanted
            (folder.differ if renamed.shows_more(page, *urls[1:]) else folder.same).add(page)
            if len(folder.differ) >= DIFFER:
                folder.begin()
                self._times *= TIMES
                return []
        row = counted(len(folder.row), "page")
        folder.why = f"{row} in a row with only words of others in their addresses showed no more"
        self.leaves = True
        return []

    def _beside(self, page: PageId) -> list[PageId]:
        """Visited pages with words of its address alone: those with its path or name first, then those with most."""
        own, path, ranks = words_of(url := self._pages.urls[page]), url.partition("?")[0], []
        for one in self._pages.pages_in(State.VISITED):
            if one == page or self._lengths[one] > len(own):
                continue
            other = words_of(at := self._pages.urls[one])
            if set(own).issuperset(other):
                alike = (at.partition("?")[0] == path) + (other[-1:] == own[-1:])
                ranks.append((-alike, -len(set(other)), len(other), one))
        return [one[-1] for one in sorted(ranks)[:BESIDE]]

    def why_not(self, url: str, parent: PageId, page: PageId) -> str:
        """Why a page that ``parent`` named first is left; empty: it is not. ``page``: it waits under this number."""
        folder = self._folders.get(first_folder(url)) if self.leaves else None
        if folder is None:
            return ""
        self._learn()
        level = self._levels[page] if page >= 0 else self._level_of(words_of(url), parent)
        return folder.why if level > 1 else ""


def words_of(url: str) -> list[str]:
    """The words of an address, in order.

    >>> words_of("http://h/a-b/c?from=%2Fd%3Fe%253Df")
    ['a-b', 'c', 'from', 'd', 'e', 'f']
    """
    path = url.partition("://")[2].partition("/")[2]
    return _WORD.findall(unquote(_ESCAPES.sub("%", path)) if "%" in path else path)
