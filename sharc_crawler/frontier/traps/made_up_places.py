"""Places of addresses where something may be made up for each visitor: do they mean anything?

Where half of the pages show what the same address had shown with something else there, a place means nothing, and what
was visited once is left with anything else in it. Not so where one in three of the addresses that came again showed
something else. What is handed on from page to page may be a version, whose pages are mostly equal, or a session: more
copies are needed there. By few copies a page is not left at once: it waits until nothing else is left.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sharc_crawler.frontier.traps.made_up import made_up
from sharc_crawler.frontier.traps.repeats import LEAST, MEANING, REPEATS, Repeats, as_trap
from sharc_crawler.known_urls import UNSEEN
from sharc_crawler.plural import counted
from sharc_crawler.unlikely import kindred, look_at

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from sharc_crawler.frontier.traps.made_up import MadeUp

ASKED = 5  #: places of which an address is asked for
LEAST_MADE_UP = 8  #: pages with something made up in one place before it is judged: nothing but copies is lost


class MadeUpPlaces(Repeats):
    """Counts by place; addresses without what may be made up are known again, and what they showed."""

    def __init__(self) -> None:
        super().__init__()
        self._again: Counter[int] = Counter()  # addresses without what may be made up that came again
        self._other: Counter[int] = Counter()  # and that showed something else then
        self._kept: Counter[int] = Counter()  # pages in whose parents' addresses the same was made up
        self._reasons: dict[int, str] = {}  # why a row is a trap; it stays one
        self._asked: dict[str, tuple[int, str]] = {}  # what nobody names → its row, and its address without the place
        self._issued: dict[int, tuple[str, str]] = {}  # who named a page whose value its own address has not, and that
        self._looks: dict[int, tuple[str, str]] = {}  # the same, when it is asked for once more
        self._absent: set[int] = set()  # rows in which what nobody names is not there, or shows something else
        self._stay: set[int] = set()  # and in which such a link stays

    def saw(self, url: str, content: str, parent: str) -> Sequence[str]:
        """A page was captured: is it a copy of one with something else in one place? What is to be asked for."""
        wanted: list[str] = []
        for part in made_up(url):
            row = self.row(part.place)
            known = not self.is_new(part.rest)
            new = self.is_new(f"{part.rest} {content}")
            if row == UNSEEN:
                continue
            self._again[row] += known and self.is_new(f"{part.rest} again")
            self._other[row] += known and new and self.is_new(f"{part.rest} other")
            self._kept[row] += (kept := all(value in parent for value in part.values))
            if not kept and parent:
                self._issued[row] = parent, url
            self.pages[row] += 1
            self.contents[row] += new
            pages, contents = self.pages[row], self.contents[row]
            if row not in self._reasons and pages >= max(LEAST_MADE_UP, 2 * contents):
                told = f"{counted(pages, 'page')} with something made up in {part.place} had"
                self._reasons[row] = as_trap(f"{told} {counted(contents, 'content')}")
                wanted += self._ask(row, part)
        return wanted

    def _ask(self, row: int, part: MadeUp) -> Sequence[str]:
        """Where what nobody names is not there, and who named a page names it again, what stands there is a name."""
        probe, *others = part.rest.split("*")
        if len(self._asked) >= ASKED or len(others) != len(part.values):
            return ()
        for value, rest in zip(part.values, others, strict=True):
            probe += kindred(probe, value) + rest
        self._asked[probe] = row, part.rest
        if row not in self._issued:
            return [probe]
        self._looks[row] = self._issued[row]
        return [probe, look_at(self._looks[row][0])]

    def answered(self, url: str, content: str | None, *, absent: bool) -> None:
        """What nobody names was answered; ``content``: as if it were a page."""
        row, rest = self._asked.get(url, (UNSEEN, ""))
        if row != UNSEEN and (absent or (content is not None and f"{rest} {content}" not in self.seen)):
            self._absent.add(row)

    def looked(self, url: str, named: Container[str]) -> None:
        """A page was asked for once more, and names these."""
        self._stay |= {row for row, (parent, page) in self._looks.items() if parent == url and page in named}

    def _names(self, row: int) -> bool:
        """Are pages there before they are named?"""
        return row in self._absent and (row in self._stay or row not in self._looks)

    def judged(self, url: str, *, few: bool) -> str | None:
        """Why a page that was not visited yet is left; empty: it is not; ``None``: its places tell nothing.

        ``few``: few copies suffice.
        """
        for part in made_up(url) if self._reasons else ():  # where one of them means nothing, the others may
            row = self.rows.get(part.place)
            if (reason := self._reasons.get(row)) and not self._names(row):
                means = MEANING * self._other[row] >= self._again[row]
                if not (means and part.place.startswith("?")):  # one script may show a few texts by turns
                    enough = few or self.pages[row] >= LEAST
                    left = part.rest in self.seen and enough and not means and not self._may_be_versions(row)
                    return reason if left else ""
        return None

    def _may_be_versions(self, row: int) -> bool:
        """Is what stands there handed on from page to page, and not yet shown to mean nothing?"""
        pages, contents = self.pages[row], self.contents[row]
        equal = not self._other[row] and (self._again[row] >= LEAST or 2 * pages >= 5 * contents)
        return 2 * self._kept[row] >= pages and not equal and pages < max(LEAST, REPEATS * contents)
