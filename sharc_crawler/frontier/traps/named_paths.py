"""Paths that two pages named with any queries, and that were not visited yet: of true pages.

A server that makes up a query for each answer (``/story/7?ref=wmdk&token=x7Gk2p``) names the paths of its true pages
again and again. What it makes up wholly is named once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.traps.echoes import path_of

if TYPE_CHECKING:
    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.model import PageId

MOST = 50_000  #: paths that are known
_TWICE, _VISITED = -2, -3


class NamedPaths:
    """Who named them, and were they visited?"""

    def __init__(self, pages: PageTable) -> None:
        """``pages``: those that are known."""
        self._pages = pages
        self._known: dict[int, int] = {}  # path → the page that named it, or what it has come to
        for page in range(len(pages)):
            self.named(pages.urls[page], pages.parents[page])
            if pages.states[page] in {State.VISITED, State.JUDGED}:
                self.visited(page)

    def named(self, url: str, parent: PageId) -> None:
        """A page names an address, which may be left."""
        path = hash(path_of(url))
        if len(self._known) < MOST and self._known.setdefault(path, parent) not in {parent, _VISITED}:
            self._known[path] = _TWICE

    def visited(self, page: PageId) -> None:
        """A page was captured."""
        path = hash(path_of(self._pages.urls[page]))
        if path in self._known or len(self._known) < MOST:
            self._known[path] = _VISITED

    def new(self, url: str) -> bool:
        """Has it a query, and was its path named by two pages, and not visited?"""
        return "?" in url and self._known.get(hash(path_of(url)), NO_PARENT) == _TWICE
