"""A site's hints on its own changes, before and at T: sitemaps read again, hubs polled.

Sitemaps are read once more between visits and revisits. A page changed since its visit, by their word, is lost whenever
it is revisited; one that is unchanged counts as just visited. ``Last-Modified`` headers give rates of pages without
lastmods. All this serves planning only: claims rest on revisits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sharc_crawler.addresses.urls import url_class
from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence.comparison import compare
from sharc_crawler.frontier.modes import WORTH
from sharc_crawler.frontier.modes.before_reference import SecondLooks
from sharc_crawler.model import Change, Hints, Kind, Phase, Result, Sighting, Slot, Visit
from sharc_crawler.polling.hint_hubs import EXPECTED, HintHubs
from sharc_crawler.rates.base import MODIFIED, PRIOR
from sharc_crawler.rates.corrected import corrected
from sharc_crawler.state.lifecycle import State
from sharc_crawler.strategies.revisiting import revisit_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.modes import Untested
    from sharc_crawler.frontier.modes.rate_tests import Edited
    from sharc_crawler.model import Instant, Outcome, PageId, Seconds
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.strategies.door import Door

    Column = NDArray[np.float64]
    Mask = NDArray[np.bool_]

PROBED = 0.05  #: maximum share of pages probed: one per folder that was perhaps edited
LISTED = {"sitemap", "lastmod"}  #: sources of rates that took the header for a lastmod


SLACK = 2.0  #: seconds that the server's clock may differ from ours, in plans


class PageHints(NamedTuple):
    """Visited pages with what hints say of them, in columns."""

    pages: list[PageId]
    rates: Column  #: as estimated now
    planned: Column  #: rates by which the visits were planned
    weights: Column
    shapes: Column
    visited: Column  #: start of the visit
    stale: Mask  #: changed since its visit, by a hint
    still: Mask  #: unchanged since its visit, by a hint
    spent: Mask  #: a second look by that hint failed
    by_hub: Mask  #: only a hub calls it changed


class ChangeHints:
    """The last hint on each page, from sitemaps and hubs read since visits began."""

    def __init__(self, capture: SiteCapture, pages: PageTable, tests: Untested) -> None:
        self._capture = capture
        self._pages = pages
        self._tests = tests
        self._last: dict[PageId, tuple[Instant, Instant]] = {}  # by sitemaps: earliest, latest
        self._by_hubs: dict[PageId, Instant] = {}
        self._early: set[PageId] = set()  # pages changed before the first reading
        self._spent: dict[PageId, Instant] = {}  # hints whose second look failed
        self._first_read: Instant | None = None
        self._last_read: Instant = 0.0

    def __bool__(self) -> bool:
        return bool(self._last or self._by_hubs)

    def __contains__(self, page: PageId) -> bool:
        return page in self._last

    def ingest(self, page: PageId, read: Instant, earliest: Instant, latest: Instant) -> None:
        """Enter a page's lastmod in a sitemap requested at ``read``."""
        if self._first_read is None:
            self._first_read = read
        if page not in self._last and self._capture.started < earliest <= self._first_read:
            self._early.add(page)
        self._last[page] = earliest, latest
        self._last_read = read

    def changed(self, page: PageId, when: Instant) -> None:
        """Enter a hub's word that a page has changed."""
        self._by_hubs[page] = max(when, self._by_hubs.get(page, when))

    def _changed(self, page: PageId) -> Instant:
        """Return a page's last change by hints; -inf: there is no hint."""
        by_sitemap = self._last[page][0] if page in self._last else -math.inf
        return max(by_sitemap, self._by_hubs.get(page, -math.inf))

    def spent(self, page: PageId) -> None:
        """Note that the second look by the last hint failed, as when the page is gone."""
        self._spent[page] = self._changed(page)

    def of(self, pages: Sequence[PageId]) -> PageHints:
        """Return what is known of visited pages."""
        table = self._pages
        rates, weights, shapes, visited = (
            np.array([column[page] for page in pages], np.float64)
            for column in (table.rates, table.weights, table.shapes, table.started)
        )
        lastmods = np.array([self._last.get(page, (math.nan, math.nan)) for page in pages]).reshape(-1, 2)
        planned = rates
        rates = self._tests.learned(pages, rates)
        rates, shapes = self._corrected(pages, rates, shapes, lastmods[:, 0])
        changed = np.array([self._changed(page) for page in pages])
        by_sitemap, stale = lastmods[:, 0] > visited + SLACK, changed > visited + SLACK
        still = ~stale & (lastmods[:, 1] < visited - SLACK)
        spent = np.array([self._spent.get(page, -math.inf) for page in pages]) >= changed
        by_hub = stale & ~by_sitemap
        return PageHints(list(pages), rates, planned, weights, shapes, visited, stale, still, spent, by_hub)

    def _corrected(self, pages: Sequence[PageId], rates: Column, shapes: Column, when: Column) -> tuple[Column, Column]:
        """Correct rates by changes in two periods: up to the first reading, and from there to the last one."""
        if self._first_read is None or self._last_read <= self._first_read + SLACK:
            return rates, shapes
        early = np.array([page in self._early for page in pages], bool)
        late = when > self._first_read
        dated = ~np.isnan(when)
        periods = self._first_read - self._capture.started, self._last_read - self._first_read
        new = rates.copy(), shapes.copy()
        urls, numbers = self._pages.urls, dict[str, int]()
        classes = np.array([numbers.setdefault(url_class(urls[page]), len(numbers)) for page in pages])
        last = classes[dated], when[dated], self._last_read
        new[0][dated], new[1][dated] = corrected(rates[dated], shapes[dated], early[dated], late[dated], periods, *last)
        return new


