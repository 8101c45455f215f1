"""Pages that differ only in their own addresses, which stand in their texts: a register's pages, or made-up ones.

Each such page counts as another page, for that is what a register has. Where four are alike, a name is asked for that
nobody gave (or a number, if they differ in one). If the answer shows the same, they are made up. If it does not, two of
them are asked for again, and the page that named the first: if all their links are gone, they are made up, too. Made-up
pages count without their addresses.

Two pages that differ in one place of their addresses are enough to ask for another value in that place, and for one of
the two again. If the value shows the same and the links are gone, the place tells nothing: all pages that have it count
without it, and without long numbers. This does not happen where links stay: in lists of a register, say.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.addresses.unlikely import look_at, nobodys
from sharc_crawler.traps.addresses import forms
from sharc_crawler.traps.common import without_address
from sharc_crawler.traps.fleeting import named_alone, named_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.model import PageId
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.traps.rules import Traps

ALIKE = 4  #: pages that show the same but for their addresses, until one asks
MOST = 100  #: such texts, and such pages of each, that are watched
PLACES = 10  #: that are asked about
LOOKS = 2  #: of them that are asked for again


class OwnNames:
    """Groups pages by what they show without their addresses, and finds out which of these texts are made up."""

    def __init__(self, traps: Traps, pages: PageTable) -> None:
        self._traps, self._pages = traps, pages
        self._alike: dict[str, list[PageId]] = {}
        self._asked: dict[str, str] = {}  # what nobody names → the text
        self._looks: dict[PageId, str] = {}  # pages that are asked for again, and their texts
        self._stay: set[str] = set()  # texts of those whose links are not gone
        self.made_up: set[str] = set()  #: texts
        self._tried: set[str] = set()  # places that were asked about
        self._placed: set[str] = set()  # texts for which one was
        self._of: dict[str, list[str]] = {}  # what nobody names → the places that it is another value of
        self._shows: dict[PageId, str] = {}  # pages that are asked for again, and other values in their places
        self._signs: Counter[str] = Counter()
        self.places: set[str] = set()  #: that tell nothing

    def saw(self, page: PageId, first: PageId, content: str) -> Sequence[str]:
        """A page shows what ``first`` had shown, perhaps but for its address; what is to be asked for."""
        text, url, other = without_address(content), self._pages.urls[page], self._pages.urls[first]
        leads = partial(named_alone, page, self._pages) if self._pages.depths[first] else bool
        wanted = [*self._traps.errors.saw(url, text, other, leads)]
        one, places = self._untried(url, other)
        if (text == content and not places) or (text not in self._alike and len(self._alike) >= MOST):
            return wanted
        alike = self._alike.setdefault(text, [first])
        if len(alike) < MOST:
            alike.append(page)
        enough = len(alike) == ALIKE and text not in self._placed and ("?" in one or "no-such-page" not in one)
        if places:
            self._placed.add(text)
            self._shows[page] = one
            wanted.append(look_at(url))
        if places or enough:
            wanted.append(one)
            self._of[one] = places
        self._asked |= dict.fromkeys(wanted, text)
        return wanted

    def _untried(self, url: str, other: str) -> tuple[str, list[str]]:
        """An address to ask for, with another value where two addresses differ; the places that it tests, if any."""
        others = {form.rest: form.value for form in forms(other)}
        alone = [form for form in forms(url) if form.rest in others and not (form.place == "?*" and "&" in url)]
        if not alone or any(form.place in self._tried for form in alone):
            return nobodys(url, other), []
        named = [form.place for form in alone if form.place != "?*"]
        places = named or [form.place for form in alone]
        if len(self._tried) >= PLACES:
            return nobodys(url, other), []
        self._tried.update(places)
        before, _, after = alone[0].rest.partition("*")
        made = nobodys(f"{before}{alone[0].value}", f"{before}{others[alone[0].rest]}")
        return f"{made}{after}", places

    def tells_nothing(self, url: str) -> bool:
        """Has an address a place that tells nothing?"""
        return bool(self.places) and any(form.place in self.places for form in forms(url))

    def counted(self, content: str, url: str, page: PageId) -> str:
        """What counts of what a page shows: with its own address, unless it is made up."""
        said, _, bare = content.partition("\n")
        if self._traps.idle:
            self._traps.idle.made_up = self.places
        tells_nothing = bare and self.tells_nothing(url)
        if tells_nothing and (first := self._traps.addressed.get(bare)) not in {UNSEEN, page}:
            self._traps.firsts.add(bare, first)
        return bare if tells_nothing or bare in self.made_up else said

    def answered(self, url: str, shown: str | None) -> None:
        """What nobody names was answered. If it does not show what pages show, some of these are asked for again."""
        if shown is not None and (text := without_address(shown)) in self._alike:
            if self._of.get(url):
                self._weigh(url)
            else:
                self._is_made_up(text)
        elif text := self._asked.get(url, ""):
            pages, alike = self._pages, self._alike[text]
            most = sorted(alike, key=lambda page: len(named_first(page, pages)))  # of few all may be gone by chance
            parent = pages.parents[alike[0]]
            first = [parent] if pages.depths[alike[0]] > 1 else []  # a register's list names them again
            for page in dict.fromkeys([*first, *most[-LOOKS:]]):
                self._looks[page] = text
                self._traps.wanted.append(look_at(self._pages.urls[page]))

    def looked(self, page: PageId, *, gone: bool) -> None:
        """A page was asked for again; ``gone``: it named none of the links again that it was the first to name."""
        if gone and page in self._shows and self._led_there(page, self._of[self._shows[page]]):
            self._weigh(self._shows[page])
        text = self._looks.pop(page, "")
        if text and not gone:
            self._stay.add(text)
        if text and text not in {*self._stay, *self._looks.values()}:
            self._is_made_up(text)

    def _led_there(self, page: PageId, places: Sequence[str]) -> bool:
        """Has one of its links such a place? A register, too, may have links for one answer (downloads)."""
        led = named_first(page, self._pages)
        return any(form.place in places for child in led for form in forms(self._pages.urls[child]))

    def _weigh(self, url: str) -> None:
        """A place tells nothing after two signs: another value shows the same, a page's links are gone."""
        self._signs[url] += 1
        if self._signs[url] > 1:
            self.places.update(self._of[url])

    def _is_made_up(self, text: str) -> None:
        """From now on pages with this text are copies of the first."""
        if text not in self.made_up:
            self.made_up.add(text)
            self._traps.firsts.add(text, self._alike[text][0])
            self._traps.echoes.add(self._alike[text], text)
