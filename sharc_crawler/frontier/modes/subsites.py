"""Captures made part by part: which part comes next, and which pages found meanwhile join it.

One part is open at a time. It is visited and revisited around a T of its own. Then the pages that still wait are
divided anew, and the largest part expected to be coherent comes next.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.addresses.urls import canonical
from sharc_crawler.frontier.modes.two_visits import TwoVisits
from sharc_crawler.model import Instant, Kind, Outcome, PageId, Phase, Seconds, Visit
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.state.rows import SOLE, LastmodRow, SubsiteRow
from sharc_crawler.strategies.base import Candidates
from sharc_crawler.subsites.base import Branch, KnownPages, Labels
from sharc_crawler.subsites.dividing import Part, divide, fewest_pages
from sharc_crawler.subsites.make import make_division
from sharc_crawler.subsites.outlook import Outlook

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.modes import Untested
    from sharc_crawler.strategies.door import Door

    Links = Callable[[], Iterable[tuple[str, str]]]

NEWS = 0.01  #: share of the open part that may join it before its expected coherence is computed again


class Subsites(TwoVisits):
    """The parts of one capture: past ones, the open one, and pages that wait for a later one."""

    parted = True
    takes_hubs = False
    #: of these pages, those that were visited before the next revisit, if that is recorded (resume=rebuild)
    recorded: Callable[[Iterable[PageId]], Sequence[PageId]] | None = None

    def __init__(self, ledger: Ledger, capture: SiteCapture, links: Links, tests: Untested) -> None:
        super().__init__(ledger, capture, tests, compares=True)
        self._division = make_division(capture.spec.subsites)
        self._links = links  # between the site's pages, from former captures
        self.rows: list[SubsiteRow] = []  #: all parts so far; the last one is open until it has an end
        self.pool: list[PageId] = []  #: pages in no part yet
        self._pages: list[PageId] = []  # of the open part
        self._visited: list[PageId] = []  # of the open part, in the order of visits
        self._untested = 0  # pages that joined since expected coherence was last computed
        self._full = False  # no more may join
        self._labels: dict[PageId, Labels] = {}  # of the last division, if it goes by links
        self._basis = (-1, -1)  # numbers of links and URLs known then
        self._sources, self._targets = array("i"), array("i")  # links, if the division goes by them
        self._remembered = not self._division.partition.by_links  # former captures' links are read

    @property
    def parts(self) -> int:  # type: ignore[override]
        """The number of parts begun so far."""
        return len(self.rows)

    @property
    def pooled(self) -> int:  # type: ignore[override]
        """The number of pages in no part yet."""
        return len(self.pool)

    @property
    def open(self) -> bool:
        """Is a part open?"""
        return bool(self.rows) and self.rows[-1].ended is None

    def linked(self, page: PageId, targets: Iterable[PageId]) -> None:
        """Keep a page's links, if the division goes by links."""
        if self._division.partition.by_links:
            for target in dict.fromkeys(targets):
                self._sources.append(page)
                self._targets.append(target)

    def visited(self, task: Task, kind: Kind, outcome: Outcome) -> None:
        """Note a visit of the open part."""
        super().visited(task, kind, outcome)
        if kind is Kind.PAGE:
            self._visited.append(task.page)

    # -- from part to part -------------------------------------------------------------------------------------------

    def first_pages(self, waiting: Sequence[PageId], step: Seconds, now: Instant) -> Sequence[PageId]:
        """Return the pages of the part to capture next."""
        self._remember()
        if self.open:  # before a restart
            return waiting
        waiting = sorted([*self.pool, *waiting])
        outlook = Outlook(self._candidates(waiting), step)
        parts = self._parts(waiting, outlook)
        if self.recorded and (known := self.recorded(waiting)):
            parts = [part for part in parts if waiting.index(known[0]) in part.places] or parts
        part, share = _best(parts, outlook, self._division.share)
        pages = [waiting[place] for place in part.places.tolist()]
        row = SubsiteRow(SOLE, len(self.rows), self._name(part), share, now, None, None, part.branches)
        self.rows.append(row)
        self._pages, self._visited, self._untested, self._full = list(pages), [], 0, False
        left = set(waiting) - set(pages)
        self.pool = [page for page in waiting if page in left]
        self._ledger.changed_subsite(row)
        self._ledger.assigned(pages, row.number)
        return pages

    def size(self, stated: int) -> int:
        """Return 0: it is unknown how many pages will join the part."""
        return 0

    def _parts(self, waiting: Sequence[PageId], outlook: Outlook) -> Sequence[Part]:
        """Return the whole site if it is expected to be coherent, else its parts."""

        def whole(places: NDArray[np.int64]) -> bool:
            return outlook.expect(places).reaches(self._division.share)

        labels = self._label_all(waiting)
        site = Part(self._capture.spec.site, (Branch(()),), np.arange(len(waiting)))
        if not self.rows and whole(site.places):
            return [site]
        return divide(labels, site.name, fewest_pages(self._capture.counts.pages), whole)

    def _remember(self) -> None:
        """Read, once, the links that former captures found between this capture's pages."""
        if self._remembered:
            return
        self._remembered = True
        known = list(self._links())
        ends = (self._capture.seen.find([pair[end] for pair in known]) for end in (0, 1))
        for source, target in zip(*ends, strict=True):
            if UNSEEN not in (source, target):
                self.linked(source, (target,))

    def part_over(self, now: Instant) -> bool:
        """Close the open part; return ``False`` if pages wait for another."""
        capture, ledger = self._capture, self._ledger
        if self.open:
            self.rows[-1] = self.rows[-1]._replace(reference=capture.reference, ended=now)
            ledger.changed_subsite(self.rows[-1])
        if self.pool or capture.front.waiting:
            self.step = capture.strategy.setting.step if capture.strategy is not None else None
            self.apex = None
            capture.next_part()
            ledger.changed_capture()
            return False
        if len(self.rows) > 1:
            capture.life.forget_reference()
        return True

    # -- pages found meanwhile ---------------------------------------------------------------------------------------

    def joining(self, pages: Sequence[PageId]) -> Sequence[PageId]:
        """Return the found pages that join the open part; the others wait for a later one."""
        early = self._capture.phase in (Phase.OPENING, Phase.VISIT)
        own = [page for page in pages if self._lies_within(page)] if early else []
        if self.recorded:
            own = list(self.recorded(own))
        elif own and not self._stays_coherent(own):
            own = []
        self._pages += own
        taken = set(own)
        self.pool += [page for page in pages if page not in taken]
        self._ledger.assigned(own, self.rows[-1].number)
        return own

    def _lies_within(self, page: PageId) -> bool:
        """Does a found page belong to the open part?"""
        if self._full or not self.open:
            return False
        found_on = self._labels.get(self._ledger.pages.parents[page], ())
        partition = self._division.partition
        labels = partition.label(self._url(page), self._sitemaps_of(page), found_on)
        if partition.by_links:
            self._labels[page] = labels
        return any(branch.holds(labels) for branch in self.rows[-1].branches)

    def _stays_coherent(self, own: Sequence[PageId]) -> bool:
        """Is the open part still expected to be coherent with these pages?"""
        self._untested += len(own)
        if self._untested <= NEWS * len(self._pages):
            return True
        strategy = self._capture.strategy
        assert strategy is not None, "a part is open"
        visited = set(self._visited)
        pages = [*self._visited, *(page for page in self._pages if page not in visited), *own]
        outlook = Outlook(self._candidates(pages), strategy.setting.step)
        places = np.arange(len(pages))
        expected = outlook.expect(places[len(visited) :], places[: len(visited)])
        self._untested, self._full = 0, not expected.reaches(self._division.share)
        return not self._full

    # -- input of the division ---------------------------------------------------------------------------------------

    def _candidates(self, pages: Sequence[PageId]) -> Candidates:
        """Return pages as a strategy sees them."""
        table = self._ledger.pages
        columns = (table.rates, table.weights, table.shapes)
        rates, weights, shapes = ([column[page] for page in pages] for column in columns)
        return Candidates.of(list(pages), rates, weights, shapes)

    def _label_all(self, waiting: Sequence[PageId]) -> list[Labels]:
        table, partition = self._ledger.pages, self._division.partition
        if not partition.by_links:
            return partition.labels(self._known(waiting))
        basis = (len(self._sources), len(table))
        if self._basis != basis:
            self._basis = basis
            pages = [page for page in range(len(table)) if table.kinds[page] is Kind.PAGE]
            numbers = np.full(len(table), -1, np.int64)
            numbers[pages] = np.arange(len(pages))
            ends = np.array([self._sources, self._targets], np.int64)
            links = numbers[ends] if ends.size else ends
            labels = partition.labels(self._known(pages, *links[:, (links >= 0).all(axis=0)]))
            self._labels = dict(zip(pages, labels, strict=True))
        return [self._labels[page] for page in waiting]

    def _known(self, pages: Sequence[PageId], *ends: NDArray[np.int64]) -> KnownPages:
        return KnownPages([self._url(page) for page in pages], [self._sitemaps_of(page) for page in pages], *ends)

    def _url(self, page: PageId) -> str:
        """Return a page's canonical URL: links spell folders in many ways."""
        url = self._ledger.pages.urls[page]
        return canonical(url) or url

    def _sitemaps_of(self, page: PageId) -> Labels:
        """Return the sitemaps that first name a page, from the index down to the file."""
        table = self._ledger.pages
        chain: list[str] = []
        while (page := table.parents[page]) != NO_PARENT and table.kinds[page] is Kind.SITEMAP:
            chain.append(table.urls[page])
        return tuple(reversed(chain))

    def _name(self, part: Part) -> str:
        """Return a new name for a part; pages of a past part, found since, are "others"."""
        names = {row.name for row in self.rows}
        taken = any(branch.root in _above(row.branches) for row in self.rows for branch in part.branches)
        name = f"{part.name}, others" if taken and not part.branches[0].without else part.name
        numbered = (f"{name} ({number})" if number > 1 else name for number in count(1))
        return next(new for new in numbered if new not in names)

    # -- after a restart ---------------------------------------------------------------------------------------------

    def recall_parts(self, rows: Sequence[SubsiteRow]) -> None:
        """Restore the parts; the last may be open."""
        self.rows = list(rows)

    def recall_lastmod(self, row: LastmodRow) -> None:
        """Do nothing: revisits of a part go in the order of visits."""

    def reference_of(self, part: int | None) -> Instant | None:
        """Return a part's reference instant."""
        if self.open and part == self.rows[-1].number:
            return self._capture.reference
        return None if part is None else self.rows[part].reference

    def resumed(self, members: Mapping[PageId, int], firsts: Sequence[Visit]) -> Sequence[Visit]:
        """Return the first visits of the open part; ``members``: pages in a part."""
        front = self._capture.front
        waiting = front.take()
        self.pool = [page for page in waiting if page not in members]
        number = self.rows[-1].number if self.open else -1
        own = [page for page in waiting if members.get(page) == number]
        front.wait(own)
        firsts = [visit for visit in firsts if members.get(visit.page) == number]
        self._pages, self._visited = list(own), [visit.page for visit in firsts]
        if self.apex not in own:
            self.apex = None
        if self._division.partition.by_links:
            for row in self._ledger.links():
                self.linked(row.page, row.targets)
        return firsts

    def rebuilt(self, strategy: Door, firsts: Sequence[Visit]) -> frozenset[PageId]:
        """Return pages left open; no order was made at T."""
        return self._left_open()


def _best(parts: Sequence[Part], outlook: Outlook, least: float) -> tuple[Part, float]:
    """Return the largest part expected to be coherent, else the largest, with its expected share."""
    expected = [outlook.expect(part.places) for part in parts]
    number = min(
        range(len(parts)),
        key=lambda part: (not expected[part].reaches(least), -len(parts[part].places), parts[part].name),
    )
    return parts[number], expected[number].mean


def _above(branches: Iterable[Branch]) -> set[Labels]:
    """Return the roots of these branches, and of all branches above them."""
    return {branch.root[:depth] for branch in branches for depth in range(len(branch.root) + 1)}
