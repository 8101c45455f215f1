"""Places of an address that mean nothing, whatever stands there (``/kqzvbnwt/story/7``, ``?a=wmdkqjx``).

Such a value need not look made up. Its place is found by what it does: many pages that differ only there are copies of
each other, with ever other values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.plural import counted
from sharc_crawler.traps.addresses import forms
from sharc_crawler.traps.made_up import made_up

if TYPE_CHECKING:
    from sharc_crawler.traps.addresses import Form
    from sharc_crawler.traps.lasting_words import LastingWords
    from sharc_crawler.traps.suspicion import Suspicion

COPIES = 20  #: pages that were copies of one with something else there
OF_PAGES = 5  #: pages that had copies: a query that names all documents of one script is none
DOUBT = 4  #: copies, from which on more of them wait until nothing else is left
OF_FEW = 3  #: pages that had copies, and values, once nothing else waits
SHARE = 0.9  #: of the pages that could have been copies
MEANING = 3  #: where one in so many shows something else with something else in a place, that means something
VERSIONS = 3  #: copies of each content: fewer do not tell sessions that are handed on from a site's versions
MOST = 500  #: places that are watched
MOST_FIRST = 500  #: contents whose first addresses are remembered
RESTS = 5_000  #: addresses without what stands in a place, all places together


class _SeenPlace:
    """What was seen in one place."""

    def __init__(self) -> None:
        self.rests: set[int] = set()
        self.copied: set[int] = set()  # rests that had copies
        self.values: set[int] = set()  # that stood there, in copies
        self.pages = 0  # with a rest that was there before
        self.copies = 0
        self.kept = 0  # of these pages: in whose parents' addresses the same stood
        self.changed: set[int] = set()  # rests that showed something else, too
        self.odd = 0  # copies in whose address something looks made up there

    @property
    def looks_made_up(self) -> bool:
        """Does each value that stood there look made up, like a session's name or a long number?"""
        return self.odd == self.copies

    @property
    def idle(self) -> bool:
        """Does the place mean nothing?"""
        return self.mostly(COPIES, COPIES, OF_PAGES)

    def mostly(self, copies: int, values: int, of: int) -> bool:
        """Are so many pages copies, of so many others, and nearly all that could be?"""
        enough = self.copies >= copies and len(self.values) >= values and len(self.copied) >= of
        return enough and self.copies >= SHARE * self.pages and not self._may_be_versions()

    def _may_be_versions(self) -> bool:
        """May the values be versions? Pages hand them on by their links, and some showed something else."""
        few = self.copies < VERSIONS * (len(self.rests) + self.pages - self.copies)
        means = MEANING * len(self.changed) >= len(self.rests)
        return bool(self.changed) and 2 * self.kept >= self.pages and (few or means)


class IdlePlaces:
    """Counts by place how many pages are copies.

    >>> places = IdlePlaces()
    >>> for one in range(26):
    ...     places.saw(f"http://h/{chr(97 + one) * 7}/{one % 6}", f"story {one % 6}", first=f"http://h/s/{one % 6}")
    >>> places.why_not("http://h/qwertz/5")
    '20 pages were copies of those with something else in /*'
    >>> places.why_not("http://h/qwertz/6") is None
    True
    """

    def __init__(self) -> None:
        self._first: dict[int, str] = {}  # contents whose first addresses are like none of the next: what is, instead
        self._places: dict[str, _SeenPlace] = {}
        self._found: dict[str, str] = {}
        self._rests = 0
        self._few: dict[str, str] = {}  # places that mean nothing on a site that is as small as it looks
        self.doubtful: set[str] = set()  #: places that may mean nothing
        self.made_up: frozenset[str] | set[str] = frozenset()  #: those where a value that nobody gave shows the same

    def saw(self, url: str, content: str, parent: str = "", first: str = "") -> None:
        """A page was captured, which ``parent`` named first; ``first``: which had shown the same."""
        first = self._first.get(hash(content), first)
        shared = {form.rest for form in forms(first)} if first else set()
        here, odd = forms(url), [value for part in made_up(url) for value in part.values]
        if first and not any(form.rest in shared for form in here) and len(self._first) < MOST_FIRST:
            self._first[hash(content)] = url  # a front page has other addresses within: the next is compared with those
        for form in here:
            if form.rest in shared and form.place not in self._places and len(self._places) < MOST:
                self._places[form.place] = _SeenPlace()
            place = self._places.get(form.place)
            if place is not None:
                place.odd += form.rest in shared and any(value in form.value for value in odd)
                self._count(place, form, copy=form.rest in shared, kept=form.value in parent)

    def _count(self, place: _SeenPlace, form: Form, *, copy: bool, kept: bool) -> None:
        rest = hash(form.rest)
        if not copy and rest in place.rests:
            place.changed.add(rest)
        place.pages += (again := copy or rest in place.rests)
        place.kept += again and kept
        if rest not in place.rests and self._rests < RESTS:
            place.rests.add(rest)
            self._rests += 1
        if not copy:
            return
        place.copies += 1
        if len(place.values) < COPIES:
            place.values.add(hash(form.value))
        if len(place.copied) < OF_PAGES:
            place.copied.add(rest)
        if place.mostly(DOUBT, 2, 1):
            self.doubtful.add(form.place)
        if place.idle and form.place not in self._found:
            self._found[form.place] = _in_words(place, form.place)

    def doubts(self, url: str, words: LastingWords) -> bool:
        """Is a page to wait until nothing else is left? Its value looks made up, or none of its words lasts."""
        return bool(self.doubtful) and any(
            form.place in self.doubtful
            and hash(form.rest) in self._places[form.place].rests
            and (self._places[form.place].looks_made_up or words.alone(form.value))
            and self._places[form.place].mostly(DOUBT, 2, 1)
            for form in forms(url)
        )

    def nothing_else(self, contents: int) -> None:
        """Nothing else is left: on a small site fewer copies are enough."""
        for name in self.doubtful:
            place = self._places[name]
            enough = DOUBT if place.looks_made_up else min(COPIES, max(DOUBT, contents // 2 + 1))
            if place.mostly(enough, OF_FEW, OF_FEW):
                self._few[name] = _in_words(place, name)

    def tells_nothing(self, url: str) -> bool:
        """Has an address a place where a value that nobody gave shows the same? Then other rules have no say."""
        return bool(self.made_up) and any(form.place in self.made_up for form in forms(url))

    def _made_up_why(self, place: str) -> str:
        """Why a page is a copy, by a place where a value that nobody gave shows the same: four copies are enough."""
        copied = place in self.made_up and place in self._places and self._places[place].mostly(DOUBT, 2, 1)
        return _in_words(self._places[place], place) if copied else ""

    def why_not(self, url: str, suspicion: Suspicion | None = None) -> str | None:
        """Why a page is a copy of one that was visited; ``None``: it may be none."""
        if not self._found and not self._few and not self.made_up:
            return None
        for form in forms(url):
            why = self._found.get(form.place)
            few = self._few.get(form.place) or self._made_up_why(form.place)
            if why is None and suspicion and few:
                alone = self._places[form.place].looks_made_up or suspicion.words.alone(form.value)
                why = few if alone else None
            if why and hash(form.rest) in self._places[form.place].rests:
                return why
        return None


def _in_words(place: _SeenPlace, name: str) -> str:
    return f"{counted(place.copies, 'page', 'were')} copies of those with something else in {name}"
