"""The parts of one capture: those so far, the one that is open, the pages that wait for one."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sharc_crawler.frontier.store import SubsiteRow
    from sharc_crawler.model import PageId
    from sharc_crawler.subsites.base import Labels
    from sharc_crawler.subsites.make import Division


class Subsites:
    """The parts of one capture."""

    def __init__(self, division: Division) -> None:
        self.division = division
        self.pool: list[PageId] = []  #: pages that wait and are in no part yet
        self.rows: list[SubsiteRow] = []  #: all parts so far; the last one is open as long as it has no end
        self.open_pages: list[PageId] = []  #: of the part that is open
        self.visited: list[PageId] = []  #: of these, those visited, in that order
        self.untested = 0  #: of these, those that joined since it was last asked whether it stays coherent
        self.full = False  #: no more may join
        self.labels: dict[PageId, Labels] = {}  #: as last divided, where links matter
        self.basis = (-1, -1)  #: links and URLs that were known then
        self.sources, self.targets = array("i"), array("i")  #: links, where the division goes by them
        self.remembered = not division.partition.by_links  #: those of former captures

    @property
    def open(self) -> bool:
        """Is a part under way?"""
        return bool(self.rows) and self.rows[-1].ended is None

    def linked(self, page: PageId, targets: Iterable[PageId]) -> None:
        """A page links to these."""
        if self.division.partition.by_links:
            for target in dict.fromkeys(targets):
                self.sources.append(page)
                self.targets.append(target)
