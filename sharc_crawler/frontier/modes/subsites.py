"""A capture made part by part: which part comes next, and which pages found meanwhile belong to it.

One part is open at a time. It is visited and revisited around a T of its own; then what is known and still waits is
divided anew, and the largest part that may be expected to be captured coherently comes next.
"""

from __future__ import annotations

from array import array
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.seen import UNSEEN
from sharc_crawler.frontier.store import SubsiteRow
from sharc_crawler.model import Kind, Phase
from sharc_crawler.strategies.base import Candidates
from sharc_crawler.subsites.base import Known
from sharc_crawler.subsites.dividing import Branch, Part, divide, fewest_pages
from sharc_crawler.subsites.outlook import Outlook
from sharc_crawler.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.model import Instant, PageId, Seconds, Visit
    from sharc_crawler.strategies.base import Strategy
    from sharc_crawler.subsites.base import Labels
    from sharc_crawler.subsites.make import Division

NEWS = 0.01  #: share of the open part that may join it before it is asked again whether it stays coherent


def check(strategy: Strategy, subsites: str) -> None:
    """Each part needs visits and revisits around a T of its own; else :class:`~sharc_crawler.errors.UsageError`."""
    if subsites and (strategy.attests or not strategy.revisits):
        why = "has one T for the whole site" if strategy.attests else "makes single visits"
        raise UsageError(
            f"subsites={subsites!r} needs visits and revisits around a reference instant for each part, and the"
            f" strategy {why}; use sharc-selective, or leave subsites= out"
        )


def remember(capture: SiteCapture, links: Callable[[CaptureSpec], Iterable[tuple[str, str]]]) -> None:
    """Links between the capture's pages that former captures read, once."""
    subsites = capture.subsites
    assert subsites is not None, "asked where a site is divided"
    if not subsites.remembered:
        subsites.remembered = True
        known = list(links(capture.spec))
        ends = (capture.seen.find([pair[end] for pair in known]) for end in (0, 1))
        for source, target in zip(*ends, strict=True):
            if UNSEEN not in (source, target):
                subsites.linked(source, (target,))


def open_next(ledger: Ledger, capture: SiteCapture, step: Seconds, now: Instant) -> list[PageId]:
    """The pages of the part to be captured now."""
    subsites = capture.subsites
    assert subsites is not None, "asked where a site is divided"
    if subsites.open:  # before a restart
        return capture.waiting
    waiting = sorted([*subsites.pool, *capture.waiting])
    outlook = Outlook(candidates(ledger, waiting), step)
    least = subsites.division.share
    labels = _labels(ledger, capture, waiting)

    def whole(places: NDArray[np.int64]) -> bool:
        return outlook.expect(places).reaches(least)

    site = Part(capture.spec.site, (Branch(()),), np.arange(len(waiting)))
    parts = (
        [site]
        if not subsites.rows and whole(site.places)
        else divide(labels, site.name, fewest_pages(capture.pages), whole)
    )
    part, share = _best(parts, outlook, least)
    pages = [waiting[place] for place in part.places.tolist()]
    row = SubsiteRow(capture.number, len(subsites.rows), _name(subsites, part), share, now, None, None, part.branches)
    subsites.rows.append(row)
    subsites.open_pages, subsites.visited, subsites.untested, subsites.full = list(pages), [], 0, False
    left = set(waiting) - set(pages)
    subsites.pool = [page for page in waiting if page in left]
    ledger.changed_subsite(row)
    ledger.assigned(pages, row.number)
    return pages


def joining(ledger: Ledger, capture: SiteCapture, queued: list[PageId]) -> list[PageId]:
    """Of pages just found, those that the open part takes in; the others wait for a part of their own."""
    subsites = capture.subsites
    if subsites is None:
        return queued
    own = [page for page in queued if _lies_within(ledger, subsites, page)] if capture.phase is Phase.VISIT else []
    if own and not _stays_coherent(ledger, capture, subsites, own):
        own = []
    subsites.open_pages += own
    taken = set(own)
    subsites.pool += [page for page in queued if page not in taken]
    ledger.assigned(own, subsites.rows[-1].number)
    return own


