"""What waits, and what is left, on a site with pages that look like a trap's: asks several rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.addresses.unlikely import nobodys
from sharc_crawler.traps.addresses import shape
from sharc_crawler.traps.doubted import LAST
from sharc_crawler.traps.lasting_words import lasting_words

if TYPE_CHECKING:
    from sharc_crawler.model import PageId
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.traps.fleeting import FleetingLinks
    from sharc_crawler.traps.rules import Traps

ASKED = 3  #: addresses that nobody names
MISSES = 20  #: fresh pages in a row that showed what was shown, from which on none is taken for fresh
LEAST = 4  #: or as many as a quarter of what the site has shown, but so many


class Suspicion:
    """Asks the rules. A fresh address is taken, whatever the rules for echoes say."""

    def __init__(self, traps: Traps, pages: PageTable) -> None:
        self._traps, self._pages = traps, pages
        self.words = lasting_words(traps, pages)
        self._misses = 0  # fresh pages in a row that showed what was shown
        self._first: dict[str, str] = {}  # copies that lead on, by their shape
        self._nobodys: list[str] = []  # addresses that nobody names, made of these
        self._asked: dict[str, bool] = {}  # those that were asked for → do they show what copies show?
        self._steady = False  # the links of copies stay
        self.made = False  #: and what nobody names shows what they show

    def saw(self, page: PageId, *, new: bool) -> None:
        """A page was captured; ``new``: no other had shown the same."""
        if not new and self._leads(page):
            self._add(self._pages.urls[page])
            self._ask()
        missed = page not in self.words.of and self.fresh(self._pages.urls[page])  # a former process saw the others
        self._misses = 0 if new else self._misses + missed
        self.words.help = self._misses < min(MISSES, max(LEAST, len(self._traps.echoes.first) // 4))
        self.words.visited(page)

    def _leads(self, page: PageId) -> bool:
        """Is it a copy that names new ones?"""
        echoes = self._traps.echoes
        return page in echoes.echoes or echoes.barren.leads(page)

    def _add(self, url: str) -> None:
        """Makes an address that nobody names from the first two copies of a shape."""
        first = self._first.setdefault(shape(url), url)
        if first not in {url, ""} and len(self._nobodys) < ASKED:
            self._first[shape(url)] = ""
            self._nobodys.append(nobodys(url, first))

    def _ask(self) -> None:
        for probe in self._nobodys[len(self._asked) :] if self._steady else ():
            self._asked[probe] = True
            self._traps.wanted.append(probe)

    def answered(self, url: str, content: str | None, *, absent: bool) -> None:
        """What nobody names was answered; ``content``: as if it were a page."""
        if url in self._asked:
            first = UNSEEN if content is None else self._traps.echoes.first.get(content)
            shown = first != UNSEEN and self._leads(first)
            self._asked[url] = not absent if content is None else shown
            self.made = self.made or shown

    def weigh(self, looks: FleetingLinks) -> None:
        """Does the site have its copies as pages? Their links stay, and made-up addresses show something else."""
        self._steady = looks.steady
        self._ask()
        self._traps.echoes.barren.patient = self._steady and bool(self._asked) and not any(self._asked.values())

    def why_not(self, url: str, parent: PageId, page: PageId = UNSEEN) -> str | None:
        """Why a page that ``parent`` named first is left; ``None``: it is not. ``page``: it waits under this number."""
        if page == UNSEEN:
            self.words.name(url, parent)
        fleeting, echoes = self._traps.fleeting, self._traps.echoes
        why = self._error(page, parent) if page != UNSEEN else None
        if why and not self.has_places:
            return why
        if fleeting and not why:
            why = (page != UNSEEN and fleeting.why_not(page, self._pages)) or fleeting.why_not_named(parent)
        why = why or echoes.why_not(url, parent, self._pages)
        return why if why and not self.fresh(url) else None

    def _error(self, page: PageId, parent: PageId) -> str | None:
        """Why a page is left that waits, and that an error page alone has named; ``None``: it is not.

        What a seed shows, or what it redirects to, names true pages, whatever else shows it.
        """
        shown, pages, errors = self._traps.echoes.copies.get(parent), self._pages, self._traps.errors
        if shown is None or 1 in self._traps.twice[page : page + 1] or not pages.depths[pages.named_as(parent)]:
            return None
        leading = (one for one, url in errors.shown.items() if url in errors.leading and hash(one) == shown)
        return next(map(errors.why_not, leading), None)

    def doubts(self, page: PageId) -> int:
        """Is a page to wait until nothing else is left, and how long? 0: it is not."""
        url, echoes = self._pages.urls[page], self._traps.echoes
        if echoes.doubts(page, self._pages):
            found = not self.fresh(url)
        else:
            found = self._traps.idle is not None and self._traps.idle.doubts(url, self.words)
        return LAST if found else int(echoes.barren.doubts(self._pages.parents[page]))

    def nothing_else(self) -> None:
        """Nothing but doubted pages is left: the site is as small as it looks."""
        self._traps.echoes.nothing_else()
        if self._traps.idle:
            self._traps.idle.nothing_else(len(self._traps.echoes.first))

    @property
    def has_places(self) -> bool:
        """Has the site places that tell nothing? Then true pages may have addresses like error pages."""
        return bool(self._traps.own and self._traps.own.places)

    def shown(self, url: str) -> int:
        """How likely it is that its page was shown: 0, 1 or 2."""
        return self.words.shown(url, self._traps.echoes.echoes)

    def fresh(self, url: str) -> bool:
        """Is an address fresh, on a site where fresh addresses still show something new?"""
        return self.words.help and not self.shown(url)
