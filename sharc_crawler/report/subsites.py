"""The parts of a captured site: as they were captured one by one or, where it was captured as a whole, by path."""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.evidence.facts import SubsiteFacts
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.model import Kind
from sharc_crawler.subsites.path import ByPath

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sharc_crawler.frontier.rows import CaptureRow, SubsiteRow, UrlRow
    from sharc_crawler.model import PageId
    from sharc_crawler.subsites.base import Labels


MOST = 20  #: folders that are told apart
FEWEST = 10  #: pages of a folder whose own folders are told apart
OTHERS = "other folders"


class _FolderPages(NamedTuple):
    name: str
    depth: int
    labels: tuple[Labels, ...]
    pages: int


def folders(pages: Mapping[Labels, int], site: str) -> dict[Labels, str]:
    """The folder of pages with these labels (:class:`~sharc_crawler.subsites.path.ByPath`); numbers of pages are given.

    Largest first, a folder is told apart by the folders in it, as long as there are few. ``site``: where there is one.

    >>> numbers = {("h", "h/*"): 2, ("h", "h/a/", "h/a/*"): 9, ("h", "h/a/", "h/a/b/", "h/a/b/*"): 9, ("i", "i/*"): 1}
    >>> sorted(set(folders(numbers, "h").values()))
    ['h/*', 'h/a/*', 'h/a/b/', 'i']
    """
    waiting = _first(_FolderPages(site, 0, tuple(pages), sum(pages.values())), pages)
    found: list[_FolderPages] = []
    while waiting:
        largest = max(waiting, key=lambda one: one.pages)
        waiting.remove(largest)
        inner = _within(largest, pages) if largest.pages >= FEWEST and largest.name != OTHERS else []
        if len(inner) > 1 and len(found) + len(waiting) + len(inner) <= MOST:
            waiting += inner
        else:
            found.append(largest)
    if len(found) == 1:
        found = [found[0]._replace(name=site)]
    return {labels: one.name for one in found for labels in one.labels}


def _first(whole: _FolderPages, pages: Mapping[Labels, int]) -> list[_FolderPages]:
    """The folders right below the one that holds all; of very many the largest, and the others together."""
    inner = [whole]
    while len(inner) == 1 and (deeper := _within(inner[0], pages)):
        inner = deeper
    if len(inner) <= MOST:
        return inner
    inner.sort(key=lambda one: -one.pages)
    small = inner[MOST - 1 :]
    labels = tuple(one for folder in small for one in folder.labels)
    return [*inner[: MOST - 1], _FolderPages(OTHERS, 0, labels, sum(folder.pages for folder in small))]


def _within(folder: _FolderPages, pages: Mapping[Labels, int]) -> list[_FolderPages]:
    """The folders in a folder, and the pages that lie in it directly."""
    inner: dict[str, list[Labels]] = defaultdict(list)
    for labels in folder.labels:
        if len(labels) > folder.depth:
            inner[labels[folder.depth]].append(labels)
    return [
        _FolderPages(name, folder.depth + 1, tuple(some), sum(pages[labels] for labels in some))
        for name, some in inner.items()
    ]


_NOBODY = -1
_BEHIND = re.compile(r"[?#]")  #: a URL's path


class SubsiteParts:
    """The parts of a capture: first every URL is :meth:`add`-ed, in the order of discovery, then they are found."""

    def __init__(self, capture: CaptureRow, captured: Mapping[tuple[int, int], SubsiteRow]) -> None:
        self._capture = capture
        self._captured = sorted(part for part in captured.values() if part.capture == capture.capture)
        self._numbers = {part.number: place for place, part in enumerate(self._captured)}
        self._ids, self._parents, self._parts = array("q"), array("q"), array("h")
        self._pages = array("q")  #: places of those of kind page
        self._labels: list[Labels] = []  #: theirs, by path
        self._known: dict[str, Labels] = {}
        self.parts: tuple[SubsiteFacts, ...] = ()

    def add(self, row: UrlRow) -> None:
        """Note where a URL belongs."""
        page, part = row.page, _NOBODY
        if page.kind is Kind.PAGE:
            self._pages.append(len(self._ids))
            if self._captured:
                part = self._numbers.get(_NOBODY if row.part is None else row.part, len(self._captured))
            else:
                url = page.key.rpartition(" ")[2]  # behind "GET ", in a project: a request with a body
                folder = _BEHIND.split(url, 1)[0].rpartition("/")[0]
                if (labels := self._known.get(folder)) is None:
                    labels = self._known[folder] = tuple(map(sys.intern, ByPath().label(url, (), ())))
                self._labels.append(labels)
        self._ids.append(page.page)
        self._parents.append(page.parent)
        self._parts.append(part)

    def find(self) -> None:
        """Make the parts, and the part of each URL."""
        if self._captured:
            from sharc_crawler.report.part_by_part import captured_parts  # of few captures

            waiting = any(self._parts[place] == len(self._captured) for place in self._pages)
            self.parts = captured_parts(self._capture, self._captured, waiting=waiting)
        else:
            self.parts = self._by_path()
        for place, part in enumerate(self._parts):
            if part == _NOBODY:
                self._parts[place] = self._owner(self._parents[place])

    def of(self, page: PageId) -> SubsiteFacts:
        """The part that a URL is in."""
        return self.parts[self._parts[bisect_left(self._ids, page)]]

    def _by_path(self) -> tuple[SubsiteFacts, ...]:
        """The folders of a site that was captured as a whole: they share its reference instant."""
        capture = self._capture
        named = folders(Counter(self._labels), capture.spec.site)
        names = sorted(set(named.values()), key=lambda name: (name == OTHERS, name)) or [capture.spec.site]
        for place, labels in zip(self._pages, self._labels, strict=True):
            self._parts[place] = names.index(named[labels])
        return tuple(SubsiteFacts(name, capture.reference, capture.started, capture.ended) for name in names)

    def _owner(self, page: PageId) -> int:
        """The part of the page that a resource was first embedded in; else the first."""
        while page != NO_PARENT:
            place = bisect_left(self._ids, page)
            if place == len(self._ids) or self._ids[place] != page:
                return 0
            if self._parts[place] != _NOBODY:
                return self._parts[place]
            page = self._parents[place]
        return 0
