"""Templates whose pages repeat a few contents: the rest of one is left, unless it may be a true site's.

Another address of the template is asked for, with a number that nobody names. Where it shows the same, pages are made
for whoever asks, and links to more are left at once. Where it is not there, they wait until nothing else is left:
what the visited ones led to may be new. A page that one of its own template named alone is left after very many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.traps import rules
from sharc_crawler.frontier.traps.barren import GAPS, PATIENT
from sharc_crawler.frontier.traps.repeats import HONEST, LEAST, REPEATS, as_trap
from sharc_crawler.known_urls import UNSEEN
from sharc_crawler.plural import counted
from sharc_crawler.unlikely import nobodys

if TYPE_CHECKING:
    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.frontier.traps.rules import Traps
    from sharc_crawler.model import PageId

ASKED = 10  #: templates of which an address is asked for
STEPS = 5  #: pages, each named by the next, that led to what shows something new


class Repeating:
    """Which of them repeat, and which are no trap for all that."""

    def __init__(self, traps: Traps) -> None:
        self._traps, self._templates = traps, traps.templates
        self._asked: dict[str, int] = {}  # what nobody names → its template
        self._waits: dict[int, bool] = {}  # may they be there before they are named? As long as nothing tells otherwise

    def repeats(self, row: int) -> bool:
        """Are there many pages for each content, and long none with a new one?"""
        pages, contents = self._templates.pages[row], self._templates.contents[row]
        last = self._templates.last[row]
        many = pages >= max(LEAST, REPEATS * contents) and contents < HONEST
        return many and (pages - last) * contents >= GAPS * last

    def saw(self, row: int, url: str) -> list[str]:
        """A page of one was captured; what is to be asked for, once they repeat."""
        if row in self._waits or not self.repeats(row):
            return []
        probe = nobodys(url, f"http://h{rules.template(url).replace('*', '0')}")
        self._waits[row] = len(self._asked) < ASKED
        self._asked.setdefault(probe, row)
        return [probe] * self._waits[row]

    def showed(self, page: PageId, pages: PageTable, *, new: bool) -> None:
        """A page was captured; what is ``new`` was brought by those, too, that led to the page that named it."""
        way = [page]
        while new and len(way) < STEPS and (parent := pages.parents[way[-1]]) != NO_PARENT:
            way.append(parent)
        names = [rules.template(pages.urls[one]) for one in way]
        for row in map(self._templates.rows.get, {*names[2:]} - {*names[:2]}):
            if row != UNSEEN:
                self._templates.brought(row)

    def answered(self, url: str, content: str | None, *, absent: bool) -> None:
        """What nobody names was answered; ``content``: as if it were a page."""
        if (row := self._asked.get(url, UNSEEN)) != UNSEEN:
            other = content is not None and self._templates.seen.get(f"{row} {content}") == UNSEEN
            self._waits[row] = other or absent

    def waits(self, url: str) -> bool:
        """Is a page to wait until nothing else is left?"""
        row = self._templates.rows.get(rules.template(url))
        return self._waits.get(row, False) and self.repeats(row)

    def why_not(self, url: str, *, new: bool) -> str | None:
        """Why a page is left; ``None``: it is not. ``new``: it may wait."""
        row = self._templates.rows.get(name := rules.template(url))
        if row == UNSEEN or not self.repeats(row) or (new and self._waits.get(row)):
            return None
        pages, contents = self._templates.pages[row], self._templates.contents[row]
        still = self._traps.patient or (self._traps.fleeting is not None and self._traps.fleeting.still)
        if self._waits.get(row) and still and pages - self._templates.last[row] < PATIENT:
            return None
        return as_trap(f"{counted(pages, 'page')} of {name} had {counted(contents, 'content')}")
