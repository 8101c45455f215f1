"""Pages left out as too many links away: links found since may lead there by a shorter way.

Strategies need not go breadth first: they may reach a page by a long trail before they visit the list that names it.
A page that first showed a picture or document (a scan of a book, an issue of a journal) does not count as a link: such
a trail brings something and is followed further. It may still be a trap, so :data:`MOST_IN_A_ROW` bounds it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import repeat
from mimetypes import guess_type
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.links.files import is_type
from sharc_crawler.model import Kind, PageId
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.pages import NO_PARENT, PageTable
from sharc_crawler.state.rows import LinksRow

AT_ONCE = 200_000  #: links followed per step: a large site's links take seconds
MOST_IN_A_ROW = 2_000  #: maximum length of a trail beyond ``hops``


class ShortestWays:
    """The number of links from a seed or sitemap to each page by the shortest known way, computed in steps."""

    def __init__(self, pages: PageTable, links: Iterable[LinksRow]) -> None:
        self.pages = len(pages)  #: pages known at the start
        self.links = np.ones(self.pages, np.int64)  #: links that a step from each page counts for: 1 or 0
        self._depths = np.array(pages.depths, np.int64)
        self._left = self._steps(pages, links)

    def after(self, links: int) -> NDArray[np.int64] | None:
        """Follow about so many ``links`` more; return the depth of each page once all are followed, else ``None``."""
        for followed in self._left:
            links -= followed
            if links <= 0:
                return None
        return self._depths

    def _steps(self, pages: PageTable, links: Iterable[LinksRow]) -> Iterator[int]:
        """Yield after each step the number of links it followed; first one per page examined."""
        for page in bringing(pages):
            if page != NO_PARENT:
                self.links[page] = 0
            yield 1
        named, by = array("i"), array("i")  # a large site has many millions of links
        for row in links:
            named.extend(row.targets)
            by.extend(repeat(row.page, len(row.targets)))
            yield len(row.targets)
        found_on = np.array(pages.parents)
        found = np.flatnonzero(found_on != NO_PARENT)  # URLs left out at first are in no page's links
        targets, sources = np.concatenate([named, found]), np.concatenate([by, found_on[found]])
        order = np.argsort(sources, kind="stable")
        targets, sources = targets[order], sources[order]
        first = np.searchsorted(sources, np.arange(self.pages + 1))
        moved = np.arange(self.pages)
        while len(moved):
            number = first[moved + 1] - first[moved]
            followed = np.arange(number.sum()) + np.repeat(first[moved] - number.cumsum() + number, number)
            by_them = targets[followed]
            way = (self._depths + self.links)[sources[followed]]
            shorter = way < self._depths[by_them]
            np.minimum.at(self._depths, by_them[shorter], way[shorter])
            moved = np.unique(by_them[shorter])
            yield len(followed)


def bringing(pages: PageTable) -> Iterator[PageId]:
    """Yield for each visited URL the page that embeds it, if it is a picture or document with new content."""
    known: set[str | PageId] = set()
    for page in pages.having(State.VISITED):
        parent, owner = pages.parents[page], NO_PARENT
        if parent != NO_PARENT and pages.kinds[page] in (Kind.PAGE, Kind.RESOURCE):
            shown = pages.remembered(page)
            what = shown.decoded or shown.digest or page  # no digest is kept of single visits
            if what not in known and _is_file(shown.media_type or guess_type(urlsplit(pages.urls[page]).path)[0] or ""):
                known.add(what)
                owner = pages.owner(parent)
        yield owner


def _is_file(media_type: str) -> bool:
    return media_type.startswith("image/") or is_type(media_type)


def trails(pages: PageTable) -> list[int]:
    """Return the length of the trail on which each page was found."""
    lengths: list[int] = []
    for parent in pages.parents:
        lengths.append(lengths[parent] + 1 if parent != NO_PARENT else 0)
    return lengths
