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
from sharc_crawler.frontier.modes.hint_hubs import EXPECTED, PERHAPS, HintHubs, lists_changes
from sharc_crawler.frontier.modes.words import SLACK, SaidOfChanges
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.seen import UNSEEN
from sharc_crawler.model import Change, Hints, Kind, Phase, Result, Sighting, Slot, Visit
from sharc_crawler.strategies.revisiting import revisit_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.modes.rate_tests import RateTests
    from sharc_crawler.frontier.store import LastmodRow, PageRow
    from sharc_crawler.model import Fetch, Instant, Judgement, Outcome, PageId, Rate
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
        self._words = SaidOfChanges(capture, ledger.pages, tests)  # what they said when they were read again
        self._hubs = HintHubs()
        self._asked: list[PageId] = []  # of these, in the round under way
        self._early: list[PageId] = []  # hubs that are visited before their turn
        self._early_open = False
        self._polling: set[PageId] = set()  # pages visited again as hubs
        self._answer: tuple[Instant, dict[str, Instant]] = 0.0, {}  # being taken in: its time, dates of its entries
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

    @property
    def takes_hubs(self) -> bool:  # type: ignore[override]
        """For second looks."""
        return self.compares and self._capture.spec.hints > 0

    def ingest(self, page: PageId, read: Instant, hints: Hints) -> None:
        """For second looks, and the revisits' order."""
        assert hints.lastmod is not None, "asked where there is one"
        self._words.heard(page, read, hints.lastmod, hints.lastmod + hints.lastmod_precision)

    def queued(self, page: PageId, parent: PageId, sighting: Sighting, now: Instant) -> None:  # noqa: ARG002
        """What a sitemap says of it tells which changes the archive's last look missed; it may be a hub."""
        self._tests.told(page, sighting.hints)
        self._heed(page)

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
        if self._early_open and self._early_is_open():
            return True
        if self._hubs and self._capture.phase is Phase.VISIT:
            self._polls(strategy, now)
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
            self._silent(task.page, outcome)
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

    # -- hubs --------------------------------------------------------------------------------------------------------

    def begun(self, pages: Sequence[PageId], now: Instant) -> None:  # noqa: ARG002 - the protocol's
        """The seeds name the site's feeds and lists of changes: they are visited early where many pages wait."""
        if self.takes_hubs and len(pages) >= 4 * WORTH:  # for a sitemap, for them, a feed and a list
            for page in self._capture.seen.find(self._capture.spec.seeds):
                if page != UNSEEN:
                    self._hubs.add(page)

    def _heed(self, page: PageId) -> None:
        """A page may be a hub, by its name, where the site's front or a sitemap names it."""
        pages = self._ledger.pages
        if pages.depths[page] <= 1 and self._hubs.room and self.takes_hubs and lists_changes(pages.urls[page]):
            self._hubs.add(page)

    def hub(self, page: PageId) -> None:
        """What is no page is polled as well."""
        self._hubs.add(page, certain=True)
        self._ledger.hosts[self._ledger.pages.hosts[page]].has_pages = True

    def closed(self, page: PageId, reason: str) -> None:  # noqa: ARG002 - the protocol's
        """The hub is none."""
        self._hubs.drop(page)

    def named(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting]) -> Sequence[Sighting]:
        """A feed is a hub: its dates are hints, and no more. So is a news sitemap."""
        if not self.takes_hubs:
            return links
        if fetch.kind is Kind.SITEMAP:
            return [*links, Sighting(fetch.url, Kind.HUB)] if any(map(_is_news, links)) else links
        dates = {link.url: date for link in links if link.hints and (date := _stated(link.hints)) is not None}
        if dates and self._ledger.pages.depths[fetch.page] <= 1:
            self._hubs.add(fetch.page, certain=True)
        self._answer = outcome.started, dates
        return links

    def linked(self, page: PageId, targets: Sequence[PageId]) -> None:
        """What a hub says has changed."""
        if page not in self._hubs:
            return
        (read, dates), urls = self._answer, self._ledger.pages.urls
        entries = {entry: dates[url] for entry in targets if (url := urls[entry]) in dates} if dates else {}
        for entry, when in self._hubs.polled(page, read, targets, entries):
            self._words.changed(entry, when)

    def polled(self, page: PageId, outcome: Outcome, linked: Sequence[PageId]) -> None:
        """A hub that is no page has answered, or has not."""
        if self._ledger.pages.polled(page, outcome) and linked and self._capture.strategy is not None:
            self.linked(page, linked)
        else:
            self._silent(page, outcome)

    def _silent(self, page: PageId, outcome: Outcome) -> None:
        """A hub was asked, and named nothing that it had not named.

        What one named before a restart is not known any more: it is asked anew.
        """
        if page not in self._hubs or self._hubs.asked(page) >= outcome.started or self._capture.strategy is None:
            return
        if outcome.result in (Result.OK, Result.NOT_MODIFIED):
            self._hubs.unchanged(page, outcome.started)
        elif self._ledger.pages.states[page] == State.LOST:
            self._hubs.drop(page)
        else:
            self._hubs.missed(page, outcome.started)

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
        return more

    def next(self, strategy: Door, now: Instant) -> Visit | None:
        """Hubs early; else as the strategy says."""
        while self._early:
            page = self._early.pop()
            if strategy.waits_for(page):
                self._early_open = True
                return Visit(page, Slot.FIRST)
        return strategy.next(now)

    def _early_is_open(self) -> bool:
        """No other visit is decided meanwhile: it might be of the same page."""
        self._early_open = self._early_open and bool(self._capture.owed.pending)
        return self._early_open

    # -- before T ----------------------------------------------------------------------------------------------------

    def _polls(self, strategy: Door, now: Instant) -> None:
        """Hubs that are due are asked now; visits go on."""
        if self._hubs.next <= now and self._looks.affords(len(self._hubs), strategy.first_visits_left, now):
            self._looks.polled(self._owe_hubs(self._hubs.take_due(now)))

    def _looks_again(self, strategy: Door, now: Instant) -> bool:
        """With all first visits made, but the last: are hints being read, or pages visited again by them?

        In rounds, each of them shorter, until the hints have nothing more to say.
        """
        looks, last = self._looks, strategy.first_visits_left <= 1
        if last and self._hubs and self._capture.owed.pending and self._capture.phase is Phase.VISIT:
            return True  # a poll may be among it
        if not looks.begun:
            self._asked = self._best_hubs(now, 0.0) if last else []  # each once; then those that may have more
        sources = len(self._sitemaps) + len(self._asked)
        if not looks.due(strategy, max(sources, bool(self._words)), now):
            return False
        if self._capture.owed.pending:
            return True
        if self._reading:
            self._reading = False
            if not last:
                looks.half_way()
                return False
            looks.choose(self._words.standing(self._visited_pages()), sources, strategy.setting.step, now)
        if taken := looks.take():
            for page in taken:
                self._ledger.owe(page, Slot.FIRST)
            return True
        return not (looks.begun and looks.ended(sources)) and self._asks(strategy, now)

    def _asks(self, strategy: Door, now: Instant) -> bool:
        """A round begins with what sitemaps and hubs say now, or have said; False: there is nobody to be asked."""
        looks, sitemaps = self._looks, list(self._sitemaps)
        if looks.begun:
            self._asked = self._best_hubs(now, EXPECTED)
        if not (sitemaps or self._asked or (self._words and not looks.begun)):
            looks.over()
            return False
        looks.asked(len(sitemaps) + len(self._asked))
        self._reading = True
        self._owe_sitemaps(sitemaps)
        self._owe_hubs(self._asked)
        return bool(sitemaps or self._asked) or self._looks_again(strategy, now)

    def _best_hubs(self, now: Instant, expected: float) -> list[PageId]:
        return self._hubs.best(self._capture.counts.visits // WORTH - len(self._sitemaps), now, expected)

    def visited_again(self, page: PageId, before: Outcome, outcome: Outcome) -> None:
        """Was the hint true? One that was forbidden was not made."""
        self._silent(page, outcome)
        if page in self._polling:
            self._polling.discard(page)
            return
        if outcome.result is not Result.REFUSED:
            changed = compare(before, outcome).change is Change.CHANGED
            self._looks.looked(page, self._ledger.pages.rates[page], changed)
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
            if PERHAPS.search(row.url) and row.kind is Kind.PAGE and row.state != State.LATE:
                self._heed(row.page)
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


def _is_news(entry: Sighting) -> bool:
    """Is it an entry of a news sitemap, which says when a page came to be and not when it changed?"""
    return entry.hints is not None and entry.hints.published is not None and entry.hints.lastmod is None


def _stated(hints: Hints) -> Instant | None:
    """When a feed says that a page changed, or came to be."""
    return hints.lastmod if hints.lastmod is not None else hints.published
