"""Folders that answer whatever name is asked for, with pages that name ever new ones: they have no end.

The texts of such pages may differ at each visit, or be empty. Where a few pages of a folder name mostly new ones, two
addresses are asked for that nobody names, made like theirs. A site that checks its names says that there are no such
pages. Where both are pages that name new ones, each others, and do not show the same, the folder is bottomless: what
its pages name first waits until nothing else is left. A true page is one that another page names, too. Other links do
not count: a page may name true pages by chance, the page that led to it, or a menu.

After a row of pages that name new ones the folder is left, if their links are gone when they are asked for again. If
the links stay, it is left after a longer row, provided that the two made-up addresses keep their links, too. Error
pages may suggest true pages by chance: such links do not stay.

On a site with many known pages, pages that seeds name count, too, until the folder is asked: with n links a page, the
third generation comes only after n² visits. Pages that named many before anything was counted are asked for again then.
What a page is about to name in a folder that is left does not become known. So a site of 200 made-up links a page ends
with some 5,000 known pages, in whatever order it is visited.

A folder may check names and still give new ones each time. It is left after a very long row of pages that name none
that is known: after a hundred, if most links of three of them are gone on asking again, else after two thousand.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import compress, islice
from typing import TYPE_CHECKING

from sharc_crawler.addresses.known_urls import UNSEEN, picked
from sharc_crawler.addresses.unlikely import look_at, nobodys
from sharc_crawler.plural import counted
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.traps.addresses import first_folder, shape
from sharc_crawler.traps.common import MANY
from sharc_crawler.traps.doubted import LAST as LATE
from sharc_crawler.traps.fleeting import named_alone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sharc_crawler.model import PageId
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.traps.echoes import Echoes
    from sharc_crawler.traps.fleeting import FleetingLinks

ASK = 5  #: such pages in a row, from which on it is asked
ROW = 20  #: from which on what they name is left, where links are gone when their page is asked again
LONG = 40  #: the same, where they stay, and so do those of what nobody names
LATE_ROW = 120  #: pages in a row that name none of their folder that is known but what led there: what they name waits
SERIES = 4  #: pages that name one alone count as one: parts of a series know the next alone
MOST = 10  #: folders that are asked in
KNOWN = 20_000  #: first steps of paths that are counted
MORE, TIMES = 3, 3  #: so many times as many, until it is asked again, and how often in one folder
SHORT = 10  #: pages in a row, where another folder was left
LEAF, AGAIN = 0.25, 2.0  #: fewer for a page that leads no further; for one that names again what such a page had named
ALONE, LAST = 100, 2_000  #: pages in a row that name none that is known: where most links are gone, and anyway
LOST = 3  #: links that are gone, and pages that are asked for again then
COMMON = 3  #: such pages under one first step of the path, which is a folder then; else it may be made up, too
LOOKS = 2  #: pages that are asked for once more
HUB, HUBS = 20, 10  #: new ones that a page named before anything was counted, and of such pages those that are watched
SOME = 50  #: of the links of a page that are looked at before anything was asked
ABOVE = 50  #: pages that led to one, each named by the one before, which it may name again
_LEADS, _WAITED = 1, 2


@dataclass
class _MadeFolder:
    """What is known of one."""

    row: float = 0.0  #: pages that lead on, less what speaks against it
    latest: dict[PageId, frozenset[PageId]] = field(
        default_factory=dict
    )  #: of these, and what of the folder they named
    growing: int = 0  #: of those, in a row, that name others within themselves alone
    single: int = 0  #: of those that name one alone
    series: int = 0  #: of all, in a row, that name none of the folder that is known, but by seeds, and what led there
    alone: int = 0  #: of all, in a row, that name none that is known, but by seeds
    probes: tuple[str, ...] = ()
    times: int = 0  #: that it was asked
    asked: dict[PageId, frozenset[PageId]] = field(default_factory=dict)  #: pages, and what of the folder they named
    looks: list[Sequence[str]] = field(default_factory=list)  #: to be asked for once more: these, then the probes
    why: str = ""  #: the rest of it is left; it stays so
    stays: bool = False  #: though its links do: who named what tells nothing

    def count(self, pages: float) -> None:
        """Counts a page that leads on (1.0), or something that speaks against a trap (less than 0)."""
        self.row = max(0.0, self.row + pages)

    def mostly_gone(self, looks: FleetingLinks) -> bool:
        """Are most links of the pages gone that were asked for again, and at least a few?"""
        lost = sum(len(named - looks.again.get(one, named)) for one, named in self.asked.items())
        return lost >= max(LOST, sum(map(len, self.asked.values())) / 2)

    def gone(self, looks: FleetingLinks) -> bool:
        """Are the links of all pages gone that were asked for once more?"""
        return all(one in looks.gone and named.isdisjoint(looks.again[one]) for one, named in self.asked.items())

    def made(self, looks: FleetingLinks | None) -> bool:
        """Does it have whatever page is asked for?"""
        if looks is None or not self.probes:
            return False
        if not looks.leading.keys() >= {*self.probes}:
            return self.growing >= ASK and looks.growing.issuperset(self.probes)
        said = {looks.leading[one] for one in self.probes}
        return len(said) > 1 or None in said


class Bottomless:
    """Counts pages that lead on by folder; asks, and knows the answers."""

    def __init__(self, twice: bytearray) -> None:
        """``twice``: by page, did two name it?"""
        self.closed = False  #: is anything left?
        self._pages: PageTable | None = None
        self._marks = bytearray()  # by page: does it lead on, had it waited?
        self._twice = twice
        self._firsts: Counter[str] = Counter()  # first steps of their paths
        self._folders: dict[str, _MadeFolder] = {}
        self.doubts = False  #: may anything wait?
        self._probed: list[_MadeFolder] = []
        self._asked = 0
        self._looks: FleetingLinks | None = None  # what answers showed
        self._hubs: list[PageId] = []  # that named many before anything was counted: do these links stay?

    def saw(
        self,
        page: PageId,
        url: str,
        linked: Sequence[PageId],
        known: Sequence[PageId],
        pages: PageTable,
        copies: Echoes | None,
        looks: FleetingLinks | None,
    ) -> Sequence[str]:
        """A page was captured that names these, of which others are known by other pages; what is to be asked for."""
        self._learn(page, linked, pages, looks)
        parents = pages.parents
        if len(linked) > SOME and not self._asked:  # menus, of hundreds on some sites, mostly stand first
            linked = linked[-SOME:]
            known = [one for one in linked if parents[one] != page]
        new = [*compress(linked, map(page.__eq__, picked(parents, linked)))] if len(known) < len(linked) else []
        if new and len(self._firsts) < KNOWN:
            self._firsts[first_folder(url)] += 1
        folder = self._folder_of(pages.parents[page], url)
        if folder is None and not new:
            return ()
        early = folder is None and self._is_early(page, pages)
        folder = self._folder_at(url) if early else folder
        made = folder is not None and folder.made(looks)
        self.doubts = self.doubts or made
        again = self._named_again(page, linked, pages) if made else _more_alike(url, known, len(new), pages)
        if new and (made or not again):
            _reaching(self._marks, page)[page] |= _LEADS | _WAITED * made
        if folder is None:
            return ()
        self._count_series(folder, page, known, pages, leads=bool(new))
        if copies and next(reversed(folder.latest), UNSEEN) in copies.copies:  # what it shows tells more
            folder.count(-1.0)
        if again or not new:
            folder.alone = 0
            folder.count(-AGAIN if again and made else -LEAF if not again else -folder.row)
        elif made or len(new) > 1 or self._counts(folder):
            grows = all(pages.urls[one].startswith(f"{url.rstrip('/')}/") for one in new)
            folder.growing = folder.growing + 1 if grows else 0
            folder.count(1.0)
            if not early:
                folder.alone = (folder.alone + 1) * all(pages.depths[one] <= 1 or one == page for one in known)
            folder.latest = dict([*folder.latest.items()][1 - ASK :]) | {page: self._own(page, linked, pages)}
            return self._weigh(folder, pages, made=made, alone=not early)
        return ()

    def _count_series(
        self, folder: _MadeFolder, page: PageId, known: Sequence[PageId], pages: PageTable, *, leads: bool
    ) -> None:
        """A page that ``leads`` on names no known page of its folder: what such pages name waits after a long row."""
        if leads:
            folder.series = 0 if known and self._own(page, known, pages) else folder.series + 1
        self.doubts = self.doubts or folder.series >= LATE_ROW

    def foresee(self, page: PageId, new: int, known: Sequence[PageId], pages: PageTable) -> None:
        """A page is about to name so many new ones: where its folder is left, they need not be known."""
        url = pages.urls[page]
        if new and pages.depths[page] and self._folder_at(url).why and not _more_alike(url, known, new, pages):
            _reaching(self._marks, page)[page] |= _LEADS

    def _learn(self, page: PageId, linked: Sequence[PageId], pages: PageTable, looks: FleetingLinks | None) -> None:
        """What a page tells of others."""
        if self._pages is None:
            self._firsts.update({first_folder(pages.urls[one]): COMMON for one in _named_by_seeds(pages)})
            named = [one for one, number in Counter(pages.parents).most_common() if number >= HUB]
            self._hubs = [one for one in named if one not in {NO_PARENT, page} and pages.depths[one]][:HUBS]
        self._pages = pages
        if looks is not self._looks:
            self._looks = looks
            self.answered()
        if looks and looks.leading:
            self._disprove({pages.urls[one] for one in linked}, looks)

    def _weigh(self, folder: _MadeFolder, pages: PageTable, *, made: bool, alone: bool) -> Sequence[str]:
        enough = folder.times < TIMES and folder.row >= min(LONG, ASK * MORE**folder.times)
        if not made and enough and self._asked < MOST:
            return self._ask(folder, pages)
        if not made:
            return self._alone(folder, pages) if alone else ()
        if folder.why or self._looks is None:
            return ()
        if folder.row < (SHORT if self.closed else ROW):
            return folder.looks.pop(0) if len(folder.looks) > 1 else ()
        stays = self._looks.staying.issuperset(folder.probes)
        gone = folder.gone(self._looks)
        if self.closed or gone or (stays and folder.row >= LONG):
            return self._close(folder, folder.row, " but new ones, as made-up addresses do", stays=not gone)
        return folder.looks.pop(0) if folder.looks else ()

    def _alone(self, folder: _MadeFolder, pages: PageTable) -> Sequence[str]:
        """A folder may check names: does it give other ones each time?"""
        if folder.alone == ALONE:
            folder.asked = {one: frozenset(named_alone(one, pages)) for one in [*folder.latest][-LOST:]}
            return [look_at(pages.urls[one]) for one in folder.asked]
        others = self._looks is not None and folder.alone > ALONE and folder.mostly_gone(self._looks)
        if others or folder.alone >= LAST:
            return self._close(folder, folder.alone, " that were known", stays=not others)
        return ()

    def _close(self, folder: _MadeFolder, row: float, names: str, *, stays: bool) -> Sequence[str]:
        """Leaves the rest of a folder, if the links that led there are gone; what is to be asked for to see that."""
        self.closed, folder.stays = True, stays
        folder.why = folder.why or f"{counted(math.ceil(row), 'page')} in a row linked none{names}"
        first = {self._way_to(one)[0] for one in (() if stays else folder.latest)}
        return [look_at(self._pages.urls[one]) for one in first if one != UNSEEN] if self._pages else ()

    def _ask(self, folder: _MadeFolder, pages: PageTable) -> Sequence[str]:
        depth = {one: pages.urls[one].count("/") for one in folder.latest}
        near = [one for one in depth if depth[one] == min(depth.values())]  # in others their names are made up, too
        like = near if len(near) > 1 else [*folder.latest]
        last = [pages.urls[one] for one in like]
        numbers = 2 * folder.times, 2 * folder.times + 1
        made = [nobodys(last[-1], last[-2], str(number) * (number > 0)) for number in numbers]
        self._asked += 1
        self._probed += [folder] * (not folder.times)
        folder.probes, folder.times = tuple(made), folder.times + 1
        folder.asked = {one: folder.latest[one] for one in like[-LOOKS:]}
        folder.looks = [[look_at(one) for one in some] for some in (last[-LOOKS:], made)]
        return made if self._asked > 1 else [*made, *(look_at(pages.urls[one]) for one in self._hubs)]

    def _disprove(self, named: set[str], looks: FleetingLinks) -> None:
        """If a page names what an error page suggested, that is true: the folder has to be asked once more, later."""
        for folder in self._folders.values():
            if any(not named.isdisjoint(looks.suggested.get(one, ())) for one in folder.probes):
                folder.probes, folder.row = (), 0.0

    def _counts(self, folder: _MadeFolder) -> bool:
        """One more page that names one alone."""
        folder.single += 1
        return folder.single % SERIES == 0

    def _named_again(self, page: PageId, linked: Iterable[PageId], pages: PageTable) -> bool:
        """Does it name what another page had named that had waited, and that did not lead here?"""
        parents = pages.parents
        return any(
            self._marks_of(parents[one]) & _WAITED and parents[one] != page for one in self._own(page, linked, pages)
        )

    def _above(self, page: PageId, pages: PageTable) -> Iterator[PageId]:
        """What led to it."""
        for _ in range(ABOVE):
            if (page := pages.parents[page]) == NO_PARENT:
                break
            yield page

    def _own(self, page: PageId, linked: Iterable[PageId], pages: PageTable) -> frozenset[PageId]:
        """The pages of its folder that it names, without those that seeds name and those that led to it."""
        own = first_folder(pages.urls[page])
        found = {one for one in linked if pages.depths[one] > 1 and first_folder(pages.urls[one]) == own}
        return frozenset(found.difference((page, *self._above(page, pages))) if found else found)

    def answered(self) -> None:
        """What was asked for was answered."""
        self.doubts = self.doubts or any(folder.made(self._looks) for folder in self._probed)

    def waits(self, page: PageId, url: str) -> int:
        """Is a page to wait until nothing else is left, and how long? 0: it is not."""
        if self._pages is None or self._named_twice(page):
            return 0
        folder = self._folder_of(self._pages.parents[page], url)
        late = folder is not None and (folder.series >= LATE_ROW or folder.made(self._looks))
        return max(late, (LATE + 1) * (self.unknown(page, url) != UNSEEN))

    def unknown(self, page: PageId, url: str) -> PageId:
        """The page that is to be asked once more whether a link on the way to this page is still there, if any."""
        if not self.closed or self._pages is None:
            return UNSEEN
        folder = self._folder_of(self._pages.parents[page], url)
        return self._way_to(page)[0] if folder and folder.why and not folder.stays else UNSEEN

    def _way_to(self, page: PageId) -> tuple[PageId, bool]:
        """The first page on the way from a seed that has to be asked again; is a link on this way gone?"""
        unknown, pages, looks = UNSEEN, self._pages, self._looks
        if pages is None or looks is None:
            return UNSEEN, True
        for _ in range(ABOVE):
            child, page = page, pages.parents[page]
            if page == NO_PARENT or pages.listed(child):
                break
            if (stays := looks.stays(child, page)) is False:
                return UNSEEN, True
            unknown = page if stays is None else unknown
            if pages.depths[page] > 1 and not self._marks_of(page) & _LEADS:
                break
        return unknown, False

    def why_not(self, parent: PageId, url: str, page: PageId = UNSEEN) -> str:
        """Why a page is left that another named first; empty: it is not. ``page``: it waits under this number."""
        folder = self._folder_of(parent, url) if self.closed and not self._named_twice(page) else None
        if folder is None or not folder.why or self._pages is None:
            return ""
        return folder.why if folder.stays or self._way_to(parent if page == UNSEEN else page)[1] else ""

    def _folder_of(self, parent: PageId, url: str) -> _MadeFolder | None:
        """Where a page counts that one named which leads on."""
        gone = parent in self._hubs and self._looks is not None and parent in self._looks.gone
        if not (gone or self._marks_of(parent) & _LEADS):
            return None
        return self._folder_at(url)

    def _is_early(self, page: PageId, pages: PageTable) -> bool:
        """Does it count towards asking, though it is not known to be named by a page that leads on?"""
        return pages.parents[page] in self._hubs or (pages.depths[page] == 1 and len(pages) >= MANY)

    def _folder_at(self, url: str) -> _MadeFolder:
        first = first_folder(url)
        return self._folders.setdefault(first if self._firsts[first] >= COMMON else url.split("/", 3)[2], _MadeFolder())

    def _named_twice(self, page: PageId) -> bool:
        return 0 <= page < len(self._twice) and bool(self._twice[page])

    def _marks_of(self, page: PageId) -> int:
        return self._marks[page] if 0 <= page < len(self._marks) else 0


def _reaching(column: bytearray, page: PageId) -> bytearray:
    """A column of what is known by page, made as long as this one needs it."""
    column.extend(bytes(max(0, page + 1 - len(column))))
    return column


def _more_alike(url: str, known: Sequence[PageId], new: int, pages: PageTable) -> bool:
    """Does it name more of its shape that others had named, but for seeds and what led to it, than new ones?"""
    own, alike = shape(url), set()
    for one in reversed(known):  # menus mostly stand first
        if pages.depths[one] > 1 and one not in alike and shape(pages.urls[one]) == own:
            alike.add(one)
            if len(alike) > new:  # mostly soon
                return True
    return False


def _named_by_seeds(pages: PageTable) -> Iterable[PageId]:
    return islice((one for one in range(len(pages)) if pages.depths[one] == 1), KNOWN)
