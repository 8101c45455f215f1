"""Pages that a site names by other words in each answer, as sessions do.

Pages are alike where their addresses have the same lasting words (:mod:`.lasting_words`). A page whose links are all
new is asked for once more. If that answer names its pages by other words, a queued page waits while it is like a
visited one. When nothing else is left, the page that named it is asked for once more. Words that are named again last,
so the queued page may be like no other any more. If it is, the visited page is asked for twice and the queued one once.
They are one page if the queued one shows all that the visited one shows each time, and differs from it by no more than
the two answers of the visited one differ. So no rule knows what a site makes up, and texts may change.

After a few such comparisons, none of which found two pages, all that is like a visited page is left.
"""

from __future__ import annotations

from array import array
from bisect import bisect
from collections import Counter, defaultdict
from typing import TYPE_CHECKING
from zlib import crc32

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.addresses.unlikely import look_again_at, look_at, look_closely_at
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.traps.fleeting import named_first
from sharc_crawler.traps.lasting_words import EXTENSION, WORD, lasting_words, words_of
from sharc_crawler.traps.series import Series, series_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sharc_crawler.model import PageId
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.traps.lasting_words import LastingWords
    from sharc_crawler.traps.rules import Traps

ASK, MORE = 2, 4  #: pages that name none that is known, until one is asked for once more; then so many times as many
SEVERAL = 4  #: comparisons that find one page, where an answer named several that are alike
SURE = 2  #: comparisons that found one page, for each one that found two, and one
EARLY = 5  #: comparisons that do not wait until nothing else is left
ROUNDS = 3  #: comparisons that found two pages, from which on what is alike is not one page
STAYS = 3  #: pages whose words were named again, for each one, and one, whose words were not: these are no suspects
BESIDE = 20  #: pages that one answer named, before and after a page, that are looked at
MOST_SAID = 500  #: answers whose texts are kept, the latest: what is compared is asked for shortly before
WHY = "its link was gone when its page was requested again, and it shows the same as a page with the same lasting words"


class _LikePages:
    """Pages of the same lasting words."""

    def __init__(self) -> None:
        self.gone: set[PageId] = set()  # that were not named again
        self.stays = 0  # pages that were
        self.pair: tuple[PageId, PageId] | None = None  # that are compared
        self.compared: set[tuple[PageId, PageId]] = set()
        self.same = 0  # comparisons in a row that found one
        self.differ = 0  # comparisons that found two pages
        self.one = False  # they are one page