def close(ledger: Ledger, capture: SiteCapture, now: Instant) -> bool:
    """The open part is captured and judged; False: others wait."""
    subsites = capture.subsites
    if subsites is None:
        return True
    if subsites.open:
        subsites.rows[-1] = subsites.rows[-1]._replace(reference=capture.reference, ended=now)
        ledger.changed_subsite(subsites.rows[-1])
    if subsites.pool or capture.waiting:
        capture.step = capture.strategy.setting.step if capture.strategy else None
        capture.strategy, capture.phase = None, Phase.VISIT
        capture.reference = capture.apex = capture.news = None
        ledger.changed_capture(capture)
        return False
    if len(subsites.rows) > 1:
        capture.reference = None
    return True


def restored(
    ledger: Ledger, capture: SiteCapture, members: dict[PageId, int], firsts: Sequence[Visit]
) -> Sequence[Visit]:
    """After a restart: of the first visits of a capture, those of its open part; ``members`` are in a part."""
    subsites = capture.subsites
    assert subsites is not None, "asked where a site is divided"
    waiting = capture.waiting
    subsites.pool = [page for page in waiting if page not in members]
    number = subsites.rows[-1].number if subsites.open else -1
    capture.waiting = [page for page in waiting if members.get(page) == number]
    firsts = [visit for visit in firsts if members.get(visit.page) == number]
    subsites.open_pages, subsites.visited = list(capture.waiting), [visit.page for visit in firsts]
    if capture.apex not in subsites.open_pages:
        capture.apex = None
    if subsites.division.partition.by_links:
        for row in ledger.links():
            if ledger.pages.captures[row.page] == capture.number:
                subsites.linked(row.page, row.targets)
    return firsts


def candidates(ledger: Ledger, pages: Sequence[PageId]) -> Candidates:
    """Pages as a strategy sees them."""
    table = ledger.pages
    rates, weights, shapes = ([column[page] for page in pages] for column in (table.rates, table.weights, table.shapes))
    return Candidates.of(list(pages), rates, weights, shapes)


def _best(parts: Sequence[Part], outlook: Outlook, least: float) -> tuple[Part, float]:
    """The largest part that may be expected to be coherent, else the largest; with the share expected of it."""
    expected = [outlook.expect(part.places) for part in parts]
    number = min(
        range(len(parts)),
        key=lambda one: (not expected[one].reaches(least), -len(parts[one].places), parts[one].name),
    )
    return parts[number], expected[number].mean


def _name(subsites: Subsites, part: Part) -> str:
    """The part's name; some of it may be captured already, and pages of one that was may have been found since."""
    names = {row.name for row in subsites.rows}
    taken = any(branch.root in _above(row.branches) for row in subsites.rows for branch in part.branches)
    name = f"{part.name}, others" if taken and not part.branches[0].without else part.name
    return next(one for number in count(1) if (one := f"{name} ({number})" if number > 1 else name) not in names)


def _above(branches: Iterable[Branch]) -> set[Labels]:
    """All parts that these branches are in, and they themselves."""
    return {branch.root[:depth] for branch in branches for depth in range(len(branch.root) + 1)}