class SiteHints:
    """A site's sitemaps and hubs, their hints, and what follows: second looks, the order of revisits."""

    def __init__(self, ledger: Ledger, capture: SiteCapture, tests: Untested) -> None:
        self._ledger = ledger
        self._capture = capture
        self._tests = tests
        self.sitemaps: dict[PageId, Instant] = {}  #: those with lastmods, and when each was last read
        self.changes = ChangeHints(capture, ledger.pages, tests)  #: hints of later readings
        self.hubs = HintHubs()
        self.answer: tuple[Instant, Mapping[str, Instant]] = 0.0, {}  #: time and entries' dates of the current document
        self.reading = False  #: sitemaps are being read again
        self.at_reference = False  #: the order of revisits waits for them
        self.replanned = False  #: revisits follow an order made at T
        self.looks = SecondLooks(capture)
        self._asked: list[PageId] = []  # hubs of the round under way
        self._early: list[PageId] = []  # hubs to be visited before their turn
        self.early_open = False  #: such a visit is under way
        self._polling: set[PageId] = set()  # pages being visited again as hubs or probes
        self._probes: set[PageId] = set()  # of these the probes

    # -- hubs --------------------------------------------------------------------------------------------------------

    def may_be_hub(self, page: PageId) -> None:
        """Add a page that may be a hub, by its name."""
        if self.hubs.room:
            self.hubs.add(page)

    def linked(self, page: PageId, targets: Sequence[PageId]) -> None:
        """Enter the entries of a hub."""
        if page not in self.hubs:
            return
        (read, dates), urls = self.answer, self._ledger.pages.urls
        entries = {entry: dates[url] for entry in targets if (url := urls[entry]) in dates} if dates else {}
        for entry, when in self.hubs.polled(page, read, targets, entries):
            self.changes.changed(entry, when)

    def polled(self, page: PageId, outcome: Outcome, linked: Sequence[PageId]) -> None:
        """Enter the poll of a hub that is not a page."""
        if self._ledger.pages.polled(page, outcome) and linked and self._capture.strategy is not None:
            self.linked(page, linked)
        else:
            self.silent(page, outcome)

    def silent(self, page: PageId, outcome: Outcome) -> None:
        """Enter a poll or visit of a hub without entries.

        Entries from before a restart are not known: such a hub is polled anew.
        """
        if page not in self.hubs or self.hubs.asked(page) >= outcome.started or self._capture.strategy is None:
            return
        if outcome.result in (Result.OK, Result.NOT_MODIFIED):
            self.hubs.unchanged(page, outcome.started)
        elif self._ledger.pages.states[page] == State.LOST:
            self.hubs.drop(page)
        else:
            self.hubs.missed(page, outcome.started)

    def _owe_hubs(self, hubs: Sequence[PageId]) -> int:
        """Owe polls of these hubs, by a visit if they are pages; return the number of added requests.

        Pages not visited yet are only visited before their turn.
        """
        pages, more = self._ledger.pages, 0
        for page in hubs:
            queued, is_page = pages.states[page] == State.QUEUED, pages.kinds[page] is Kind.PAGE
            if is_page and queued:
                self._early.append(page)
            elif queued or pages.states[page] == State.VISITED:
                self._ledger.owe(page, Slot.FIRST if is_page or queued else Slot.SECOND)
                self._polling.update([page] if is_page else ())
                more += 1
            elif pages.states[page] == State.LOST:  # such as a front page that redirects
                self.hubs.drop(page)
        return more

    def has_early(self, strategy: Door) -> bool:
        """Is a hub to be visited before its turn?"""
        while self._early and not strategy.waits_for(self._early[-1]):
            self._early.pop()
        return bool(self._early)

    def early(self, strategy: Door) -> Visit | None:
        """Return the visit of a hub before its turn, if any."""
        self.early_open = self.has_early(strategy) or self.early_open
        return Visit(self._early.pop(), Slot.FIRST) if self._early else None

    # -- before T ----------------------------------------------------------------------------------------------------

    def wait_early(self, strategy: Door, now: Instant) -> bool:
        """Must visits wait for a hub visited before its turn, lest it be visited twice? Poll hubs that are due."""
        self.early_open = self.early_open and self._capture.owed.pending > len(self._capture.later)
        if not self.early_open and self.hubs and strategy.first_visits_waiting and self._capture.phase is Phase.VISIT:
            self._polls(strategy, now)
        return self.early_open

    def _polls(self, strategy: Door, now: Instant) -> None:
        """Poll hubs that are due, while visits go on."""
        if self.hubs.next <= now and self.looks.affords(len(self.hubs), strategy.first_visits_left, now):
            self.looks.polled(self._owe_hubs(self.hubs.take_due(now)))

    def looks_again(self, strategy: Door, now: Instant) -> bool:
        """Must the last first visit wait while hints are read, or pages visited again?

        This goes in rounds, each shorter, until hints bring nothing more. None begins once the last page is handed out:
        its download may be T.
        """
        looks, last = self.looks, strategy.first_visits_left <= 1
        if last and (self.hubs or self._probes) and self._capture.owed.pending and self._capture.phase is Phase.VISIT:
            return True  # perhaps a poll
        if not looks.begun:
            self._asked = self._best_hubs(now, 0.0) if last else []  # each once; then those expected to have news
        sources = len(self.sitemaps) + len(self._asked)
        if not looks.due(strategy, sources, now, hinted=bool(self.changes)):
            if last:
                looks.cut_short()
            return False
        if self._capture.owed.pending:
            return True
        if self.reading:
            self.reading = False
            if not last:
                looks.half_way()
                return False
            looks.choose(
                self.changes.of(self._ledger.pages.pages_in(State.VISITED)), sources, strategy.setting.step, now
            )
        if taken := looks.take():
            for page in taken:
                self._ledger.owe(page, Slot.FIRST)
            return True
        return not (looks.begun and looks.ended(sources)) and self._asks(strategy, now)

    def _asks(self, strategy: Door, now: Instant) -> bool:
        """Begin a round by reading sitemaps and hubs, or with hints at hand; ``False`` if there are none."""
        looks, sitemaps = self.looks, list(self.sitemaps)
        if looks.begun:
            self._asked = self._best_hubs(now, EXPECTED)
        if not (sitemaps or self._asked or (self.changes and not looks.begun)):
            looks.over()
            return False
        looks.asked(len(sitemaps) + len(self._asked))
        self.reading = True
        self._owe_sitemaps(sitemaps)
        polled = self._owe_hubs(self._asked)
        if sitemaps or polled:
            return True
        return not self.has_early(strategy) and self.looks_again(strategy, now)

    def edited(self, edited: Edited, strategy: Door, now: Instant) -> None:
        """Enter pages edited together; probe one of each folder, if that is worth a slot."""
        self._edited(edited.stale)
        probes = self._worth_a_slot(edited.probes, strategy.setting.step, now)
        probes = probes[: max(1, int(self._capture.counts.visits * PROBED))]
        if probes and self.looks.affords(len(probes), strategy.first_visits_left, now):
            self._probes.update(probes)
            self.looks.polled(self._owe_hubs(probes))

    def _worth_a_slot(self, probes: Mapping[PageId, float], step: Seconds, now: Instant) -> list[PageId]:
        """Return the probes that save more pages than all others lose by waiting for them and their second looks.

        The rest of the capture is assumed to be as long, for each page, as the time since its visit.
        """
        pages = self._ledger.pages
        visited = list(pages.pages_in(State.VISITED))
        rates, visits = (np.array([column[page] for page in visited]) for column in (pages.rates, pages.started))
        kept = np.exp(-rates * (now - visits))
        cost = step * float((rates * kept).sum())
        hopes = dict(zip(visited, (kept - cost).tolist(), strict=True))
        return [page for page, found in probes.items() if page not in self.changes and found * hopes[page] > cost]

    def _edited(self, pages: Mapping[PageId, Instant]) -> None:
        for page, when in pages.items():
            if page not in self.changes:
                self.changes.changed(page, when)

    def _best_hubs(self, now: Instant, expected: float) -> list[PageId]:
        return self.hubs.best(self._capture.counts.visits // WORTH - len(self.sitemaps), now, expected)

    def visited_again(self, page: PageId, before: Outcome, outcome: Outcome) -> None:
        """Enter a second look: was the hint true? A refused one was not made."""
        self.silent(page, outcome)
        changed = compare(before, outcome).change is Change.CHANGED
        if page in self._polling:
            self._polling.discard(page)
            if page in self._probes:
                self._probes.discard(page)
                self._edited(self._tests.looked(page, before.started, outcome.started) if changed else {})
            return
        if outcome.result is not Result.REFUSED:
            self.looks.looked(page, self._ledger.pages.rates[page], changed)
        if outcome.result is not Result.OK:
            self.changes.spent(page)

    def _owe_sitemaps(self, sitemaps: Sequence[PageId]) -> None:
        """Owe sitemaps, before the next decision."""
        for page in sitemaps:
            self._capture.owed.before_visits(page)
            self._ledger.owe(page, Slot.SECOND)

    # -- the revisits' order -----------------------------------------------------------------------------------------

    def replans(self, strategy: Door, ahead: list[PageId]) -> bool:
        """At T: must revisits wait for sitemaps being read again? Once they are read, order the revisits anew."""
        if not (ahead or self.at_reference):
            return False  # new pages of sitemaps read for second looks are visited first
        if ahead and not self.at_reference:
            self.at_reference = self.reading = True
            if self._read_again(len(ahead)):
                return True
        if ahead and (self._reprice(ahead) or self.changes or self._tests.failed):
            self._replan(strategy, ahead)
        self.at_reference = self.reading = False
        return False

    def _read_again(self, ahead: int) -> bool:
        """Owe all sitemaps not read since T, if that is worth it; is there one?"""
        reference = self._capture.reference
        assert reference is not None, "fixed at the turn"
        if WORTH * len(self.sitemaps) > ahead:
            return False
        missing = [page for page, read in self.sitemaps.items() if read < reference]
        self._owe_sitemaps(missing)
        return bool(missing)

    def _replan(self, strategy: Door, ahead: list[PageId]) -> None:
        reference = self._capture.reference
        assert reference is not None, "fixed at the turn"
        self.replanned = True
        found = self.changes.of(ahead)
        if found.stale.sum() > len(ahead) / 2:  # a sitemap that always says "now"
            found = found._replace(stale=np.zeros_like(found.stale), still=np.zeros_like(found.still))
        order = revisit_order(
            found.rates,
            found.weights * ~found.stale,
            found.shapes,
            np.where(found.still, 0.0, np.maximum(reference - found.visited, 0.0)),
            float(np.median(np.diff(np.sort(found.visited)))) if len(ahead) > 1 else strategy.setting.step,
        )
        strategy.reorder([ahead[place] for place in order.tolist()])

    def _reprice(self, ahead: list[PageId]) -> bool:
        """Rate pages without lastmods by their Last-Modified headers; ``False`` if none is believed."""
        pages, now, repriced = self._ledger.pages, self._capture.reference, False
        assert now is not None, "fixed at the turn"
        told = {
            page: Sighting(pages.urls[page], hints=Hints(modified, 1.0))
            for page in ahead
            if page not in self.changes
            and (modified := http_date(pages.last_modified(page))) is not None
            and modified < pages.started[page] - SLACK  # else it is only the time of the answer
        }
        if told:
            for page, estimate in zip(told, self._capture.rates.rates(list(told.values()), now), strict=True):
                if estimate.source != PRIOR:  # the header is believed
                    named = estimate._replace(source=MODIFIED) if estimate.source in LISTED else estimate
                    self._ledger.rated(page, named)
                    repriced = True
        return repriced

    def order_again(self, strategy: Door, revisited: bool) -> None:
        """After a restart: restore the order, or read sitemaps not yet read at T."""
        ahead = strategy.revisits_ahead()
        if ahead and not revisited and self._read_again(len(ahead)):
            self.at_reference = self.reading = True
            return
        if ahead and self.replanned:
            self._replan(strategy, ahead)
        self.at_reference = self.reading = False
