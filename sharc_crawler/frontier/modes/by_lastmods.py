"""Captures that trust lastmods: T is the start of the sitemaps' download, and a share of pages is audited.

At T, pages that changed since their visit by the sitemaps' word are downloaded once more. Their visit cannot show their
state at T, but a download before their next change can. If all pages are revisited anyway, these come first, and pages
that lastmods show already come last. At the end the audit's pages are downloaded, and the sitemaps read once more.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.evidence.attesting import Attestations
from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.frontier.hosts import TAKEN, Task
from sharc_crawler.frontier.modes import WORTH
from sharc_crawler.frontier.modes.two_visits import TwoVisits, seed_of
from sharc_crawler.model import EMBEDDED, Change, Kind, Phase, Result, Sighting, Slot, Verdict
from sharc_crawler.state.lifecycle import State
from sharc_crawler.strategies.revisiting import revisit_order

if TYPE_CHECKING:
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from sharc_crawler.addresses.known_urls import Texts
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.modes import Untested
    from sharc_crawler.frontier.opening import Aside, LastSeen
    from sharc_crawler.model import Fetch, Hints, Instant, Judgement, Outcome, PageId, Rate, Visit
    from sharc_crawler.rates.history import SiteHistory
    from sharc_crawler.state.rows import LastmodRow, PageRow
    from sharc_crawler.strategies.door import Door

    Column = NDArray[np.float64]

ON_THE_WAY = (0.4, 0.8)  #: shares of the visits after which sitemaps may be read again before T
SPARED = 20.0  #: pages expected to change between visit and T, per sitemap read again before T


class UrlsOf(Mapping[int, str]):
    """A mapping from pages to URLs that copies nothing: there may be a million."""

    def __init__(self, pages: Sequence[PageId], urls: Texts) -> None:
        self._pages, self._urls = pages, urls

    def __getitem__(self, page: PageId) -> str:
        return self._urls[page]

    def __iter__(self) -> Iterator[PageId]:
        return iter(self._pages)

    def __len__(self) -> int:
        return len(self._pages)


class ByLastmods(TwoVisits):
    """Claims pages by their lastmods, and judges them when all evidence is in."""

    listens = attests = True
    takes_hubs = False

    def __init__(
        self,
        ledger: Ledger,
        capture: SiteCapture,
        history: SiteHistory,
        tests: Untested,
        aside: Aside,
        seen: Callable[[str, Instant], LastSeen | None] | None = None,
    ) -> None:
        super().__init__(ledger, capture, tests, compares=True)
        self.attestations = Attestations(history, capture.spec.audit, capture.spec.lag)
        self._aside = aside
        self._seen = seen  # what former captures last saw
        self._weighing: Future[tuple[dict[PageId, Change], list[PageId]]] | None = None  # of lastmods, at T
        self._held: Visit | None = None  # the first visit after T, until the sitemaps are read
        self._again: list[PageId] | None = None  # owed again at T; None: T is to come
        self._embedded_again = False  # resources downloaded before T are owed again
        self._readings = 0  # shares of ON_THE_WAY passed
        self._sought = False  # the sitemaps were owed at T
        self._finally_read = False  # the sitemaps were owed at the end

    def asks_by_former(self, kind: Kind, slot: Slot) -> bool:
        """Only for resources: pages must be downloaded, to compare with lastmods."""
        return kind in EMBEDDED

    def takes(self, page: PageId, url: str, look: Outcome) -> bool:
        """Only before T, and if a trusted lastmod says that the page is unchanged since."""
        return self._capture.reference is None and self.attestations.unchanged_since(page, url, look)

    def prepare(self, pages: Sequence[PageId], now: Instant) -> None:
        """Weigh former evidence against each class of lastmods, and draw the audit."""
        urls, known = self._ledger.pages.urls, self.attestations
        known.begin(UrlsOf(pages, urls), now)
        known.draw(UrlsOf(sorted(known.lastmods), urls), seed=seed_of(self._capture))

    def planned_by(self, pages: Sequence[PageId], rates: Sequence[Rate]) -> Sequence[Rate]:
        """Return the rates as they are; pages found on the way join the audit's draw."""
        if self._capture.reference is None:
            urls = self._ledger.pages.urls
            self.attestations.draw_more({page: urls[page] for page in pages})
        return rates

    def attestable(self, pages: Sequence[PageId], now: Instant) -> list[bool]:
        """Return which pages the lastmods read so far can claim."""
        urls = self._ledger.pages.urls
        return [self.attestations.attestable(page, urls[page], now) for page in pages]

    def ingest(self, page: PageId, read: Instant, hints: Hints) -> None:
        """Enter a lastmod as evidence."""
        assert hints.lastmod is not None, "asked where there is one"
        self.attestations.ingest(page, read, hints.lastmod, hints.lastmod_precision)

    # -- decisions ---------------------------------------------------------------------------------------------------

    def waits(self, strategy: Door, now: Instant) -> bool:
        """Wait for pages downloaded again at T, and for the sitemaps that fix T."""
        if self._downloads_again(strategy):
            return True
        if self._held is not None:
            return False
        if self._capture.reference is None and self._reads_on_the_way(strategy, now):
            return True
        return self._last_is_open(strategy) or (bool(strategy.revisits_ahead()) and self._begin_reference())

    def next(self, strategy: Door, now: Instant) -> Visit | None:
        """Return the next visit; the first one after T is held until the sitemaps are read."""
        if self._held is not None:
            held, self._held = self._held, None
            return held
        visit = strategy.next(now)
        if visit is not None and strategy.past_reference and self._begin_reference():
            self._held = visit
            return None
        return visit

    def owes_more(self, now: Instant) -> bool:
        """Owe audits, then resources, then the sitemaps once more."""
        capture = self._capture
        if not self.attestations.downloads:
            return False
        if capture.reference is None and self._begin_reference():
            return True
        if capture.reference is None:  # no sitemap was read: nothing is claimed
            return False
        if capture.phase is not Phase.CHECK:
            capture.life.check()
            self._ledger.changed_capture()
        if self._audits(capture.reference) or self._embeds(capture.reference):
            return True
        if self._finally_read:
            return False
        self._finally_read = True
        return self._read_sitemaps()

    def _reads_on_the_way(self, strategy: Door, now: Instant) -> bool:
        """Read sitemaps before T to learn which waiting pages are hot, so that these come last.

        This costs a request per sitemap, and saves a download of each page that would have changed by T.
        """
        made, left = self._capture.counts.visits, strategy.first_visits_left
        over = self._readings == len(ON_THE_WAY) or not self._capture.spec.hints
        if over or made < ON_THE_WAY[self._readings] * (made + left):
            return False
        self._readings = self._passed(strategy)
        sitemaps, room = len(self.attestations.sitemaps), self._capture.budget.spare(now) - 2 * left
        if not 0 < WORTH * sitemaps <= made or room < 3 * sitemaps:  # for now, T and the end
            return False
        rates, _, shapes = self._columns(self._ledger.pages.pages_in(State.QUEUED))
        until = np.full(len(rates), strategy.setting.step * left / 2)
        lost = -np.expm1(log_survival(rates, until, shapes)).sum()
        return bool(lost >= SPARED * sitemaps) and self._read_sitemaps()

    def _passed(self, strategy: Door) -> int:
        made = self._capture.counts.visits
        return sum(made >= share * (made + strategy.first_visits_left) for share in ON_THE_WAY)

    def _begin_reference(self) -> bool:
        """Owe the sitemaps, whose download fixes T, before the next visit; return ``False`` if there are none.

        They are owed once: the budget may forbid them.
        """
        if self._capture.reference is not None or self._sought:
            return False
        self._sought = True
        return self._read_sitemaps()

    def _read_sitemaps(self, before: Instant | None = None) -> bool:
        """Owe the sitemaps (those last read ``before`` an instant); visits wait until they are read."""
        found = [page for page, read in self.attestations.sitemaps.items() if before is None or read < before]
        for page in found:
            self._capture.owed.before_visits(page)
            self._ledger.owe(page, Slot.SECOND)
        return bool(found)

    # -- at T --------------------------------------------------------------------------------------------------------

    def as_of(self, page: PageId, outcome: Outcome) -> Instant:
        """Return the instant, given the sitemap's former answers."""
        return self.attestations.as_of(page, outcome)

    def sitemap_read(self, page: PageId, slot: Slot, outcome: Outcome) -> None:
        """Enter a reading; the first one in slot SECOND after the visits is at T."""
        self.attestations.read(page, outcome)
        if slot is Slot.SECOND:
            self._read_at_reference(outcome)

    def named(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting]) -> Sequence[Sighting]:
        """Fix T before admitting links: pages that a sitemap first names at T come after it."""
        if fetch.kind is Kind.SITEMAP and fetch.slot is Slot.SECOND:
            self._read_at_reference(outcome)
        return links

    def _read_at_reference(self, outcome: Outcome) -> None:
        capture = self._capture
        if self._sought and capture.reference is None and capture.strategy is not None:
            capture.life.turn(outcome.started)
            capture.strategy.reference_passed()

    def _downloads_again(self, strategy: Door) -> bool:
        """After the sitemaps' reading at T: are pages downloaded again before the next visit?"""
        reference = self._capture.reference
        if reference is None:
            return False
        if self._again is None:
            if not self._drew:
                self._draw()
            if (weighed := self._weighed(strategy, reference)) is None:
                return True
            changes, lost = weighed
            self._reorder(strategy, changes, reference)
            self._rate_again(lost, reference)
            self._again = self._worth_again(strategy, lost)
            self._owe_in_full(self._again)
            return bool(self._again)
        undated, self._again = self.attestations.undated(self._again), []
        return len(undated) > len(self.attestations.sitemaps) and self._read_sitemaps()

    def _weighed(self, strategy: Door, reference: Instant) -> tuple[dict[PageId, Change], list[PageId]] | None:
        """Return what lastmods say of pages to revisit, and which visits are lost; ``None`` while this is weighed.

        It takes long on a large site, so it may run in another thread.
        """
        if self._weighing is None:
            weigh = partial(self._weigh, strategy.revisits_ahead(), reference)
            self._weighing = self._aside(weigh, len(self.attestations.downloads))
        self._capture.weighing = not self._weighing.done()
        return None if self._capture.weighing else self._weighing.result()

    def _weigh(self, ahead: Sequence[PageId], reference: Instant) -> tuple[dict[PageId, Change], list[PageId]]:
        urls, known = self._ledger.pages.urls, self.attestations
        changes = {page: known.since_visit(page, urls[page], reference) for page in ahead}
        return changes, known.lost(urls.__getitem__, reference)

    def _owe_in_full(self, pages: Sequence[PageId]) -> None:
        """Owe downloads without conditions: bytes are wanted, not the server's word."""
        for page in pages:
            self._ledger.pages.ask_in_full(page)
            self._ledger.owe(page, Slot.SECOND)

    def _rate_again(self, lost: Sequence[PageId], reference: Instant) -> None:
        """Rate pages by their new lastmods: they have changed since they were rated."""
        urls, last = self._ledger.pages.urls, self.attestations.last_hints
        sightings = [Sighting(urls[page], hints=last(page)) for page in lost]
        estimates = self._capture.rates.rates(sightings, reference) if lost else ()
        for page, estimate in zip(lost, estimates, strict=True):
            self._ledger.rated(page, estimate)

    def _worth_again(self, strategy: Door, lost: list[PageId]) -> list[PageId]:
        """Return the lost pages worth a download at T, in order: likely unchanged since T when their turn comes.

        Each download delays all revisits by Δ, which must not cost more than the download is expected to gain.
        """
        step = strategy.setting.step
        rates, weights, shapes = self._columns(lost)
        order = revisit_order(rates, weights, shapes, np.zeros(len(lost)), step)
        left = strategy.revisits_ahead()
        later, theirs, forms = self._columns(left)
        cost = -(theirs * np.expm1(log_survival(later, np.full(len(left), step), forms))).sum()
        gain = weights[order] * np.exp(
            log_survival(rates[order], step * np.arange(len(lost), dtype=np.float64), shapes[order])
        )
        return [lost[place] for place in order[gain > cost].tolist()]

    def _reorder(self, strategy: Door, changes: Mapping[PageId, Change], reference: Instant) -> None:
        """Order the revisits ahead anew: pages that lastmods show already may come late."""
        ahead = strategy.revisits_ahead()
        if not ahead:
            return
        started = self._ledger.pages.started
        stated = np.array([changes.get(page, Change.UNKNOWN) for page in ahead])
        rates, weights, shapes = self._columns(ahead)
        elapsed = np.array([max(0.0, reference - started[page]) for page in ahead])
        elapsed[stated == Change.CHANGED] = 0.0  # it need only stay unchanged from T to its revisit
        order = revisit_order(rates, weights * (stated != Change.UNCHANGED), shapes, elapsed, strategy.setting.step)
        strategy.reorder([ahead[place] for place in order.tolist()])

    def _columns(self, numbers: Sequence[PageId]) -> tuple[Column, Column, Column]:
        """Return rates, weights and shapes of pages."""
        pages = self._ledger.pages
        rates, weights, shapes = (
            np.array([column[page] for page in numbers], np.float64)
            for column in (pages.rates, pages.weights, pages.shapes)
        )
        return rates, weights, shapes

    # -- at the end --------------------------------------------------------------------------------------------------

    def _audits(self, reference: Instant) -> bool:
        """Owe the audit's next downloads; the sitemaps are read (again) after them."""
        left = self.attestations.next_audits(reference, told=self._finally_read)
        self._finally_read = self._finally_read and not left
        self._owe_in_full(left)
        return bool(left)

    def _embeds(self, reference: Instant) -> bool:
        """Owe, once, the second download of resources visited before T and not revisited with their page."""
        if self._embedded_again:
            return False
        self._embedded_again = True
        pages = self._ledger.pages
        left = [
            page
            for page in pages.having(State.VISITED)
            if pages.kinds[page] in EMBEDDED and pages.started[page] < reference
        ]
        for page in left:
            self._ledger.owe(page, Slot.SECOND)
        return bool(left)

    def visited(self, task: Task, kind: Kind, outcome: Outcome) -> None:
        """Enter a visit as evidence; here T is never a page's download."""
        if outcome.result is Result.OK:
            once, former = task.slot is Slot.ONLY, task.attempt == TAKEN
            self.attestations.visited(task.page, kind, outcome, once, former)
            if kind is Kind.PAGE:
                self._shown(task.page, outcome)
                self._held_against_former(task.page, outcome)

    def _held_against_former(self, page: PageId, outcome: Outcome) -> None:
        """Note a change since a former capture, which the page's lastmod must show."""
        if self._seen is None or page not in self.attestations.lastmods:
            return
        from sharc_crawler.frontier.modes.rate_tests import changed  # only with former captures

        seen = self._seen(self._ledger.pages.urls[page], self._capture.started)
        if seen is not None and changed(seen, outcome):
            self.attestations.changed[page] = seen.time

    def audits(self, page: PageId) -> bool:
        """A page visited once has no revisit, only audits."""
        return page in self._once()

    def _once(self) -> Container[PageId | None]:
        return self.attestations.once

    def revisited(
        self,
        page: PageId,
        kind: Kind,
        visit: Outcome,
        outcome: Outcome,
        judgement: Judgement,
    ) -> bool:
        """Leave the page unjudged, since lastmods are weighed at the end, unless bytes show it unchanged."""
        if kind is Kind.DATA:
            return super().revisited(page, kind, visit, outcome, judgement)
        if kind is not Kind.PAGE:
            return False
        open_304 = page not in self._once() and super().revisited(page, kind, visit, outcome, judgement)
        return self.attestations.revisited(page, outcome, judgement) or open_304

    def judge(self, pages: Sequence[PageId]) -> Mapping[PageId, Judgement]:
        """Judge the pages left open by all evidence."""
        reference = self._capture.reference
        if reference is None:
            return {}
        table, by_304 = self._ledger.pages, super().judge(pages)
        believed = {page: one for page, one in by_304.items() if one.verdict is Verdict.COHERENT}
        self.attestations.doubts.update(
            (page, one) for page, one in by_304.items() if page not in believed and table.kinds[page] is Kind.PAGE
        )
        urls, embedded = (
            UrlsOf([page for page in pages if table.kinds[page] in kinds and page not in believed], table.urls)
            for kinds in ({Kind.PAGE}, EMBEDDED)
        )
        judged, self.audit = self.attestations.judge(urls, reference)
        if self._by_304 is not None:
            self.audit = self._by_304.beside(self.audit, self.attestations.sampled)
        data = {page: one for page, one in by_304.items() if table.kinds[page] is Kind.DATA}
        for more in (believed, self.attestations.judge_embedded(embedded, reference), data):
            judged.update(more)
        return judged

    # -- after a restart ---------------------------------------------------------------------------------------------

    def recall_pages(self, rows: Sequence[PageRow]) -> None:
        """Do nothing: lastmods are restored by :meth:`recall_lastmod`."""

    def recall_lastmod(self, row: LastmodRow) -> None:
        """Restore a lastmod as evidence."""
        self.attestations.ingest(row.page, row.read, row.lastmod, row.precision)

    def reference_of(self, part: int | None) -> Instant | None:
        """Return none: pages are first visited on both sides of T."""
        return None

    def rebuilt(self, strategy: Door, firsts: Sequence[Visit]) -> frozenset[PageId]:
        """Return pages revisited and left open."""
        return self._left_open().union(self.attestations.doubts)

    def went_on(self, strategy: Door) -> None:
        """Read sitemaps not yet read at T, if that was cut off."""
        self._readings = self._passed(strategy)
        if self._capture.reference is not None:
            strategy.reference_passed()
            self._read_sitemaps(before=self._capture.reference)


class Surveyed(ByLastmods):
    """A survey: reads robots.txt and sitemaps, as before every capture, and visits no page."""

    called = "asked for its sitemaps"

    def waits(self, strategy: Door, now: Instant) -> bool:
        """Wait for nothing."""
        return False

    def next(self, strategy: Door, now: Instant) -> Visit | None:
        """Visit nothing."""
        return None

    def owes_more(self, now: Instant) -> bool:
        """Audit nothing."""
        return False

    def judge(self, pages: Sequence[PageId]) -> Mapping[PageId, Judgement]:
        """Judge nothing."""
        return {}
