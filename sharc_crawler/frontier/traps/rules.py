"""Endless sites that no single URL gives away: ever new addresses, the same few contents.

What may be made up for each visitor is told by where it stands (``made_up_places``). Other addresses are told by their
template, numbers and query values left out: after four pages for each content, the rest of it is left.
"""

from __future__ import annotations

import re
from array import array
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.traps.repeats import HONEST, LEAST, REPEATS, Repeats, as_trap
from sharc_crawler.known_urls import UNSEEN, SeenUrls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.frontier.traps.calendars import Calendars
    from sharc_crawler.frontier.traps.echoes import Echoes
    from sharc_crawler.frontier.traps.ever_new import EverNew
    from sharc_crawler.frontier.traps.fleeting import FleetingLinks
    from sharc_crawler.frontier.traps.idle_places import IdlePlaces
    from sharc_crawler.frontier.traps.made_up_places import MadeUpPlaces
    from sharc_crawler.frontier.traps.own_names import OwnNames
    from sharc_crawler.frontier.traps.repeating import Repeating
    from sharc_crawler.frontier.traps.soft_errors import SoftErrors
    from sharc_crawler.frontier.traps.suspicion import Suspicion
    from sharc_crawler.model import Outcome, PageId

YEAR = re.compile(r"(?:19|20|21)(?<![0-9]..)[0-9]{2}")  #: no digit before it; asked last, for speed
_NUMBER = re.compile(r"[0-9]+")
_WORD = re.compile(r"[A-Za-z0-9]{6,}")
_VALUE = re.compile(r"=[^&]*")
LAST = 2  #: what looks like a trap by itself waits longer than what copies alone named (1)
HELD = 4  #: what is left unless samples of it show something new
MOST_SHOWN = 500  #: contents whose first addresses are remembered


@lru_cache(50)  # a page is asked about twice in a row, and the pages that one names follow one another
def template(url: str) -> str:
    """What URLs have in common that differ in their numbers and query values alone."""
    path, mark, query = url.partition("://")[2].partition("?")
    return _NUMBER.sub("*", "/" + path.partition("/")[2]) + mark + (query and _VALUE.sub("=*", query))


def has_odd_word(url: str) -> bool:
    """May something in it be made up? Most addresses are told so in a third of the time that the pattern takes."""
    letters = 7 if url.count("-") >= 4 else 15  # a uuid may have letters alone
    for word in _WORD.findall(url):
        if len(word) > letters if word.isalpha() else len(word) > 7 or not word.isdigit():
            return True
    return False


def content_of(outcome: Outcome) -> str | None:
    """What pages of a trap have in common: text and pictures, else all that counts. A second line: without address."""
    return (outcome.document and outcome.document.words) or outcome.fingerprint


def without_address(content: str | None) -> str:
    """What a page shows, its own address left out."""
    return content.rpartition("\n")[2] if content else ""