class Renamed:
    """Compares pages of the same lasting words, and knows which of these are one page."""

    def __init__(self, pages: PageTable, words: LastingWords) -> None:
        self._pages, self._words = pages, words
        self._compared: defaultdict[str, _LikePages] = defaultdict(_LikePages)  # by their lasting words
        self._row, self._ask = 0, ASK
        self._most = 0, 0, NO_PARENT  # elsewhere, new ones that one page of these named
        self._fewest = 100  # words that may be made up, of what was compared early
        self._case = UNSEEN  # what is compared though other pages are left
        self._looked: set[PageId] = set()  # that were asked once more what they name
        self._asked: set[str] = set()
        self.answers = 0  #: of what was asked once more
        self._said: dict[str, frozenset[int] | None] = {}  # what was shown
        self._links: dict[str, set[str]] = {}  # and words of the addresses there
        self._likes: dict[str, set[str]] = {}  # and their lasting words
        self._shown = array("q")  # by page: a hash of its content; 0: none
        self._same: set[PageId] = set()  # that show to a look what they showed
        self._changing: set[int] = set()  # words that a page showed and did not show
        self._one = self._two = 0
        self._queries: Counter[str] = Counter()  # names of parameters that did not last, of pages that are one
        self._stars: set[int] = set()  # words that did not last, in addresses of one page
        self.series = Series(pages, self)
        self.found = False  #: does a page name its pages by other words?
        self.again: set[PageId] = set()  #: pages that were named once more, if by other words than those that last

    # -- what is seen --------------------------------------------------------------------------------------------------

    def showed(self, page: PageId, content: str) -> None:
        """What a page shows, which was captured."""
        if page >= len(self._shown):
            self._shown.frombytes(bytes(8 * (len(self._pages) - len(self._shown))))
        self._shown[page] = hash(content)

    def saw(self, page: PageId, linked: Sequence[PageId]) -> Sequence[str]:
        """A page was captured that names these; what is to be asked for."""
        pages, parents, depths = self._pages, self._pages.parents, self._pages.depths
        self._words.visited(page)
        wanted = self.once(*self.series.saw(page, linked))
        parent = parents[page]
        # menus, which seeds name, mostly stand first
        if any(depths[one] > 1 and parents[one] != page and one != parent for one in reversed(linked)):
            return wanted
        url = pages.urls[page]
        folder, own = url.rpartition("/")[0], [pages.urls[one] for one in linked if parents[one] == page]
        new = sum(not series_of(one, url, 1) for one in own)
        elsewhere = sum(one.rpartition("/")[0] != folder for one in own)
        self._row += new > 0
        self._most = max(self._most, (elsewhere, new, page))
        if self._row < self._ask or self.found:
            return wanted
        most, self._most = self._most[-1], (0, 0, page)
        self._row, self._ask = 0, MORE * self._ask
        return [*wanted, *self._look(most)]

    def _look(self, page: PageId) -> list[str]:
        """Asks for a page once more, to see what it names."""
        if page in self._looked or page == NO_PARENT:
            return []
        self._looked.add(page)
        return self.once(look_at(self._pages.urls[page]))

    def once(self, *asked: str) -> list[str]:
        """What is to be asked for of these: what was not asked for before."""
        new = [one for one in asked if one not in self._asked]
        self._asked.update(new)
        return new

    def asked_before(self, page: PageId, look: str) -> None:
        """A former process asked for it once more, as ``look``."""
        self._looked.add(page)
        self._asked.add(look)

    def has_asked(self, look: str) -> bool:
        """Did this rule ask for it?"""
        return look in self._asked

    def looked(self, page: PageId, look: str, named: Iterable[str], said: frozenset[int] | None, *, same: bool) -> None:
        """A page was asked for as ``look``: what it names and says; ``same``: it shows what it showed when visited."""
        named = set(named)
        self.answers += 1
        self._said[look] = said
        self._links[look] = {word for url in named for word in words_of(url)}
        if len(self._said) > MOST_SAID:
            oldest = next(iter(self._said))
            del self._said[oldest], self._links[oldest]
            self._likes.pop(oldest, None)
        if same and page != UNSEEN:
            self._same.add(page)
        if said is None and "#" not in look:
            self._asked.add(look_closely_at(look))  # which is then asked for
        if page == UNSEEN:
            return
        pages = self._pages
        before = {one: self._words.bare(pages.urls[one]) for one in named_first(page, pages)}
        self._words.asked_again(page, map(pages.urls.__getitem__, before), named)
        for url in named:
            self._words.name(url, -3 - self.answers)
        self._likes[look] = again = {*map(self._words.bare, named)}
        for one, bare in before.items():
            now = self._words.bare(pages.urls[one])
            self.found = self.found or ("*" in now and page in self._looked)
            if "*" not in now and self._words.alike.get(bare):
                self._compared[bare].stays += 1
            if now != bare and now in again:
                self.again.add(one)

    # -- what it comes to ----------------------------------------------------------------------------------------------

    def is_fresh(self, url: str, page: PageId) -> bool:
        """On a site where like pages are one: is a page like no visited one?"""
        if not self.sure or (page == UNSEEN and not self._words.help):
            return False
        return page == UNSEEN or self._words.is_known(page) or not self._words.alike.get(self._words.bare(url))

    def doubts(self, page: PageId) -> bool:
        """Is a page to wait until nothing else is left?"""
        return self._suspects(page) is not None

    def _suspects(self, page: PageId) -> _LikePages | None:
        """The visited pages that one is like, unless these are known to be several."""
        pages = self._pages
        if not self.found or self._words.is_known(page) or page in self._words.of or pages.parents[page] == NO_PARENT:
            return None
        bare = self._words.bare(url := pages.urls[page])
        if not self._words.alike.get(bare) or "*" not in bare or series_of(url, pages.urls[pages.parents[page]], 1):
            return None
        alike = self._compared[bare]
        released = alike.differ >= ROUNDS or alike.stays >= STAYS * (1 + len(alike.gone))
        return None if released else alike

    def asks(self, page: PageId) -> list[str]:
        """What is to be asked for before it is known whether a page is another."""
        alike = self._suspects(page)
        pages = self._pages
        if alike is None or self._ends(pages.urls[page]):
            return []
        first = self._words.alike[self._words.bare(pages.urls[page])][0]
        for one in (page, first):
            if wanted := self._look(pages.parents[one]):
                return wanted
        self._know(alike, page)
        if alike.one or self._is_like_one(pages.urls[page]):
            return []
        alike.gone |= {page, first}
        if alike.pair is None:
            alike.pair = first, page
        url, other = (pages.urls[one] for one in alike.pair)
        if wanted := self.once(look_at(url), look_again_at(url), look_at(other)):
            return wanted
        if alike.pair not in alike.compared:
            alike.compared.add(alike.pair)
            self._compare(alike, *alike.pair)
        if alike.one or alike.differ >= ROUNDS or alike.pair[1] == page:
            return []
        alike.pair = alike.pair[0] if alike.same else alike.pair[1], page
        return self.asks(page)

    def _know(self, alike: _LikePages, page: PageId) -> None:
        """Takes visited pages that are alike and showed the same for one page, without comparing them."""
        visited = self._words.alike[bare := self._words.bare(self._pages.urls[page])]
        shown = {self._shown[one] if one < len(self._shown) else 0 for one in visited}
        enough = SEVERAL if self._names_several(page, bare) else 2
        if not alike.one and len(shown) == 1 and 0 not in shown and len(visited) >= enough:
            self._is_one(alike, page)

    def _is_one(self, alike: _LikePages, page: PageId) -> None:
        alike.one = True
        self._one += 1
        self._stars.add((bare := self._words.bare(self._pages.urls[page])).count("*"))
        self._queries[_made_up_in_query(bare)] += 1

    def _compare(self, alike: _LikePages, first: PageId, second: PageId) -> None:
        if self._shows_same(first, second):
            alike.same += 1
            bare = self._words.bare(self._pages.urls[second])
            if alike.same >= (SEVERAL if self._names_several(second, bare) else 1):
                self._is_one(alike, second)
        else:
            alike.same = 0
            alike.differ += 1
            self._two += alike.differ >= ROUNDS

    def _names_several(self, page: PageId, bare: str) -> bool:
        """Did one answer name several pages that are alike?"""
        pages = self._pages
        beside = named_first(pages.parents[page], pages)
        at = bisect(beside, page)
        some = (*beside[max(0, at - 1 - BESIDE) : at - 1], *beside[at : at + BESIDE])
        return any(self._words.bare(pages.urls[one]) == bare for one in some)

    def _says(self, look: str) -> frozenset[int] | None:
        """What was shown to a look; where a server knows no such queries, the page itself."""
        look = look if self._said.get(look) is not None else look_closely_at(look)
        said = self._said.get(look)
        made_up = {crc32(word.encode()) for word in self._links.get(look, ()) if not self._words.lasts(word)}
        return None if said is None else said - made_up

    def _shows_same(self, page: PageId, other: PageId) -> bool:
        return self.shows_same(self._pages.urls[page], other, steady=page in self._same)

    def shows_same(self, url: str, other: PageId, *, steady: bool | None = None) -> bool:
        """Does a page show what an address shows each time, and differ no more than its answers do?

        ``steady``: did that show to a look what it had shown? If it is not told: did the page?
        """
        looks = (look_at(url), look_again_at(url), look_at(self._pages.urls[other]))
        first, again, shown = map(self._says, looks)
        if first is None or again is None or shown is None:
            return False
        noise = first ^ again
        self._changing |= noise
        core = (first & again) - self._changing
        more = shown - first - again - self._changing
        steady = other in self._same if steady is None else steady
        return bool(core and (noise or steady)) and core <= shown and len(more) <= len(noise)

    def shows_more(self, page: PageId, *urls: str, but: Iterable[int] = ()) -> bool:
        """Does a page show each time what addresses never show? Words of its own address and links do not count.

        ``but``: nor do these.
        """
        own, *others = ([look_at(one), look_again_at(one)] for one in (self._pages.urls[page], *urls))
        said = [shown for shown in map(self._says, own) if shown is not None]
        if len(said) < len(own):  # it is not known yet
            return True
        links = (self._links.get(look, ()) for look in (*own, *map(look_closely_at, own)))
        named = {crc32(word.encode()) for word in {*words_of(self._pages.urls[page])}.union(*links)}
        shown = (self._says(look) or () for looks in others for look in looks)
        return bool(frozenset.intersection(*said).difference(named, self._changing, but, *shown))

    def names_again(self, page: PageId, other: PageId) -> bool:
        """Does a page name another when it is asked for once more?"""
        look, words = look_at(self._pages.urls[page]), {*words_of(self._pages.urls[other])}
        return any(words <= self._links.get(one, set()) for one in (look, look_closely_at(look)))

    @property
    def sure(self) -> bool:
        """Is all that is like a visited page one with it?"""
        return self._one >= SURE * (1 + self._two)

    def _is_like_one(self, url: str) -> bool:
        return self.sure and self._words.bare(url).count("*") in self._stars

    def early(self, page: PageId = UNSEEN) -> list[str]:
        """The same while other pages are left: a few pages, one after the other."""
        if not self.found or self.sure or self._one + self._two >= EARLY or not self._asked <= self._said.keys():
            return []
        if self._case == page == UNSEEN:
            return []
        if self._case == UNSEEN:
            made_up = self._words.bare(self._pages.urls[page]).count("*")  # more: its own name may not last yet
            self._fewest = min(self._fewest, made_up)
            self._case = page if made_up == self._fewest else UNSEEN
        wanted = self.asks(self._case) if self._case != UNSEEN else []
        self._case = self._case if wanted else UNSEEN
        return wanted

    def why_not(self, url: str, parent: PageId, page: PageId) -> str:
        """Why a page is left; empty: it is not. ``page``: it waits under this number."""
        if why := self.series.why_not(url, parent):
            return why
        if page == UNSEEN and self.sure:
            self._words.name(url, parent)
            bare = self._words.bare(url)
            alike = self._compared[bare] if self._words.alike.get(bare) else None
        else:
            alike = self._suspects(page) if page != UNSEEN else None
        if alike is None or not (alike.one or self._is_like_one(url)):
            return ""
        return WHY if self._ends(url) or self._is_gone(url, parent) else ""

    def _is_gone(self, url: str, parent: PageId) -> bool:
        """Did its parent, asked once more, name its like instead?"""
        looks = (look := look_at(self._pages.urls[parent])), look_closely_at(look)
        return any(self._words.bare(url) in self._likes.get(look, ()) for look in looks)

    def _ends(self, url: str) -> bool:
        """Does a lasting word, or the path alone, name the page, on a site where like pages are one?"""
        if not self._is_like_one(url):
            return False
        bare = self._words.bare(url)
        names = _made_up_in_query(bare)
        behind = EXTENSION.sub("", bare).rpartition("*")[2]
        return WORD.search(behind) is not None or bool(names and self._queries[names] >= SURE)


def renaming(traps: Traps, pages: PageTable) -> Renamed:
    """The rule of a capture; made when it is first asked for."""
    traps.renamed = traps.renamed or Renamed(pages, lasting_words(traps, pages))
    return traps.renamed


def _made_up_in_query(bare: str) -> str:
    """The names of parameters that do not last; empty: something in the path does not, either."""
    path, _, query = bare.partition("?")
    return "" if "*" in path else "&".join(one.partition("=")[0] + "=" for one in query.split("&") if "*" in one)
