"""The last bound: pages that name nothing but what nobody had named, on and on, whatever they show.

No text tells such a trap: each may say something else, or next to nothing. Its links do: on a true site, a page names
some that were known, or leads no further. Pages count where all they name of the capture, but for what the seeds name,
was new, some of it of their own shape, and so it was of the two that led to them. After very many such visits in a row,
what only they named is left.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from sharc_crawler.frontier.traps.bottomless import Bottomless
from sharc_crawler.frontier.traps.echoes import shape
from sharc_crawler.known_urls import UNSEEN
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.frontier.traps.echoes import Echoes
    from sharc_crawler.frontier.traps.fleeting import FleetingLinks
    from sharc_crawler.model import PageId

ROW = 2_000  #: such visits in a row, from which on what only they named is left
STEPS = 3  #: such pages, each named by the one before
TRAIL = 50  #: the same, where each names one alone: parts of many a true series know but the next one


def new_alone(page: PageId, linked: Sequence[PageId], pages: PageTable) -> list[PageId]:
    """The new ones that a page names; none where it names another that is known, but by no seed."""
    parents, depths = pages.parents, pages.depths
    for one in reversed(linked):  # what the seeds name, too, mostly stands first
        if parents[one] != page and one != page and depths[one] > 1:
            return []
    return [one for one in linked if parents[one] == page]


class EverNew:
    """Counts such visits in a row."""

    def __init__(self) -> None:
        self._visits = 1  # of pages that name new ones alone
        self._began = 1  # which of them was the first of this row
        self._row = 0
        self._known = array("i")  # by page: which of these visits it was, and how many such pages led here, or TRAIL
        self.why = ""  #: why what they named is left; it stays so
        self.bottomless = Bottomless()

    def saw(
        self,
        page: PageId,
        linked: Sequence[PageId],
        pages: PageTable,
        copies: Echoes | None = None,
        looks: FleetingLinks | None = None,
    ) -> Sequence[str]:
        """A page was captured, and names these; what is to be asked for."""
        alone = new_alone(page, linked, pages)
        own = shape(pages.urls[page]) if alone else ""
        if new := sum(shape(pages.urls[one]) == own for one in alone):
            steps = min(TRAIL, 1 + self._found(pages.parents[page]) % (TRAIL + 1))
            self._known.extend([0] * (page + 1 - len(self._known)))
            self._known[page] = self._visits * (TRAIL + 1) + steps
            self._visits += 1
            self._row += steps >= (STEPS if new > 1 else TRAIL)
        elif not self.why:
            self._began, self._row = self._visits, 0
        if self._row >= ROW and not self.why:
            self.why = f"{counted(self._row, 'page')} in a row named none but new ones"
        return self.bottomless.saw(page, linked, pages, copies, looks)

    @property
    def closed(self) -> bool:
        """Is anything left?"""
        return bool(self.why) or self.bottomless.closed

    def why_not(self, parent: PageId, url: str = "", page: PageId = UNSEEN) -> str | None:
        """Why what a page named first is left; ``None``: it is not."""
        row = self.why if self.why and self._found(parent) // (TRAIL + 1) >= self._began else None
        return row or self.bottomless.why_not(parent, url, page) or None

    def _found(self, page: PageId) -> int:
        return self._known[page] if 0 <= page < len(self._known) else 0