class Traps:
    """Counts the contents of each template's pages. What differs not only in a session id is seen once, at least."""

    def __init__(self) -> None:
        self.templates = Repeats()
        self.made_up: MadeUpPlaces | None = None  #: once something in an address may be made up
        self.alone = False  #: nothing is left but what is doubted
        self.repeating: Repeating | None = None  #: once a template has few contents
        self.contents: dict[int, str] = {}  #: contents of plain addresses, and which showed them first
        self.idle: IdlePlaces | None = None  #: once one of them was shown again
        self.calendars: Calendars | None = None  #: once an address has a date
        self.wanted: list[str] = []  #: what nobody names, and is to be asked for
        self.firsts = SeenUrls()  #: content → the page that showed it first
        self.addressed = SeenUrls()  #: the same of those with their own address in them, without that
        self.own: OwnNames | None = None  #: once two of these show the same
        self.unlike = array("i")  #: these pages, as long as no other showed the same
        self.copies: Echoes | None = None  #: once one did
        self.ever_new: EverNew | None = None  #: once a page names no other that is known
        self.fleeting: FleetingLinks | None = None  #: once pages wait that look like a trap's
        self.suspicion: Suspicion | None = None  #: once there are such pages
        self.patient = False  #: all tells that pages are there before they are named
        self.samples: set[PageId] = set()  #: pages that are visited though they would be left
        self.tries = 0  #: of these since a page showed something new

    @cached_property
    def errors(self) -> SoftErrors:
        """Error pages of status 200: of many sites none."""
        from sharc_crawler.frontier.traps.soft_errors import SoftErrors  # only where there are copies

        return SoftErrors()

    @property
    def echoes(self) -> Echoes:
        """Which pages are echoes: of many sites none."""
        if self.copies is None:
            from sharc_crawler.frontier.traps.echoes import Echoes  # only where there are copies

            self.copies, self.unlike = Echoes(self.firsts, self.unlike), array("i")
        return self.copies

    def saw(self, url: str, content: str | None, parent: str = "", *, listed: bool = False) -> None:
        """A page was captured, which ``parent`` named first; what a sitemap ``listed`` does not blame its template."""
        if content is None or self._is_dated(url):
            return
        content = self.counted(content)
        if has_odd_word(url):
            self._saw_odd(url, content, parent)
        self._saw_plain(url, content, parent)
        if "*" in (name := template(url)):
            self.saw_of_template(name, url, content, listed=listed)

    def showed(self, page: PageId, url: str, content: str | None, pages: PageTable, feeds: Callable[[], bool]) -> None:
        """The same page, by its place on the site; ``feeds``: does it name new pages of its like?"""
        if content is None or (self.calendars and self.calendars.saw(page, without_address(content), pages)):
            return
        self._ask(page, content, pages)
        content = self.counted(content)
        if new := self.copies is None and self.firsts.add(content, page) == UNSEEN:
            self.unlike.append(page)
        else:
            new = self.echoes.saw(page, url, content, pages, feeds, error=bool(self.errors.why_not(content)))
        if new and (parent := pages.parents[page]) != NO_PARENT:
            self.brought(template(pages.urls[parent]), template(url))
        sample = self._leaves and self.left(page, pages)  # of a former process
        self.tries = 0 if new else self.tries + bool(sample)
        if self.repeating:
            self.repeating.showed(page, pages, new=new)
        if self.fleeting:
            self.fleeting.saw(page, content, pages, new=new)
        if self.suspicion:
            self.suspicion.saw(page, new=new)
        elif (self.copies and self.copies.any) or (self.idle and self.idle.doubtful):
            from sharc_crawler.frontier.traps.suspicion import Suspicion  # on few sites

            self.suspicion = Suspicion(self, pages)

    def _ask(self, page: PageId, content: str, pages: PageTable) -> None:
        """For what nobody names, where others show the same, perhaps but for their addresses."""
        bare = without_address(content)
        first = self.firsts.get(content) if bare == content else self.addressed.add(bare, page)
        if first != UNSEEN:
            from sharc_crawler.frontier.traps.own_names import OwnNames  # on few sites

            self.own = self.own or OwnNames(self, pages)
            self.wanted += self.own.saw(page, first, content)

    def counted(self, content: str) -> str:
        """What counts of what a page shows: with its own address, unless it is made up."""
        said, _, bare = content.partition("\n")
        return bare if self.own and bare in self.own.made_up else said

    def named(self, page: PageId, linked: Sequence[PageId], pages: PageTable) -> None:
        """What a captured page names of the capture."""
        if self.ever_new is None:
            deep = linked and pages.depths[page] > 1
            if not deep or any(pages.parents[one] != page and pages.depths[one] > 1 for one in reversed(linked)):
                return
            from sharc_crawler.frontier.traps.ever_new import EverNew  # on most sites such pages name what is known

            self.ever_new = EverNew()
        if not self._is_dated(pages.urls[page]):
            self.wanted += self.ever_new.saw(page, linked, pages, self.copies, self.fleeting)

    def _is_dated(self, url: str) -> bool:
        """Is it a calendar's?"""
        if self.calendars is None and YEAR.search(url):
            from sharc_crawler.frontier.traps.calendars import Calendars  # many sites have none

            self.calendars = Calendars()
        return self.calendars is not None and self.calendars.has(url)

    def _saw_odd(self, url: str, content: str, parent: str) -> None:
        if self.made_up is None:
            from sharc_crawler.frontier.traps.made_up_places import MadeUpPlaces  # many sites have none

            self.made_up = MadeUpPlaces()
        self.wanted += self.made_up.saw(url, content, parent)

    def _saw_plain(self, url: str, content: str, parent: str) -> None:
        """A page in whose address nothing looks made up."""
        if self.idle is None:
            if hash(content) not in self.contents:
                if len(self.contents) < MOST_SHOWN:
                    self.contents[hash(content)] = url
                return
            from sharc_crawler.frontier.traps.idle_places import IdlePlaces  # only where there are copies

            self.idle = IdlePlaces(self.contents)
        self.idle.saw(url, content, parent)

    def saw_of_template(self, name: str, url: str, content: str, *, listed: bool) -> None:
        """A page of a template was captured, with this content."""
        row = (templates := self.templates).row(name)
        if row == UNSEEN or templates.contents[row] >= HONEST:
            return
        new = templates.is_new(f"{row} {content}")
        templates.pages[row] += new or not listed
        if new:
            templates.brought(row)
        elif templates.pages[row] >= max(LEAST, REPEATS * templates.contents[row]):
            if self.repeating is None:
                from sharc_crawler.frontier.traps.repeating import Repeating  # on few sites

                self.repeating = Repeating(self)
            self.wanted += self.repeating.saw(row, url)

    def brought(self, name: str, other: str) -> None:
        """A page of a template named one of another first, which shows something new: so do contents of its own."""
        if name != other and (row := self.templates.rows.get(name)) != UNSEEN:
            self.templates.brought(row)

    def why_not_named(self, outcome: Outcome) -> str | None:
        """Why what only this answer names is left; ``None``: it is not."""
        return self.own.why_not_named(without_address(content_of(outcome))) if self.own else None

    def waits(self, page: PageId, pages: PageTable) -> int:
        """Is a page to wait until nothing else is left, and how long? 0: it is not."""
        if self._leaves or self.calendars or self.ever_new:
            from sharc_crawler.frontier.traps.doubted import waits  # on few sites

            return waits(self, page, pages)
        return 0

    def left(self, page: PageId, pages: PageTable) -> str | None:
        """Why a page that is queued is left; ``None``: it is not."""
        if not pages.depths[page] or page in self.samples:
            return None
        why = self.why_not_found(pages.urls[page], pages.parents[page], page)
        return why if why and not pages.listed(page) else None

    def why_not_found(self, url: str, parent: PageId, page: PageId = UNSEEN) -> str | None:
        """Why a page that ``parent`` named first is left; ``None``: it is not. ``page``: it waits under this number."""
        if self.calendars and self.calendars.has(url):
            return self.calendars.why_not(url, parent)
        if not self._leaves:
            return None
        last = self.ever_new and self.ever_new.why_not(parent, url, page)
        why = (self.suspicion and self.suspicion.why_not(url, parent, page)) or last
        return as_trap(why) if why else self.why_not(url, new=page == UNSEEN)

    def endless(self, urls: Sequence[str], parent: PageId) -> dict[str, str]:
        """Which of the pages that ``parent`` named first are left, and why."""
        asked = urls if self._leaves or self.calendars else ()
        return {url: why for url in asked if (why := self.why_not_found(url, parent))}

    @property
    def _leaves(self) -> bool:
        """May anything be left that is no calendar's?"""
        last = self.ever_new and self.ever_new.closed
        return bool(self.suspicion or self.idle or self.made_up or self.repeating or last)

    def why_not(self, url: str, *, new: bool = False) -> str | None:
        """Why a page that was not visited yet is left, by its address; ``None``: it is not. ``new``: it may wait."""
        if self.idle and (why := self.idle.why_not(url, self.suspicion)):
            return as_trap(why)
        if self.made_up and (found := self.made_up.judged(url, few=self.alone)) is not None:
            return found or None
        return self.repeating.why_not(url, new=new) if self.repeating else None
