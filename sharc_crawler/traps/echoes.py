"""Endless sites whose addresses tell nothing: pages show what others showed, and name ever new ones of their shape.

Such a page is an *echo*: another address showed its text, no single place of the two addresses explains that (see
:mod:`.idle_places`), and most of what it names of its own shape is new. Copies on honest sites name known pages: menus,
the same neighbours. Echoes are counted by the shape of their address; what echoes named first is one more group.

After a few echoes in a row, the other pages of such a group wait until nothing else is left, and are then visited in
the order of their distance from the seeds. Only then it is known how small the site is, and so how few echoes are
enough.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.model import Kind
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.traps.addresses import path_of, places, shape
from sharc_crawler.traps.barren import PATIENT, Barren

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sharc_crawler.addresses.known_urls import SeenUrls
    from sharc_crawler.model import PageId
    from sharc_crawler.state.pages import PageTable

ROW = 20  #: echoes with no new content between them, from which on a group is left
DOUBT = 2  #: from which on what else it has waits
LEAST = 4  #: once nothing else waits; or as many as half of the site's contents, a quarter of what only echoes named
SHARE = 1.5  #: echoes for each content that the group has brought
MOST = 20_000  #: echoes that are remembered
FEEDS = 3  #: copies of one content that named new pages of their like, from which on all of its copies count
SHAPES = 500  #: that are watched
_NAMED_BY_ECHOES = ""


class _EchoGroup:
    """Pages that are counted together."""

    def __init__(self) -> None:
        self.contents = 0  # that were new
        self.echoes = 0
        self.row = 0  # echoes since the last new one
        self.deep = 0  # the same of those alone that could be left
        self.suspects = 0  # the same, and of those that echoes named and that look like it
        self.doubted = False  # what else it has waits; it stays so
        self.closed = ""  # why; it stays so

    def new(self, deep: bool) -> None:
        """``deep``: the page could have been left."""
        self.contents += 1
        self.row = self.suspects = 0
        self.deep *= not deep

    def suspect(self) -> None:
        """One more echo."""
        self.suspects += 1
        self.doubted = self.doubted or self.suspects >= DOUBT

    def echo(self, what: str, *, deep: bool, proven: bool, row: float) -> None:
        """``proven``: there is a trap on this site; ``row``: echoes, from which on it is left."""
        self.echoes += 1
        self.row += 1
        self.deep += deep
        if self.row >= row and (proven or self.echoes >= SHARE * self.contents):
            self.close(self.row, what)

    def close(self, row: int, what: str) -> None:
        """The rest of it is left."""
        self.closed = self.closed or (
            f"{row} pages in a row{what} were copies of others, and linked new ones of the same kind"
        )


class Echoes:
    """Knows which pages are echoes; leaves what they name, and what looks like them."""

    def __init__(self, first: SeenUrls, former: Iterable[PageId]) -> None:
        """``first``: content → the page that showed it first; ``former``: these pages, in the order of their visits."""
        self.first = first
        self._former = former  # each brought a new content, which is counted with the first copy
        self._paths: set[int] = set()  # where contents were shown again
        self._fed: Counter[int] = Counter()  # contents that copies of named ever new pages, and how often
        self.echoes: dict[PageId, int] = {}  #: and what they show
        self.copies: dict[PageId, int] = {}  #: pages that show what others do, and what
        self._groups: dict[str, _EchoGroup] = {}
        self.barren = Barren()
        self._closed = False

    @property
    def any(self) -> bool:
        """Is a page one, or is more doubted?"""
        return bool(self.echoes) or self.barren.doubted

    def copied(self, url: str, content: str, pages: PageTable) -> bool:
        """Was a content that is known shown at an address that no single place tells from this?"""
        return places(pages.urls[self.first.get(content)]).isdisjoint(places(url))

    def saw(
        self, page: PageId, url: str, content: str, pages: PageTable, feeds: Callable[[], bool], *, error: bool
    ) -> bool:
        """Had none shown the same? ``feeds``: does it name new ones of its like? ``error``: its copies are suspects."""
        for one in self._former:
            if group := self._group_of(shape(pages.urls[one])):
                group.new(deep=False)
        self._former = ()
        new = self.first.add(content, page) == UNSEEN
        self.barren.saw(page, self.first.get(content), len(self.first), pages)
        if new:
            self._brings(page, url, pages)
            return True
        if len(self.copies) < MOST:
            self.copies |= dict.fromkeys((page, self.first.get(content)), hash(content))
        if self.copied(url, content, pages) and ((fed := self._fed_by(content, feeds, error)) or error):
            under = under_path(url, content, pages.urls[self.first.get(content)], self._paths)
            key = path_of(url) if under else self._key(page, url, pages)
            if group := self._group_of(key):
                if fed:
                    deep = _named_deep(pages.parents[page], pages)
                    row = max(PATIENT, SHARE * len(self.first)) if self.barren.patient else ROW
                    group.echo(_in_words(key), deep=deep, proven=self._closed, row=row)
                for alike in {group, group if under else self._groups.get(shape(url), group)}:
                    alike.suspect()
                self._closed = self._closed or bool(group.closed)
            if len(self.echoes) < MOST:
                self.echoes |= dict.fromkeys((page, self.first.get(content)), hash(content))
        return False

    def add(self, shown: Iterable[PageId], content: str) -> None:
        """These show an error page, which is known only now: what they named waits."""
        group = self._group_of(_NAMED_BY_ECHOES)
        for page in shown:
            self.echoes[page] = self.copies[page] = hash(content)
            if group:
                group.suspect()

    def _fed_by(self, content: str, feeds: Callable[[], bool], error: bool) -> bool:
        """Do copies of a content name new pages? After a few that do, all count: their links may be left."""
        known, enough = hash(content), FEEDS - error  # what an error page names is left from its third copy on
        if self._fed[known] < enough and feeds():
            self._fed[known] += 1
            return True
        return self._fed[known] >= enough

    def why_not(self, url: str, parent: PageId, pages: PageTable) -> str | None:
        """Why a page that ``parent`` named first is left; ``None``: it is not. What seeds and sitemaps name is not."""
        if self.barren.closed and self.barren.has(parent):
            return self.barren.closed
        if not self._closed or not _named_deep(parent, pages):
            return None
        named = _NAMED_BY_ECHOES if parent in self.echoes else shape(url)
        groups = (self._groups.get(key) for key in (named, shape(url), path_of(url)))
        return next((group.closed for group in groups if group and group.closed), None)

    def doubts(self, page: PageId, pages: PageTable) -> bool:
        """Is a page to wait until nothing else is left?"""
        parent = pages.parents[page]
        if not self.echoes or parent == NO_PARENT or pages.kinds[parent] is not Kind.PAGE:
            return False
        url = pages.urls[page]
        groups = (self._groups.get(key) for key in {self._key(page, url, pages), shape(url), path_of(url)})
        return any(group.doubted and not group.closed for group in groups if group)

    def nothing_else(self) -> None:
        """Nothing but doubted pages is left: the site is as small as it looks."""
        contents = len(self.first)
        for key, group in self._groups.items():
            enough = contents // 4 if key == _NAMED_BY_ECHOES else contents // 2 + 1
            if group.doubted and group.deep >= min(ROW, max(LEAST, enough)):
                group.close(group.deep, _in_words(key))
                self._closed = True

    def _key(self, page: PageId, url: str, pages: PageTable) -> str:
        return _NAMED_BY_ECHOES if self.echoes and pages.parents[page] in self.echoes else shape(url)

    def _brings(self, page: PageId, url: str, pages: PageTable) -> None:
        """A page shows something new, so the echo that named it leads somewhere."""
        self._group_of(key := self._key(page, url, pages))
        parent, keys = pages.parents[page], {key}
        if parent in self.echoes:
            keys |= {shape(pages.urls[parent]), path_of(pages.urls[parent])}
        for group in filter(None, map(self._groups.get, keys)):
            group.new(deep=_named_deep(parent, pages))

    def _group_of(self, key: str) -> _EchoGroup | None:
        group = self._groups.get(key)
        if group is None and (len(self._groups) < SHAPES or key == _NAMED_BY_ECHOES):
            group = self._groups[key] = _EchoGroup()
        return group


def under_path(url: str, content: str, first: str, known: set[int]) -> bool:
    """Was the same shown under this path, with another query? ``known``: where contents were shown again.

    >>> under_path("http://h/s/7?page=2", "a story", "http://h/s/7?sort=up", set())
    True
    """
    path = path_of(url)
    shown = hash((content, path))
    under = shown in known or path == path_of(first)
    if len(known) < MOST:
        known.add(shown)
    return under


def _in_words(key: str) -> str:
    return f" of the shape {key}" if key.startswith("/") else f" of {key}" if key else " that only such pages named"


def _named_deep(parent: PageId, pages: PageTable) -> bool:
    """Was it named by a page that is no seed?"""
    return parent != NO_PARENT and pages.depths[parent] > 0 and pages.kinds[parent] is Kind.PAGE
