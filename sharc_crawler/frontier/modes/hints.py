"""What a site says of its own changes, before T and at T: sitemaps that are read again, hubs that are polled.

Between visits and revisits the sitemaps are read once more: a page that they say has changed since its visit is lost,
whenever it is revisited, and one that they say has not is as good as new. ``Last-Modified``, as seen at the visits,
tells of rates where no sitemap did. All of it is taken for planning only: what is claimed rests on the revisits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence.comparison import compare
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.modes.before_reference import SecondLooks
from sharc_crawler.frontier.modes.hint_hubs import EXPECTED, HintHubs
from sharc_crawler.frontier.modes.said import SLACK, SaidOfChanges
from sharc_crawler.frontier.modes.two_visits import MODIFIED, WORTH
from sharc_crawler.model import Change, Hints, Kind, Phase, Result, Sighting, Slot, Visit
from sharc_crawler.rates.base import PRIOR
from sharc_crawler.strategies.revisiting import revisit_order

if TYPE_CHECKING:
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.modes.base import Untested
    from sharc_crawler.frontier.modes.neighbours import Edited
    from sharc_crawler.model import Instant, Outcome, PageId, Seconds
    from sharc_crawler.strategies.door import Door

PROBED = 0.05  #: of the pages, at most: one of each folder that was perhaps edited
LISTED = {"sitemap", "lastmod"}  #: sources that took the header for a sitemap's word


class SiteHints:
    """Who tells of changes on a site, what they said, and what is done by it: second looks, the revisits' order."""

    def __init__(self, ledger: Ledger, capture: SiteCapture, tests: Untested) -> None:
        self._ledger = ledger
        self._capture = capture
        self._tests = tests
        self.sitemaps: dict[PageId, Instant] = {}  #: those that tell when pages changed, and when they were read last
        self.said = SaidOfChanges(capture, ledger.pages, tests)  #: what they said when they were read again
        self.hubs = HintHubs()
        self.answer: tuple[Instant, Mapping[str, Instant]] = 0.0, {}  #: being taken in: its time, dates of its entries
        self.reading = False  #: sitemaps are being read again
        self.at_reference = False  #: the revisits' order waits for that
        self.replanned = False  #: the revisits are in an order that was made at T
        self.looks = SecondLooks(capture)
        self._asked: list[PageId] = []  # hubs, in the round under way
        self._early: list[PageId] = []  # hubs that are visited before their turn
        self.early_open = False  #: one of them is under way
        self._polling: set[PageId] = set()  # pages visited again as hubs
        self._probes: set[PageId] = set()  # of these, those that speak for others

    # -- hubs --------------------------------------------------------------------------------------------------------

    def may_be_hub(self, page: PageId) -> None:
        """A page may be a hub, by its name."""
        if self.hubs.room:
            self.hubs.add(page)

    def linked(self, page: PageId, targets: Sequence[PageId]) -> None:
        """What a hub says has changed."""
        if page not in self.hubs:
            return
        (read, dates), urls = self.answer, self._ledger.pages.urls
        entries = {entry: dates[url] for entry in targets if (url := urls[entry]) in dates} if dates else {}
        for entry, when in self.hubs.polled(page, read, targets, entries):
            self.said.changed(entry, when)

    def polled(self, page: PageId, outcome: Outcome, linked: Sequence[PageId]) -> None:
        """A hub that is no page has answered, or has not."""
        if self._ledger.pages.polled(page, outcome) and linked and self._capture.strategy is not None:
            self.linked(page, linked)
        else:
            self.silent(page, outcome)

    def silent(self, page: PageId, outcome: Outcome) -> None:
        """A hub was asked, and named nothing that it had not named.

        What one named before a restart is not known any more: it is asked anew.
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
        """They are asked next: pages by a visit, which is the first one where their turn has not come yet.

        Returns how many requests that adds.
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
            elif pages.states[page] == State.LOST:  # a front page that leads elsewhere: nobody asks it again
                self.hubs.drop(page)
        return more

    def has_early(self, strategy: Door) -> bool:
        """Is a hub visited next, before its turn?"""
        while self._early and not strategy.waits_for(self._early[-1]):
            self._early.pop()
        return bool(self._early)

    def early(self, strategy: Door) -> Visit | None:
        """A hub that is visited before its turn."""
        self.early_open = self.has_early(strategy) or self.early_open
        return Visit(self._early.pop(), Slot.FIRST) if self._early else None

    # -- before T ----------------------------------------------------------------------------------------------------

    def wait_early(self, strategy: Door, now: Instant) -> bool:
        """For a hub visited before its turn: another visit might be of the same page. Hubs that are due are asked."""
        self.early_open = self.early_open and self._capture.owed.pending > len(self._capture.later)
        if not self.early_open and self.hubs and strategy.first_visits_waiting and self._capture.phase is Phase.VISIT:
            self._polls(strategy, now)
        return self.early_open

    def _polls(self, strategy: Door, now: Instant) -> None:
        """Hubs that are due are asked now; visits go on."""
        if self.hubs.next <= now and self.looks.affords(len(self.hubs), strategy.first_visits_left, now):
            self.looks.polled(self._owe_hubs(self.hubs.take_due(now)))

    def looks_again(self, strategy: Door, now: Instant) -> bool:
        """With all first visits made, but the last: are hints being read, or pages visited again by them?

        In rounds, each of them shorter, until the hints have nothing more to say. None begins once the last page is
        handed out: its download may be T.
        """
        looks, last = self.looks, strategy.first_visits_left <= 1
        if last and (self.hubs or self._probes) and self._capture.owed.pending and self._capture.phase is Phase.VISIT:
            return True  # a poll may be among it
        if not looks.begun:
            self._asked = self._best_hubs(now, 0.0) if last else []  # each once; then those that may have more
        sources = len(self.sitemaps) + len(self._asked)
        if not looks.due(strategy, sources, now, said=bool(self.said)):
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
                self.said.standing(self._ledger.pages.pages_in(State.VISITED)), sources, strategy.setting.step, now
            )
        if taken := looks.take():
            for page in taken:
                self._ledger.owe(page, Slot.FIRST)
            return True
        return not (looks.begun and looks.ended(sources)) and self._asks(strategy, now)

    def _asks(self, strategy: Door, now: Instant) -> bool:
        """A round begins with what sitemaps and hubs say now, or have said; False: there is nobody to be asked."""
        looks, sitemaps = self.looks, list(self.sitemaps)
        if looks.begun:
            self._asked = self._best_hubs(now, EXPECTED)
        if not (sitemaps or self._asked or (self.said and not looks.begun)):
            looks.over()
            return False
        looks.asked(len(sitemaps) + len(self._asked))
        self.reading = True
        self._owe_sitemaps(sitemaps)
        polled = self._owe_hubs(self._asked)
        if sitemaps or polled:
            return True
        return not self.has_early(strategy) and self.looks_again(strategy, now)

    def surmised(self, edited: Edited, strategy: Door, now: Instant) -> None:
        """Pages edited together, of which no sitemap tells; one of each folder is asked, as many as are worth it."""
        self._edited(edited.stale)
        probes = self._worth_a_slot(edited.probes, strategy.setting.step, now)
        probes = probes[: max(1, int(self._capture.counts.visits * PROBED))]
        if probes and self.looks.affords(len(probes), strategy.first_visits_left, now):
            self._probes.update(probes)
            self.looks.polled(self._owe_hubs(probes))

    def _worth_a_slot(self, probes: Mapping[PageId, float], step: Seconds, now: Instant) -> list[PageId]:
        """Probes that find more pages than the others lose, as they wait for them and for looks at what is found.

        The rest of the capture is taken to be as long for each page as it is since its visit.
        """
        pages = self._ledger.pages
        visited = list(pages.pages_in(State.VISITED))
        rates, visits = (np.array([column[page] for page in visited]) for column in (pages.rates, pages.started))
        kept = np.exp(-rates * (now - visits))
        cost = step * float((rates * kept).sum())
        hopes = dict(zip(visited, (kept - cost).tolist(), strict=True))
        return [page for page, found in probes.items() if page not in self.said and found * hopes[page] > cost]

    def _edited(self, pages: Mapping[PageId, Instant]) -> None:
        for page, when in pages.items():
            if page not in self.said:
                self.said.changed(page, when)

    def _best_hubs(self, now: Instant, expected: float) -> list[PageId]:
        return self.hubs.best(self._capture.counts.visits // WORTH - len(self.sitemaps), now, expected)

    def visited_again(self, page: PageId, before: Outcome, outcome: Outcome) -> None:
        """Was the hint true? One that was forbidden was not made."""
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
            self.said.spent(page)

    def _owe_sitemaps(self, sitemaps: Sequence[PageId]) -> None:
        """They are read before anything else is decided."""
        for page in sitemaps:
            self._capture.owed.before_visits(page)
            self._ledger.owe(page, Slot.SECOND)

    # -- the revisits' order -----------------------------------------------------------------------------------------

    def replans(self, strategy: Door, ahead: list[PageId]) -> bool:
        """At the turn from visits to revisits: are sitemaps being read again? When they are, the order is made anew."""
        if not (ahead or self.at_reference):
            return False  # those that are read for second looks may name new pages: these are visited first
        if ahead and not self.at_reference:
            self.at_reference = self.reading = True
            if self._read_again(len(ahead)):
                return True
        if ahead and (self._reprice(ahead) or self.said or self._tests.failed):
            self._replan(strategy, ahead)
        self.at_reference = self.reading = False
        return False

    def _read_again(self, ahead: int) -> bool:
        """Owe all sitemaps that have not been read since T; is there one, and is it worth it?"""
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
        found = self.said.standing(ahead)
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
        """Rates with Last-Modified as seen at the visits, of pages that no sitemap told of; False: none to believe."""
        pages, now, repriced = self._ledger.pages, self._capture.reference, False
        assert now is not None, "fixed at the turn"
        told = {
            page: Sighting(pages.urls[page], hints=Hints(modified, 1.0))
            for page in ahead
            if page not in self.said
            and (modified := http_date(pages.last_modified(page))) is not None
            and modified < pages.started[page] - SLACK  # else it only repeats the time of the answer
        }
        if told:
            for page, estimate in zip(told, self._capture.rates.rates(list(told.values()), now), strict=True):
                if estimate.source != PRIOR:  # else the header is not believed
                    named = estimate._replace(source=MODIFIED) if estimate.source in LISTED else estimate
                    self._ledger.rated(page, named)
                    repriced = True
        return repriced

    def order_again(self, strategy: Door, revisited: bool) -> None:
        """After a restart: the order as it was; what had not been read at T is read now."""
        ahead = strategy.revisits_ahead()
        if ahead and not revisited and self._read_again(len(ahead)):
            self.at_reference = self.reading = True
            return
        if ahead and self.replanned:
            self._replan(strategy, ahead)
        self.at_reference = self.reading = False