def _labels(ledger: Ledger, capture: SiteCapture, waiting: Sequence[PageId]) -> list[Labels]:
    subsites = capture.subsites
    assert subsites is not None, "asked where a site is divided"
    partition = subsites.division.partition
    if not partition.by_links:
        return partition.labels(_known(ledger, waiting))
    basis = (len(subsites.sources), len(ledger.pages))
    if subsites.basis == basis:
        return [subsites.labels[page] for page in waiting]
    subsites.basis = basis
    pages = [page for page in ledger.pages.of(capture.number) if ledger.pages.kinds[page] is Kind.PAGE]
    numbers = np.full(len(ledger.pages), -1, np.int64)
    numbers[pages] = np.arange(len(pages))
    ends = np.array([subsites.sources, subsites.targets], np.int64)
    links = numbers[ends] if ends.size else ends
    labels = partition.labels(_known(ledger, pages, *links[:, (links >= 0).all(axis=0)]))
    subsites.labels = dict(zip(pages, labels, strict=True))
    return [subsites.labels[page] for page in waiting]


def _known(ledger: Ledger, pages: Sequence[PageId], *ends: NDArray[np.int64]) -> Known:
    return Known([_url(ledger, page) for page in pages], [_sitemaps(ledger, page) for page in pages], *ends)


def _url(ledger: Ledger, page: PageId) -> str:
    """A page's canonical URL: links spell one folder in many ways."""
    url = ledger.pages.urls[page]
    return canonical(url) or url


def _sitemaps(ledger: Ledger, page: PageId) -> Labels:
    """The sitemaps that name a page first, from the index down to the file."""
    table = ledger.pages
    chain: list[str] = []
    while (page := table.parents[page]) != NO_PARENT and table.kinds[page] is Kind.SITEMAP:
        chain.append(table.urls[page])
    return tuple(reversed(chain))


def _lies_within(ledger: Ledger, subsites: Subsites, page: PageId) -> bool:
    """Does a page just found belong to the part that is open?"""
    if subsites.full or not subsites.open:
        return False
    found_on = subsites.labels.get(ledger.pages.parents[page], ())
    partition = subsites.division.partition
    labels = partition.label(_url(ledger, page), _sitemaps(ledger, page), found_on)
    if partition.by_links:
        subsites.labels[page] = labels
    return any(branch.holds(labels) for branch in subsites.rows[-1].branches)


def _stays_coherent(ledger: Ledger, capture: SiteCapture, subsites: Subsites, own: Sequence[PageId]) -> bool:
    """May the open part still be expected to be coherent with these pages?"""
    subsites.untested += len(own)
    if subsites.untested <= NEWS * len(subsites.open_pages):
        return True
    assert capture.strategy is not None, "a part is open"
    visited = set(subsites.visited)
    pages = [*subsites.visited, *(page for page in subsites.open_pages if page not in visited), *own]
    outlook = Outlook(candidates(ledger, pages), capture.strategy.setting.step)
    places = np.arange(len(pages))
    expected = outlook.expect(places[len(visited) :], places[: len(visited)])
    subsites.untested, subsites.full = 0, not expected.reaches(subsites.division.share)
    return not subsites.full


class Subsites:
    """The parts of one capture."""

    def __init__(self, division: Division) -> None:
        self.division = division
        self.pool: list[PageId] = []  #: pages that wait and are in no part yet
        self.rows: list[SubsiteRow] = []  #: all parts so far; the last one is open as long as it has no end
        self.open_pages: list[PageId] = []  #: of the part that is open
        self.visited: list[PageId] = []  #: of these, those visited, in that order
        self.untested = 0  #: of these, those that joined since it was last asked whether it stays coherent
        self.full = False  #: no more may join
        self.labels: dict[PageId, Labels] = {}  #: as last divided, where links matter
        self.basis = (-1, -1)  #: links and URLs that were known then
        self.sources, self.targets = array("i"), array("i")  #: links, where the division goes by them
        self.remembered = not division.partition.by_links  #: those of former captures

    @property
    def open(self) -> bool:
        """Is a part under way?"""
        return bool(self.rows) and self.rows[-1].ended is None

    def linked(self, page: PageId, targets: Iterable[PageId]) -> None:
        """A page links to these."""
        if self.division.partition.by_links:
            for target in dict.fromkeys(targets):
                self.sources.append(page)
                self.targets.append(target)
