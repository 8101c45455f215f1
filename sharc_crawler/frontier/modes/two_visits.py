"""Visits, then revisits, with the reference instant T between them; or single visits, where the strategy makes these.

Between visits and revisits the sitemaps are read once more: a page that they say has changed since its visit is lost,
whenever it is revisited, and one that they say has not is as good as new. ``Last-Modified``, as seen at the visits,
tells of rates where no sitemap did. All of it is taken for planning only: what is claimed rests on the revisits.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.changes.http_date import http_date
from sharc_crawler.evidence.conditionals import Conditionals
from sharc_crawler.evidence.judgement import is_apex
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.modes.base import Mode
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.model import Hints, Kind, Phase, Result, Sighting, Slot
from sharc_crawler.strategies.revisiting import revisit_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.store import LastmodRow, PageRow
    from sharc_crawler.model import Instant, Judgement, Outcome, PageId, Visit
    from sharc_crawler.strategies.door import Door

WORTH = 50  #: revisits per sitemap that is read again: each one puts all of them off by a step
LISTED = {"sitemap", "lastmod"}  #: sources that took the header for a sitemap's word
MODIFIED = "last-modified"
SLACK = 2.0  #: seconds that the server's clock may differ from ours, for a plan


class TwoVisits(Mode):
    """T lies between the last visit and the first revisit, or is the download of the last page."""

    def __init__(self, ledger: Ledger, capture: SiteCapture, compares: bool) -> None:
        self._ledger = ledger
        self._capture = capture
        self.compares = compares
        self._sitemaps: dict[PageId, Instant] = {}  # those that tell when pages changed, and when they were read last
        self._news: dict[PageId, tuple[Instant, Instant]] | None = None  # what they say at T, while they are read again
        self._told = Conditionals(capture.spec.audit)
        self._drew = False  # the sample that 304s rest on
        self._replanned = False  # the revisits are in an order that was made at T

    @property
    def listens(self) -> bool:  # type: ignore[override]
        """While the sitemaps are read at T."""
        return self._news is not None

    def ingest(self, page: PageId, read: Instant, hints: Hints) -> None:  # noqa: ARG002 - the protocol's
        """For the revisits' order."""
        assert self._news is not None, "asked for at the turn"
        assert hints.lastmod is not None, "asked where there is one"
        self._news[page] = hints.lastmod, hints.lastmod + hints.lastmod_precision

    def waits(self, strategy: Door, now: Instant) -> bool:
        """For what the last page embeds on other hosts; for the sitemaps that the revisits' order goes by."""
        if self._capture.life.reference is not None:  # asked at each decision: the quick answer comes first
            return self._news is not None and self._replans(strategy, now)
        return self._last_is_open(strategy) or self._replans(strategy, now)

    def _last_is_open(self, strategy: Door) -> bool:
        """T waits for what a page alone embeds on other hosts: no other page has to wait with it."""
        capture = self._capture
        return bool(capture.owed.pending and capture.phase is Phase.VISIT and strategy.revisits and len(strategy) == 1)

    def turn(self, now: Instant) -> None:
        """The apex's download is T where there is one."""
        self._capture.life.turn(now if self.apex is None else self._ledger.pages.started[self.apex])
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
        return kind is Kind.PAGE and self._told.revisited(page, visit, outcome, judgement)

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
        reference = self._capture.reference
        late = reference is not None and outcome.started > reference
        if kind is Kind.PAGE and outcome.result is Result.OK and not late:
            self.apex = task.page if is_apex(task.slot, outcome) else None
            self._drew = False

    def sitemap_read(self, page: PageId, slot: Slot, outcome: Outcome) -> None:  # noqa: ARG002 - the protocol's
        """Those that tell of changes are read again at T."""
        if page in self._sitemaps:
            self._sitemaps[page] = outcome.started

    def lastmods_in(self, page: PageId, read: Instant) -> None:
        """It is one of them."""
        self._sitemaps[page] = read

    # -- the revisits' order -----------------------------------------------------------------------------------------

    def _replans(self, strategy: Door, now: Instant) -> bool:
        """At the turn from visits to revisits: are sitemaps being read again? When they are, the order is made anew."""
        ahead = strategy.revisits_ahead()
        if not ahead:
            self._news = None
            return False
        if self._news is None:
            self.turn(now)
            self._news = {}
            if self._read_again(len(ahead)):
                return True
        if self._reprice(ahead) or self._news:
            self._replan(strategy, ahead)
        self._news = None
        return False

    def _read_again(self, ahead: int) -> bool:
        """Owe all sitemaps that have not been read since T; is there one, and is it worth it?"""
        reference = self._capture.reference
        assert reference is not None, "fixed at the turn"
        if WORTH * len(self._sitemaps) > ahead:
            return False
        missing = [page for page, read in self._sitemaps.items() if read < reference]
        for page in missing:
            self._capture.owed.before_visits()
            self._ledger.owe(page, Slot.SECOND)
        return bool(missing)

    def _replan(self, strategy: Door, ahead: list[PageId]) -> None:
        pages, reference = self._ledger.pages, self._capture.reference
        assert reference is not None, "fixed at the turn"
        assert self._news is not None, "asked for at the turn"
        self._replanned = True
        visited = np.array([pages.started[page] for page in ahead])
        said = np.array([self._news.get(page, (math.nan, math.nan)) for page in ahead])
        changed, still = said[:, 0] > visited + SLACK, said[:, 1] < visited - SLACK
        if changed.sum() > len(ahead) / 2:  # a sitemap that always says "now"
            changed, still = np.zeros_like(changed), np.zeros_like(still)
        order = revisit_order(
            np.array([pages.rates[page] for page in ahead]),
            np.array([pages.weights[page] for page in ahead]) * ~changed,
            np.array([pages.shapes[page] for page in ahead]),
            np.where(still, 0.0, np.maximum(reference - visited, 0.0)),
            float(np.median(np.diff(np.sort(visited)))) if len(ahead) > 1 else strategy.setting.step,
        )
        strategy.reorder([ahead[place] for place in order.tolist()])

    def _reprice(self, ahead: list[PageId]) -> bool:
        """Rates with Last-Modified as seen at the visits, of pages that no sitemap told of; False: there is none."""
        pages, now = self._ledger.pages, self._capture.reference
        assert now is not None, "fixed at the turn"
        assert self._news is not None, "asked for at the turn"
        told = {
            page: Sighting(pages.urls[page], hints=Hints(modified, 1.0))
            for page in ahead
            if page not in self._news
            and (modified := http_date(pages.last_modified(page))) is not None
            and modified < pages.started[page] - SLACK  # else it only repeats the time of the answer
        }
        if told:
            for page, estimate in zip(told, self._capture.rates.rates(list(told.values()), now), strict=True):
                named = replace(estimate, source=MODIFIED) if estimate.source in LISTED else estimate
                self._ledger.rated(page, named)
        return bool(told)

    # -- after a restart ---------------------------------------------------------------------------------------------

    def recall_page(self, row: PageRow) -> None:
        """Who named it with a lastmod is read again at T; who was repriced was so there."""
        self._replanned |= row.source == MODIFIED
        if row.hints is not None and row.hints.lastmod is not None and row.parent != NO_PARENT:
            self._sitemaps[row.parent] = 0.0  # its download is among the visits

    def recall_lastmod(self, row: LastmodRow) -> None:
        """It was said at T."""
        self._news = self._news or {}
        self._news[row.page] = row.lastmod, row.lastmod + row.precision
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
            self._news = self._news or {}
            return
        if ahead and self._replanned:
            self._news = self._news or {}
            self._replan(strategy, ahead)
        self._news = None
