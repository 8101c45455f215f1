"""Links that are gone when their page is asked for again: the site made them up for one answer.

Once nothing else is left, pages that named what looks like a trap are asked for again, under an address that nobody
names (``?no-such-page-…``). A server that does not know such a parameter shows the same page. Of the links that are
gone two are visited (one, if a made-up name shows the same). If they show one text that was seen before, such links are
left, and so is what pages with that text name. If one shows something new, the site changes its links honestly, and no
more is left.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.model import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.model import PageId
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.traps.echoes import Echoes
    from sharc_crawler.traps.soft_errors import SoftErrors

LOOKS = 4  #: copies that are asked again, whatever looks told
STEADY = 2  #: pages whose links have to stay, a copy among them, for all to be taken for pages that are there
SAMPLE = 2  #: pages that one page names no more, and that show one text
FRUITLESS = 3  #: looks in a row that told nothing, from which on none is made
MOST = 1_000  #: pages that are asked again


class FleetingLinks:
    """Which links stayed where their page was asked again; which texts those show that did not."""

    def __init__(self, echoes: Echoes, errors: SoftErrors) -> None:
        self._echoes, self._errors = echoes, errors
        self._asked: set[PageId] = set()
        self._stayed: dict[PageId, frozenset[PageId]] = {}  # what a page named again
        self._fruitless = 0
        self.stay = False  #: all that a page alone named was named again
        self._steady = 0  # such pages
        self._copies_steady = False  # is a copy among them?
        self._looked = 0  # copies that were asked again
        self._honest = False  # something new was found behind a link that was gone
        self._copies: Counter[tuple[PageId, int]] = Counter()  # by who named them no more, and what they show
        self._texts: set[int] = set()
        self.again: dict[PageId, frozenset[PageId]] = {}  #: what pages named that were asked again
        self.gone: set[PageId] = set()  #: pages that named none again of what they alone had named
        self.suggested: dict[str, list[str]] = {}  #: what nobody names, and what it names that was not known
        self.leading: dict[str, str | None] = {}  #: those that name new ones of their like, others each; what they say
        self.growing: set[str] = set()  #: those that name new ones within themselves alone
        self.staying: set[str] = set()  #: those that name the same when they are asked for again

    @property
    def _works(self) -> bool:
        """Do looks tell something?"""
        return self._fruitless < FRUITLESS and not self._honest

    @property
    def steady(self) -> bool:
        """Do the links of all pages stay that were asked again, copies among them?"""
        return self._steady >= STEADY and self._copies_steady and not self._stayed

    @property
    def still(self) -> bool:
        """The same for pages of any kind."""
        return self._steady >= STEADY and not self._stayed

    def wants(self, page: PageId, pages: PageTable) -> bool:
        """Is the page that named this one to be asked again, before this one is visited?"""
        parent = pages.parents[page]
        new = parent not in self._asked and len(self._asked) < MOST and pages.kinds[parent] is Kind.PAGE
        works = self._works or (not self.steady and self._looked < LOOKS and self.is_copy(parent))
        return new and works and not self.why_not_named(parent)

    def is_copy(self, page: PageId) -> bool:
        """Does it show what others show, and lead on?"""
        return page in self._echoes.echoes or self._echoes.barren.leads(page)

    def told(self, page: PageId, pages: PageTable) -> bool:
        """Is it known whether its link stayed? Where all do, few copies are no sign."""
        return self.stay or (self._works and pages.parents[page] in self._stayed)

    def asked(self, page: PageId) -> None:
        """A page is asked again, once."""
        self._asked.add(page)

    def was_asked(self, page: PageId) -> bool:
        """Was it asked again, as :meth:`asked` says?"""
        return page in self._asked

    def answered(self, page: PageId, content: str | None, named: Sequence[PageId], pages: PageTable) -> None:
        """What it named again."""
        if page == UNSEEN:
            return
        self._asked.add(page)
        self._looked += self.is_copy(page)
        same = content is not None and self.shows(page, content)
        alone = named_alone(page, pages)
        if same and alone <= set(named):
            self.stay = True
            self._steady += bool(alone)
            self._copies_steady = self._copies_steady or (bool(alone) and self.is_copy(page))
            self._fruitless += 1
        elif named and same:
            self._stayed[page] = frozenset(named)
            self._fruitless = 0
        else:
            self._fruitless += 1

    def named(self, page: PageId, named: Sequence[PageId], pages: PageTable) -> None:
        """The same, whatever it shows; remembers it if all links are gone that it was the first to name."""
        if page != UNSEEN:
            self.again[page] = frozenset(named)
        if page != UNSEEN and (alone := named_alone(page, pages)) and alone.isdisjoint(named):
            self.gone.add(page)

    def stays(self, page: PageId, parent: PageId) -> bool | None:
        """Is the link of a page there when that is asked for again? ``None``: it was not asked."""
        asked = parent in self._asked or parent in self.again or len(self._asked) >= MOST
        return page in self.again.get(parent, ()) if asked else None

    def suggested_again(self, url: str, look: str) -> None:
        """What nobody names was asked for once more: does it name the same?"""
        if (before := self.suggested.get(url)) and set(before) <= set(self.suggested.get(look, ())):
            self.staying.add(url)

    def shows(self, page: PageId, content: str) -> bool:
        """Is a content the page's own, or one of those that copies show by turns?"""
        first = self._echoes.first.get(content)
        by_turns = self.is_copy(page) and self.is_copy(first)
        return first == page or self._echoes.copies.get(page) == hash(content) or by_turns

    def saw(self, page: PageId, content: str, pages: PageTable, *, new: bool) -> None:
        """A page was captured; ``new``: no other had shown what it shows."""
        parent = pages.parents[page]
        if parent not in self._stayed:
            return
        echo = self.is_copy(page)
        if page in self._stayed[parent]:
            self._fruitless = self._fruitless + 1 if echo else 0  # traps may have links that stay, too
        elif new:
            self._honest = True
        elif echo and pages.depths[self._echoes.first.get(content)] > 0:
            keys = (parent, hash(content)), (UNSEEN, hash(content))
            self._copies.update(keys)
            of_one, of_all = (self._copies[key] + bool(self._errors.why_not(content)) for key in keys)
            sure = of_one >= SAMPLE or of_all > SAMPLE
            if sure:
                self._texts.add(hash(content))

    def shown(self, content: str) -> None:
        """What a name shows that nobody gave."""
        if any(text == hash(content) for _, text in self._copies):
            self._texts.add(hash(content))

    def why_not(self, page: PageId, pages: PageTable) -> str | None:
        """Why a page is left that waits; ``None``: it is not."""
        if not self._texts or self._honest or page in self._stayed.get(pages.parents[page], (page,)):
            return None
        return "its link was gone when its page was requested again"

    def why_not_named(self, parent: PageId) -> str | None:
        """Why what a page names first is left; ``None``: it is not."""
        if not self._texts or self._honest or self._echoes.copies.get(parent) not in self._texts:
            return None
        return "only pages link it whose own links are gone when their page is requested again"


def named_alone(page: PageId, pages: PageTable) -> set[PageId]:
    """Pages that it was the first to name."""
    return {one for one in named_first(page, pages) if pages.kinds[one] is Kind.PAGE}


def named_first(page: PageId, pages: PageTable) -> Sequence[PageId]:
    """All that it was the first to name, in the order of discovery."""
    known = _NAMED.setdefault(pages, _Named())
    known.learn(pages)
    return known.of.get(page, ())


class _Named:
    """Pages by who named them first."""

    def __init__(self) -> None:
        self.of: dict[PageId, array[int]] = {}
        self._known = 0

    def learn(self, pages: PageTable) -> None:
        """Those that are known since."""
        for page in range(self._known, len(pages)):
            self.of.setdefault(pages.parents[page], array("i")).append(page)
        self._known = len(pages)


_NAMED: WeakKeyDictionary[PageTable, _Named] = WeakKeyDictionary()  # a look asks for a few pages of maybe a million
