"""Visits, then revisits, with the reference instant T between them; or single visits, where the strategy makes these.

Between visits and revisits the sitemaps are read once more: a page that they say has changed since its visit is lost,
whenever it is revisited, and one that they say has not is as good as new. ``Last-Modified``, as seen at the visits,
tells of rates where no sitemap did. All of it is taken for planning only: what is claimed rests on the revisits.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.changes.http_date import http_date
from sharc_crawler.evidence.comparison import compare
from sharc_crawler.evidence.conditionals import Conditionals
from sharc_crawler.evidence.judgement import is_apex
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.modes.base import Mode
from sharc_crawler.frontier.modes.before_reference import WORTH, SecondLooks
from sharc_crawler.frontier.modes.words import SLACK, SitemapWords
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.model import Change, Hints, Kind, Phase, Result, Sighting, Slot
from sharc_crawler.strategies.revisiting import revisit_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.modes.rate_tests import RateTests
    from sharc_crawler.frontier.store import LastmodRow, PageRow
    from sharc_crawler.model import Instant, Judgement, Outcome, PageId, Rate, Visit
    from sharc_crawler.strategies.door import Door

LISTED = {"sitemap", "lastmod"}  #: sources that took the header for a sitemap's word
MODIFIED = "last-modified"


class TwoVisits(Mode):
    """T lies between the last visit and the first revisit, or is the download of the last page."""

    def __init__(self, ledger: Ledger, capture: SiteCapture, tests: RateTests, compares: bool) -> None:
        self._ledger = ledger
        self._capture = capture
        self.compares = compares
        self._latest: Instant = -math.inf  # when the visit made last began
        self._sitemaps: dict[PageId, Instant] = {}  # those that tell when pages changed, and when they were read last
        self._tests = tests
        self._words = SitemapWords(capture, ledger.pages, tests)  # what they said when they were read again
        self._reading = False  # they are being read again
        self._at_reference = False  # the revisits' order waits for that
        self._looks = SecondLooks(capture)
        self._told = Conditionals(capture.spec.audit)
        self._contents = array("q")  # of pages, as their visits showed them: hashes of fingerprints; 0: not known
        self._drew = False  # the sample that 304s rest on
        self._replanned = False  # the revisits are in an order that was made at T

    @property
    def listens(self) -> bool:  # type: ignore[override]
        """While the sitemaps are read again."""
        return self._reading

    def ingest(self, page: PageId, read: Instant, hints: Hints) -> None:
        """For second looks, and the revisits' order."""
        assert hints.lastmod is not None, "asked where there is one"
        self._words.heard(page, read, hints.lastmod, hints.lastmod + hints.lastmod_precision)

    def queued(self, page: PageId, parent: PageId, sighting: Sighting, now: Instant) -> None:  # noqa: ARG002
        """What a sitemap says of it tells which changes the archive's last look missed."""
        self._tests.told(page, sighting.hints)

    def dated(self, page: PageId, sighting: Sighting) -> None:
        """The same."""
        self._tests.told(page, sighting.hints)

    def planned_by(self, pages: Sequence[PageId], rates: Sequence[Rate]) -> Sequence[Rate]:
        """As far as visits bear them out."""
        return self._tests.planned(pages, rates)

    def waits(self, strategy: Door, now: Instant) -> bool:
        """For what is under way and may bring pages; for second looks; for what the revisits' order goes by."""
        if self._capture.life.reference is not None:  # asked at each decision: the quick answer comes first
            return self._at_reference and self._replans(strategy, now)
        self._tests.test(strategy)
        return self._last_is_open(strategy) or self._looks_again(strategy, now) or self._replans(strategy, now)

    def _last_is_open(self, strategy: Door) -> bool:
        """T waits for what a page alone embeds on other hosts: no other page has to wait with it.

        Where pages are named by callbacks, all wait for what is under way: a log-in's callback may name more of them.
        """
        capture = self._capture
        if not (capture.owed.pending and capture.phase is Phase.VISIT and strategy.revisits):
            return False
        return len(strategy) == 1 or not (capture.spec.discover or strategy.first_visits_left)

    def asks_by_former(self, slot: Slot) -> bool:
        """A page whose only download is T itself is downloaded."""
        return slot is Slot.FIRST or not self.compares

    def turn(self, now: Instant) -> None:
        """The apex's download is T where there is one."""
        self._capture.life.turn(now if self.apex is None else self._ledger.pages.started[self.apex])
        for note in filter(None, (self._looks.note(), self._tests.note())):
            self._capture.note(note)
        self._ledger.changed_capture()
        self._draw()

    def _draw(self) -> None:
        """Of the pages that could be revisited conditionally, a sample is not: the 304s of the others rest on it."""
        capture, pages = self._capture, self._ledger.pages
        self._drew = True
        urls = {
            page: pages.urls[page]
            for page in pages.having(State.VISITED)
            if pages.kinds[page] is Kind.PAGE and page != self.apex and pages.validators(page)
        }
        for page in self._told.draw(urls, seed=round(capture.started)):
            pages.ask_in_full(page)

    def revisited(self, page: PageId, kind: Kind, visit: Outcome, outcome: Outcome, judgement: Judgement) -> bool:
        """What a 304 is worth is known when all are revisited; after a restart the sample is drawn first, as it was."""
        if not self._drew:
            self._draw()
        return kind is Kind.PAGE and self._told.revisited(
            page, visit, outcome, judgement, alike=self._alike(page, outcome)
        )

    def _alike(self, page: PageId, outcome: Outcome) -> bool:
        """Does a revisit bring what the visit did, but for what does not count?"""
        known = self._contents[page] if page < len(self._contents) else 0
        return known != 0 and outcome.fingerprint is not None and hash(outcome.fingerprint) == known

    def left_open(self, page: PageId) -> bool:
        """By a 304."""
        return page in self._told.open

    def judge(self, pages: Sequence[PageId]) -> Mapping[PageId, Judgement]:
        """By 304s, where they are believed."""
        judged = self._told.judge(pages)
        self.audit = self._told.summary()
        return judged

    def visited(self, task: Task, kind: Kind, outcome: Outcome) -> None:
        """The last one before T may be the apex."""
        if kind is Kind.PAGE:
            self._tests.visited(task.page, outcome)
        reference = self._capture.reference
        late = reference is not None and outcome.started > reference
        if kind is Kind.PAGE and outcome.result is Result.OK and not late:
            self._contents.extend([0] * (task.page + 1 - len(self._contents)))
            self._contents[task.page] = hash(outcome.fingerprint) if outcome.fingerprint else 0
            last = outcome.started >= self._latest  # several may be under way at once, and end in any order
            self._latest = max(self._latest, outcome.started)
            self.apex = task.page if last and is_apex(task.slot, outcome) else None
            self._drew = False

    def sitemap_read(self, page: PageId, slot: Slot, outcome: Outcome) -> None:  # noqa: ARG002 - the protocol's
        """Those that tell of changes are read again at T."""
        if page in self._sitemaps:
            self._sitemaps[page] = outcome.started

    def lastmods_in(self, page: PageId, read: Instant) -> None:
        """It is one of them."""
        self._sitemaps[page] = read

    # -- before T ----------------------------------------------------------------------------------------------------

    def _looks_again(self, strategy: Door, now: Instant) -> bool:
        """With all first visits made, but the last: are hints being read, or pages visited again by them?

        In rounds, each of them shorter, until the hints have nothing more to say.
        """
        looks, sources = self._looks, len(self._sitemaps)
        if not looks.due(strategy, sources, now):
            return False
        if self._capture.owed.pending:
            return True
        if self._reading:
            self._reading = False
            if strategy.first_visits_left <= 1:
                looks.choose(self._words.standing(self._visited_pages()), sources, strategy.setting.step, now)
            else:
                looks.half_way()
                return False
        taken = looks.take()
        for page in taken:
            self._ledger.owe(page, Slot.FIRST)
        if taken:
            return True
        if looks.begun and looks.ended(sources):
            return False
        looks.asked()
        self._reading = True
        self._owe_sitemaps(list(self._sitemaps))
        return True

    def visited_again(self, page: PageId, before: Outcome, outcome: Outcome) -> None:
        """Was the hint true? One that was forbidden was not made."""
        if outcome.result is not Result.REFUSED:
            changed = compare(before, outcome).change is Change.CHANGED
            self._looks.looked(self._ledger.pages.rates[page], changed)
        if outcome.result is not Result.OK:
            self._words.spent(page)

    def _visited_pages(self) -> list[PageId]:
        pages = self._ledger.pages
        return [page for page in pages.having(State.VISITED) if pages.kinds[page] is Kind.PAGE]

    def _owe_sitemaps(self, sitemaps: Sequence[PageId]) -> None:
        """They are read before anything else is decided."""
        for page in sitemaps:
            self._capture.owed.before_visits()
            self._ledger.owe(page, Slot.SECOND)

    # -- the revisits' order -----------------------------------------------------------------------------------------

    def _replans(self, strategy: Door, now: Instant) -> bool:
        """At the turn from visits to revisits: are sitemaps being read again? When they are, the order is made anew."""
        ahead = strategy.revisits_ahead()
        if not ahead:
            self._at_reference = self._reading = False
            return False
        if not self._at_reference:
            self.turn(now)
            self._at_reference = self._reading = True
            if self._read_again(len(ahead)):
                return True
        if self._reprice(ahead) or self._words or self._tests.failed:
            self._replan(strategy, ahead)
        self._at_reference = self._reading = False
        return False

    def _read_again(self, ahead: int) -> bool:
        """Owe all sitemaps that have not been read since T; is there one, and is it worth it?"""
        reference = self._capture.reference
        assert reference is not None, "fixed at the turn"
        if WORTH * len(self._sitemaps) > ahead:
            return False
        missing = [page for page, read in self._sitemaps.items() if read < reference]
        self._owe_sitemaps(missing)
        return bool(missing)

    def _replan(self, strategy: Door, ahead: list[PageId]) -> None:
        reference = self._capture.reference
        assert reference is not None, "fixed at the turn"
        self._replanned = True
        found = self._words.standing(ahead)
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
        """Rates with Last-Modified as seen at the visits, of pages that no sitemap told of; False: there is none."""
        pages, now = self._ledger.pages, self._capture.reference
        assert now is not None, "fixed at the turn"
        told = {
            page: Sighting(pages.urls[page], hints=Hints(modified, 1.0))
            for page in ahead
            if page not in self._words
            and (modified := http_date(pages.last_modified(page))) is not None
            and modified < pages.started[page] - SLACK  # else it only repeats the time of the answer
        }
        if told:
            for page, estimate in zip(told, self._capture.rates.rates(list(told.values()), now), strict=True):
                named = replace(estimate, source=MODIFIED) if estimate.source in LISTED else estimate
                self._ledger.rated(page, named)
        return bool(told)

    # -- after a restart ---------------------------------------------------------------------------------------------

    def recall_pages(self, rows: Sequence[PageRow]) -> None:
        """Who named one with a lastmod is read again at T; who was repriced was so there."""
        self._replanned |= any(row.source == MODIFIED for row in rows)
        for row in rows:
            if row.hints is not None:
                self._tests.told(row.page, row.hints)
                if row.hints.lastmod is not None and row.parent != NO_PARENT:
                    self._sitemaps[row.parent] = 0.0  # its download is among the visits

    def recall_lastmod(self, row: LastmodRow) -> None:
        """It was said before T, or at T."""
        self._words.heard(row.page, row.read, row.lastmod, row.lastmod + row.precision)
        self._replanned = True

    def reference_of(self, part: int | None) -> Instant | None:  # noqa: ARG002 - the protocol's
        """That of the site."""
        return self._capture.reference

    def rebuilt(self, strategy: Door, firsts: Sequence[Visit]) -> frozenset[PageId]:
        """Before the strategy is told of the revisits made: their order as it was.

        Where the sitemaps' reading at T was cut off, what is missing is read, and the order is made then.
        """
        if self._capture.phase is Phase.REVISIT:
            if not self._drew:
                self._draw()
            states = self._ledger.pages.states
            made = (states[visit.page] == State.JUDGED or self.left_open(visit.page) for visit in firsts)
            self._order_again(strategy, any(made))
        return frozenset(self._told.open)

    def _order_again(self, strategy: Door, revisited: bool) -> None:
        ahead = strategy.revisits_ahead()
        if ahead and not revisited and self._read_again(len(ahead)):
            self._at_reference = self._reading = True
            return
        if ahead and self._replanned:
            self._replan(strategy, ahead)
        self._at_reference = self._reading = False
