"""The parts of a captured site: those captured separately, or folders if it was captured as a whole."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping

from sharc_crawler.evidence.facts import SubsiteFacts
from sharc_crawler.model import Kind, PageId
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.state.rows import CaptureRow, SubsiteRow, UrlRow

_NOBODY = -1
_BEHIND = re.compile(r"[?#]")  #: ends a URL's path


class SubsiteParts:
    """The parts of a capture: :meth:`add` every URL in the order of discovery, then :meth:`find` them."""

    def __init__(self, capture: CaptureRow, captured: Mapping[tuple[int, int], SubsiteRow]) -> None:
        self._capture = capture
        self._captured = sorted(part for part in captured.values() if part.capture == capture.capture)
        self._numbers = {part.number: place for place, part in enumerate(self._captured)}
        self._ids, self._parents, self._parts = array("q"), array("q"), array("h")
        self._pages = array("q")  #: places of URLs of kind page
        self._folders: dict[str, int] = {}  #: folder → number
        self._urls: list[str] = []  #: a URL of each folder
        self._in = array("q")  #: the folder of each page
        self.parts: tuple[SubsiteFacts, ...] = ()

    def add(self, row: UrlRow) -> None:
        """Add a URL."""
        page, part = row.page, _NOBODY
        if page.kind is Kind.PAGE:
            self._pages.append(len(self._ids))
            if self._captured:
                part = self._numbers.get(_NOBODY if row.part is None else row.part, len(self._captured))
            else:
                url = page.key.rpartition(" ")[2]  # a project's key may begin with a method, as "POST "
                folder = _BEHIND.split(url, 1)[0].rpartition("/")[0]
                if folder not in self._folders:
                    self._folders[folder] = len(self._urls)
                    self._urls.append(url)
                self._in.append(self._folders[folder])
        self._ids.append(page.page)
        self._parents.append(page.parent)
        self._parts.append(part)

    def find(self) -> None:
        """Find the parts, and the part of each URL."""
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
        """The part of a URL."""
        return self.parts[self._parts[bisect_left(self._ids, page)]]

    def _by_path(self) -> tuple[SubsiteFacts, ...]:
        """The folders of a site that was captured as a whole, with the same reference instant."""
        capture = self._capture
        names, parts = [capture.spec.site], [0]
        if len(self._urls) > 1:
            from sharc_crawler.report.folders import told_apart  # of a site that has several

            names, parts = told_apart(self._urls, Counter(self._in), capture.spec.site)
        for place, folder in zip(self._pages, self._in, strict=True):
            self._parts[place] = parts[folder]
        return tuple(SubsiteFacts(name, capture.reference, capture.started, capture.ended) for name in names)

    def _owner(self, page: PageId) -> int:
        """The part of the page in which a resource was first embedded; 0 if there is none."""
        while page != NO_PARENT:
            place = bisect_left(self._ids, page)
            if place == len(self._ids) or self._ids[place] != page:
                return 0
            if self._parts[place] != _NOBODY:
                return self._parts[place]
            page = self._parents[place]
        return 0
