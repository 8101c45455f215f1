"""Paths that two pages named with any queries, or any one folder, and that were not visited yet: of true pages.

A server that makes up a query for each answer (``/story/7?ref=wmdk&token=x7Gk2p``), or a folder (``/kqzv/story7``),
names the paths of its true pages again and again. What it makes up wholly is named once. A folder that two pages named
is not made up for one answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.traps.idle_places import forms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.model import PageId

MOST = 100_000  #: paths and folders that are known
_TWICE, _VISITED = -2, -3


class NamedPaths:
    """Who named them, and were they visited?"""

    def __init__(self, pages: PageTable) -> None:
        """``pages``: those that are known."""
        self._pages = pages
        self._known: dict[int, int] = {}  # path, or folder → the page that named it, or what it has come to
        for page in range(len(pages)):
            self.named(pages.urls[page], pages.parents[page])
            if pages.states[page] in {State.VISITED, State.JUDGED}:
                self.visited(page)

    def named(self, url: str, parent: PageId) -> None:
        """A page names an address, which may be left."""
        for path, folder in _paths(url):
            for key in {path, folder}:
                if self._known.get(key, parent) not in {parent, _VISITED}:
                    self._known[key] = _TWICE
                elif len(self._known) < MOST:
                    self._known.setdefault(key, parent)

    def visited(self, page: PageId) -> None:
        """A page was captured."""
        for path, _ in _paths(self._pages.urls[page]):
            if path in self._known or len(self._known) < MOST:
                self._known[path] = _VISITED

    def new(self, url: str) -> bool:
        """Was a path of its named by two pages, and not visited, with something else that may be made up?"""
        known = self._known
        return any(
            known.get(path) == _TWICE and ("?" in url if folder == path else known.get(folder, NO_PARENT) >= 0)
            for path, folder in _paths(url)
        )


def _paths(url: str) -> Iterator[tuple[int, int]]:
    """Its path, and its address without each of its folders and parameters, and which of these that is."""
    path = url.partition("?")[0]
    yield hash(path), hash(path)
    for one in forms(url):
        if one.place != "?*":
            yield hash(one.rest), hash(one.place[:-1] + one.value)
