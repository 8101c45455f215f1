"""What the frontier asks: does a page wait, is it left? A rule is loaded where it has something to count."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import UNSEEN, SeenUrls, picked
from sharc_crawler.traps.common import MANY, YEAR, as_trap, without_address

if TYPE_CHECKING:
    from sharc_crawler.model import PageId
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.traps.bottomless import Bottomless
    from sharc_crawler.traps.calendars import Calendars
    from sharc_crawler.traps.echoes import Echoes
    from sharc_crawler.traps.fleeting import FleetingLinks
    from sharc_crawler.traps.idle_places import IdlePlaces
    from sharc_crawler.traps.lasting_words import LastingWords
    from sharc_crawler.traps.own_names import OwnNames
    from sharc_crawler.traps.recombined import Recombined
    from sharc_crawler.traps.renamed import Renamed
    from sharc_crawler.traps.soft_errors import SoftErrors
    from sharc_crawler.traps.suspicion import Suspicion

GROWN = 2  #: links to a page, beyond which addresses may have grown
SERIES = 4  #: links to a page of a series, from which on it is watched
_BETWEEN = re.compile(r"[^\w.-]")
_NO_DIGITS = str.maketrans("", "", "0123456789")


class Traps:
    """Tells pages that a site makes without end from true ones."""

    def __init__(self) -> None:
        self.idle: IdlePlaces | None = None  #: once a content was shown again
        self.calendars: Calendars | None = None  #: once an address has a date
        self.wanted: list[str] = []  #: what nobody names, and is to be asked for
        self.firsts = SeenUrls()  #: content → the page that showed it first
        self.addressed = SeenUrls()  #: the same of those with their own address in them, without that
        self.own: OwnNames | None = None  #: once two of these show the same
        self.unlike = array("i")  #: these pages, as long as no other showed the same
        self.copies: Echoes | None = None  #: once one did
        self.bottomless: Bottomless | None = None  #: once a page names no other that is known
        self.renamed: Renamed | None = None  #: the same
        self.recombined: Recombined | None = None  #: once addresses grow
        self.deepest = GROWN  #: most links to a page, of those that were looked at for that
        self.words: LastingWords | None = None  #: once that is, or suspicion
        self.fleeting: FleetingLinks | None = None  #: once pages wait that look like a trap's
        self.suspicion: Suspicion | None = None  #: once there are such pages
        self.twice = bytearray()  #: by page: did two name it?
        self.samples: set[PageId] = set()  #: pages that are visited though they would be left
        self.tries = 0  #: of these since a page showed something new

    @cached_property
    def errors(self) -> SoftErrors:
        """Error pages of status 200: of many sites none."""
        from sharc_crawler.traps.soft_errors import SoftErrors  # only where there are copies

        return SoftErrors()

    @property
    def echoes(self) -> Echoes:
        """Which pages are echoes: of many sites none."""
        if self.copies is None:
            from sharc_crawler.traps.echoes import Echoes  # only where there are copies

            self.copies = Echoes(self.firsts, self.unlike)
        return self.copies

    def showed(self, page: PageId, url: str, content: str | None, pages: PageTable, feeds: Callable[[], bool]) -> None:
        """A page was captured; ``feeds``: does it name new pages of its like?"""
        if content is None or self._is_dated(url):
            if self.calendars and content is not None:
                self.calendars.saw(page, without_address(content), pages)
            return
        self._ask(page, content, pages)
        content = self.counted(content, url, page)
        new = not (self.copies and self.copies.copies) and self.firsts.add(content, page) == UNSEEN
        if self.idle or not new:
            self._compare(url, content, UNSEEN if new else self.firsts.get(content), pages.parent_url(page), pages)
        if new:
            self.unlike.append(page)
        else:
            new = self.echoes.saw(page, url, content, pages, feeds, error=bool(self.errors.why_not(content)))
        self.tries = 0 if new else self.tries + bool(self.left(page, pages))  # of a former process
        if self.fleeting:
            self.fleeting.saw(page, content, pages, new=new)
        if self.suspicion:
            self.suspicion.saw(page, new=new)
        elif (self.copies and self.copies.any) or (self.idle and self.idle.doubtful):
            from sharc_crawler.traps.suspicion import Suspicion  # on few sites

            self.suspicion = Suspicion(self, pages)

    def _compare(self, url: str, content: str, first: PageId, parent: str, pages: PageTable) -> None:
        """Compares its address with that of the page that showed the same first."""
        if self.idle is None and first != UNSEEN:
            from sharc_crawler.traps.idle_places import IdlePlaces  # only where there are copies

            self.idle = IdlePlaces()
        if self.idle:
            self.idle.saw(url, content, parent, "" if first == UNSEEN else pages.urls[first])

    def _ask(self, page: PageId, content: str, pages: PageTable) -> None:
        """Asks for what nobody names, where another page shows the same, perhaps but for its address."""
        bare = without_address(content)
        first = self.firsts.get(content) if bare == content else self.addressed.add(bare, page)
        if first != UNSEEN:
            from sharc_crawler.traps.own_names import OwnNames  # on few sites

            self.own = self.own or OwnNames(self, pages)
            self.wanted += self.own.saw(page, first, content)

    def counted(self, content: str, url: str = "", page: PageId = UNSEEN) -> str:
        """What counts of a page's content: with its own address in it, unless that is made up."""
        return self.own.counted(content, url, page) if self.own else content.partition("\n")[0]

    def named(self, page: PageId, linked: Sequence[PageId], pages: PageTable) -> None:
        """What a captured page names of the capture."""
        depths, twice, named_by = pages.depths, self.twice, picked(pages.parents, linked)
        if (last := max(linked, default=0)) >= len(twice):
            twice.extend(bytes(last + 1 - len(twice)))
        known = [*compress(linked, map(page.__ne__, named_by))] if page in named_by else linked
        again = [*compress(known, map(not_, marks))] if 0 in (marks := picked(twice, known)) else ()
        for one in again:
            twice[one] = 1
        if self.words:
            self.words.again(again)
        if self.recombined is None and depths[page] > self.deepest:
            self._watch(page, pages)
        if self.recombined is not None:
            self.recombined.saw(page, linked)
        if self.bottomless is None:
            if not linked or depths[page] <= (len(pages) < MANY):
                return
            if any(depths[one] > 1 for one in reversed(known)) and not self._is_of_series(page, pages):
                return
            from sharc_crawler.traps.bottomless import Bottomless  # on most sites they name what is known

            self.bottomless = Bottomless(twice)
        if not self._is_dated(url := pages.urls[page]):
            self.wanted += self.bottomless.saw(page, url, linked, known, pages, self.copies, self.fleeting)

    def _watch(self, page: PageId, pages: PageTable) -> None:
        """No page lay deeper: is its address longer than that of who named it, and that the same?"""
        self.deepest = pages.depths[page]
        url, other = pages.urls[page], pages.parent_url(page)
        if len(url) <= len(other):
            return
        urls = url, other, pages.parent_url(pages.parents[page])
        words = [len(_BETWEEN.findall(url)) for url in urls]
        if words[0] > words[1] > words[2]:
            from sharc_crawler.traps.recombined import Recombined  # on few sites addresses grow

            self.recombined = Recombined(self, pages)

    def _is_of_series(self, page: PageId, pages: PageTable) -> bool:
        """Do but digits tell a page from who named it, and more like it led there?"""
        own, other = (one.translate(_NO_DIGITS) for one in (pages.urls[page], pages.parent_url(page)))
        return own == other and pages.depths[page] > SERIES

    def _is_dated(self, url: str) -> bool:
        """Is it a calendar's?"""
        if self.calendars is None and YEAR.search(url):
            self.calendars = self._calendars_of(url)
        return self.calendars is not None and self.calendars.has(url)

    @cached_property
    def _calendars_of(self) -> Callable[[str], Calendars | None]:
        """What makes the rule for calendars; to import it for each address took longer than to ask it."""
        from sharc_crawler.traps.calendars import calendars_of  # many sites have none

        return calendars_of

    def waits(self, page: PageId, pages: PageTable) -> int:
        """Is a page to wait until nothing else is left, and how long? 0: it is not."""
        grown = self.recombined is not None
        if grown or self._leaves(pages.parents[page]) or self.calendars or (self.bottomless and self.bottomless.doubts):
            from sharc_crawler.traps.doubted import waits  # on few sites

            return waits(self, page, pages)
        return 0

    def left(self, page: PageId, pages: PageTable) -> str | None:
        """Why a page that is queued is left; ``None``: it is not."""
        free = not pages.depths[page] or page in self.samples
        why = None if free else self.why_not_found(pages.urls[page], pages.parents[page], page)
        return why if why and not pages.listed(page) else None

    def why_not_found(self, url: str, parent: PageId, page: PageId = UNSEEN) -> str | None:
        """Why a page that ``parent`` named first is left; ``None``: it is not. ``page``: it waits under this number."""
        if self.calendars and self.calendars.has(url):
            return as_trap(self.calendars.why_not(url, parent))
        if not self._leaves(parent):
            return None
        why: str | None = self.recombined.why_not(url, parent, page) if self.recombined else ""
        why = why or (self.renamed.why_not(url, parent, page) if self.renamed else "")
        if self.renamed and not why and self.renamed.is_fresh(url, page):
            return None
        if not why and self.idle and self.idle.tells_nothing(url):
            return as_trap(self.idle.why_not(url, self.suspicion))
        why = why or (self.suspicion.why_not(url, parent, page) if self.suspicion else None)
        why = why or (self.bottomless.why_not(parent, url, page) if self.bottomless else None)
        return as_trap(why or (self.idle.why_not(url, self.suspicion) if self.idle else None))

    def endless(self, urls: Sequence[str], parent: PageId) -> dict[str, str]:
        """Which of the pages that ``parent`` named first are left, and why."""
        asked = urls if self._leaves(parent) or self.calendars else ()
        return {url: why for url in asked if (why := self.why_not_found(url, parent))}

    def _leaves(self, parent: PageId) -> bool:
        """May anything wait, or be left, that this page named and that is no calendar's?"""
        words = self.renamed
        named = words is not None and (words.found or words.series.is_late(parent))
        grown = self.recombined is not None and self.recombined.leaves
        return bool(named or grown or self.suspicion or self.idle or (self.bottomless and self.bottomless.closed))
