"""Calendars without an end: pages of ever other dates that show no more than the date.

A dated page is *empty* where another date of its calendar showed the same, dates left out, and where it named only
dated pages that are empty, too. A calendar is entered at the dates that pages without a date name. From there a year of
empty pages in a row is visited in each direction: twelve months, or 366 days, which are a calendar of their own. What
lies beyond is left where an empty page names it. No other rule looks at dated addresses.

Texts may change at each answer. If nearly all differ, what lies a year from where one came in waits, unless a page near
it named other pages. When nothing else is left, a year of such pages is asked for twice more: a page is empty, too, if
it shows no word each time that the others do not show, and another shows all its words.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from typing import TYPE_CHECKING

from sharc_crawler.addresses.unlikely import look_again_at, look_at
from sharc_crawler.links.dated import DATE_WORDS, GRID_WORDS, MONTH, dated
from sharc_crawler.model import Kind
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.pages import NO_PARENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sharc_crawler.links.dated import Dated
    from sharc_crawler.model import PageId
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.traps.renamed import Renamed

ROW, DAYS = 12, 366  #: empty months, and days, from where one came in, itself among them
TRIED = 24  #: of these, that are asked for twice more where their texts differ
PLACES = 20  #: of more, other rules are asked: something else in them differs
_WAITS = {State.QUEUED, State.LEASED}


class _Calendar:
    """What was visited of one calendar."""

    def __init__(self) -> None:
        self.dates: list[tuple[int, PageId]] = []
        self.entered: list[int] = []  # named by pages without a date
        self.texts: Counter[int] = Counter()
        self.plain: set[PageId] = set()  # whose text is no other date's, and that show no more than others each time
        self.differ: set[PageId] = set()  # that show more


class Calendars:
    """Which dates are left."""

    def __init__(self) -> None:
        self._pages: PageTable
        self._places: dict[tuple[str, bool], _Calendar] = {}
        self._shown: dict[PageId, tuple[_Calendar, int]] = {}  # what dated pages showed
        self._named: dict[PageId, list[PageId]] = {}  # pages that dated ones named first
        self._known = 0  # pages of which that is known

    def has(self, url: str) -> bool:
        """Is an address a calendar's?"""
        return self._date_of(url) is not None

    def _date_of(self, url: str) -> Dated | None:
        date = dated(url)
        return date if date and (_key(date) in self._places or len(self._places) < PLACES) else None

    def saw(self, page: PageId, content: str, pages: PageTable) -> bool:
        """A page was captured; is it a calendar's?"""
        date = self._date_of(pages.urls[page])
        if date is None:
            return False
        self._pages = pages
        place = self._places.setdefault(_key(date), _Calendar())
        insort(place.dates, (date.order, page))
        parent = self._pages.parents[page]  # none: a seed, or what was known before, empty pages among it
        if parent != NO_PARENT and not (place.entered and self._date_of(self._pages.urls[parent])):
            insort(place.entered, date.order)
        place.texts[hash(content)] += 1
        self._shown[page] = (place, hash(content))
        return True

    def doubts(self, page: PageId, url: str) -> bool:
        """Is a page to wait until nothing else is left? So the nearest dates are known before what lies beyond them."""
        date = self._date_of(url)
        place = self._places.get(_key(date)) if date else None
        if date is None or place is None or self._pages.parents[page] == NO_PARENT:
            return False
        if not place.entered:  # what was known before is looked at first, then what that names
            return True
        row = ROW * (1 if date.order % MONTH else MONTH) - 1
        least, most = date.order - row, date.order + row
        if bisect_left(place.entered, least) < bisect_left(place.entered, most + 1):
            return False
        near = place.dates[bisect_left(place.dates, (least,)) : bisect_left(place.dates, (most + 1,))]
        self._learn()
        told = 4 * len(place.texts) <= 3 * place.texts.total()  # else texts may change at each answer
        return not any(self._shows_more(page) if told else self._leads(page, place) for _, page in near)

    def why_not(self, url: str, parent: PageId) -> str | None:
        """Why a page that ``parent`` named first is left; ``None``: it is not."""
        date = self._date_of(url)
        place = self._places.get(_key(date)) if date else None
        if date is None or place is None or parent not in self._shown or self._shows_more(parent):
            return None
        self._learn()
        most = DAYS if date.order % MONTH else ROW
        row, beyond = _beside(place, date.order, most)
        if len(row) < most or any(not self._empty(page, place) for _, page in (*row, *beyond)):
            return None
        return f"{most} pages in a row beside it in a calendar ({date.place}) had nothing but dates"

    def _empty(self, page: PageId, place: _Calendar) -> bool:
        return not self._shows_more(page) and not any(self._brings(child, place) for child in self._named.get(page, ()))

    def _shows_more(self, page: PageId) -> bool:
        """Did no other date show the same?"""
        place, text = self._shown[page]
        return place.texts[text] == 1 and page not in place.plain

    def _brings(self, child: PageId, place: _Calendar) -> bool:
        """Is what a dated page named more than the next one, and than others that are empty?"""
        if child in self._shown:
            return self._shows_more(child)
        date = self._date_of(self._pages.urls[child])
        if date is None:
            return True
        return self._places.get(_key(date)) is not place and self._pages.states[child] in _WAITS

    def _leads(self, page: PageId, place: _Calendar) -> bool:
        """Did a dated page name more than others of its calendar?"""
        dates = (self._date_of(self._pages.urls[child]) for child in self._named.get(page, ()))
        return any(date is None or self._places.get(_key(date)) is not place for date in dates)

    def asks(self, page: PageId, renaming: Callable[[], Renamed]) -> list[str]:
        """What is to be asked for before it is known whether the texts of empty pages only change at each answer."""
        date = self._date_of(self._pages.urls[page]) if self._shown else None
        place = self._places.get(_key(date)) if date else None
        parent = self._pages.parents[page]
        if date is None or place is None or parent not in self._shown or not self._shows_more(parent):
            return []
        self._learn()
        most = DAYS if date.order % MONTH else ROW
        row = [one for some in _beside(place, date.order, most) for _, one in some]
        if len(row) < most or place.differ.intersection(row) or any(self._leads(one, place) for one in row):
            return []
        some = row[:: -(-len(row) // TRIED)]
        urls = [self._pages.urls[one] for one in some]
        if wanted := (renamed := renaming()).once(*(look(url) for url in urls for look in (look_at, look_again_at))):
            return wanted
        others = ({*urls} - {url} for url in urls)
        more = [one for one, rest in zip(some, others, strict=True) if _says_more(one, rest, renamed)]
        place.differ.update(more)
        place.plain.update(() if more else row)
        return []

    def _learn(self) -> None:
        pages = self._pages
        for page in range(self._known, len(pages)):
            if pages.kinds[page] is Kind.PAGE and pages.parents[page] in self._shown:
                self._named.setdefault(pages.parents[page], []).append(page)
        self._known = len(pages)


def _says_more(page: PageId, others: Iterable[str], renamed: Renamed) -> bool:
    """Does a page show more each time than other dates do together, or than any one of them? A menu has few words."""
    if renamed.shows_more(page, *others, but=DATE_WORDS):
        return True
    return all(renamed.shows_more(page, other, but=GRID_WORDS) for other in others)


def calendars_of(url: str) -> Calendars | None:
    """Return the rule for calendars, if the address is one's."""
    return Calendars() if dated(url) else None


def _key(date: Dated) -> tuple[str, bool]:
    """Of a calendar: days are apart from months, also where nothing else in their addresses tells them apart."""
    return date.place, date.order % MONTH > 0


def _beside(place: _Calendar, order: int, most: int) -> tuple[list[tuple[int, PageId]], list[tuple[int, PageId]]]:
    """The visited between a date and the nearest one that was no calendar's to name, and those beyond the date."""
    at, entry = bisect_left(place.dates, (order,)), bisect_left(place.entered, order)
    below, above = place.dates[:at], place.dates[at:]
    before, after = place.entered[:entry], place.entered[entry:]
    if not place.entered:
        before, after = [one[0] for one in below[:1]], [one[0] for one in above[-1:]]
    if before and (not after or order - before[-1] <= after[0] - order):
        return [one for one in below if one[0] >= before[-1]][-most:], above[:most]
    return [one for one in above if one[0] <= after[0]][:most], below[-most:]
