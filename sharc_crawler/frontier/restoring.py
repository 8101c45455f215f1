"""A frontier goes on where a former one was cut off: from what its store holds, under any strategy.

What was leased and not answered is queued again; everything else is as it was (observations, never orders).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from sharc_crawler.evidence.judgement import revisit_judgement
from sharc_crawler.frontier import hubs
from sharc_crawler.frontier.budget import PREFIX
from sharc_crawler.frontier.capture import SiteCapture
from sharc_crawler.frontier.hosts import Task
from sharc_crawler.frontier.lifecycle import Event, State
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.frontier.replanning import MODIFIED
from sharc_crawler.frontier.resuming import Resumer
from sharc_crawler.frontier.robots import RobotsRules, leads_on, missing
from sharc_crawler.model import Kind, Phase, RateEstimate, Result, Sighting, Slot, Visit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.opening import Opener
    from sharc_crawler.frontier.parts import Parts
    from sharc_crawler.frontier.replanning import Replanner
    from sharc_crawler.frontier.store import Batch, CaptureRow, OutsideRow, PageRow, VisitRow, WordRow
    from sharc_crawler.model import Instant, Outcome, PageId


class Restorer:
    """Puts stored state back into an empty frontier."""

    def __init__(self, ledger: Ledger, opener: Opener, parts: Parts, replanner: Replanner) -> None:
        self._ledger = ledger
        self._resumer = Resumer(ledger, opener, replanner)
        self._opener = opener
        self._parts = parts

    def restore(self, saved: Batch, now: Instant) -> None:
        """All captures, pages and visits; afterwards the frontier may be asked."""
        self._captures(saved)
        for page in saved.pages:
            self._page(page)
        for name, host in saved.hosts.items():
            self._host(name, host.robots or "")
        for word in saved.words:
            self._word(word)
        firsts: dict[int, list[Visit]] = {capture.number: [] for capture in self._ledger.captures}
        self._visits(saved, firsts)
        for left in saved.outside:
            self._left_out(left)
        for judgement in saved.judgements:
            self._judged(judgement.page)
        ended = max((visit.outcome.ended for visit in saved.visits), default=now)
        members = dict(saved.members)
        for capture in self._ledger.captures:
            if capture.phase is not Phase.DONE:
                capture.interruptions.append((ended, now))
                capture.budget.paused = sum(end - start for start, end in capture.interruptions)
                self._resumer.go_on(capture, firsts[capture.number], members, now)
                self._ledger.changed_capture(capture)
        for capture in self._ledger.captures[:1]:  # all began at once; an instant crawl's time counts while it runs
            self._ledger.polls.begin(capture.started, sum(end - start for start, end in capture.interruptions))

    def _captures(self, saved: Batch) -> None:
        for _, row in sorted(saved.captures.items()):
            self._ledger.captures.append(self._capture(row))
        for (number, _), part in sorted(saved.subsites.items()):
            if (parts := self._ledger.captures[number].subsites) is not None:
                parts.rows.append(part)

    def _capture(self, row: CaptureRow) -> SiteCapture:
        spec = row.spec
        capture = SiteCapture(row.capture, spec, self._parts.scope(spec), self._parts.rates(spec), row.started)
        capture.phase, capture.reference, capture.ended = row.phase, row.reference, row.ended
        capture.notes = list(row.notes)
        capture.interruptions = list(row.interruptions)
        capture.skipped.update(row.skipped)
        capture.audit = row.audit
        self._opener.prepare(capture)
        return capture

    def _page(self, row: PageRow) -> None:
        """One URL, as it was when it was discovered."""
        ledger = self._ledger
        capture = ledger.captures[row.capture]
        host = ledger.host(row.host, capture)
        estimate = RateEstimate(row.rate, row.source, row.shape)
        ledger.pages.add(
            row.url,
            row.kind,
            row.capture,
            host,
            row.depth,
            row.parent,
            estimate,
            row.weight,
            State(row.state),
        )
        capture.seen.add(row.key, row.page)
        capture.replanned |= row.source == MODIFIED
        if row.hints is not None and row.hints.lastmod is not None and row.parent != NO_PARENT:
            capture.sitemaps[row.parent] = 0.0  # its download is among the visits
        if row.kind is Kind.PAGE:
            late = row.state == State.LATE
            capture.late += late
            capture.pages += 1
            ledger.hosts[host].captures[capture.number] = None
            if row.url in capture.spec.seeds:
                capture.budget.seeds.add(row.page)
        elif row.kind is Kind.HUB and row.state != State.LATE:
            hubs.enter(ledger, capture, row.page)
        elif row.kind is Kind.RESOURCE and row.parent != NO_PARENT:
            capture.embedded.setdefault(ledger.owner(row.parent), []).append(row.page)

    def _left_out(self, row: OutsideRow) -> None:
        capture = self._ledger.captures[row.capture]
        capture.outside.add(row.url)
        if not capture.visits:
            capture.elsewhere.append(Sighting(row.url, via=row.via))

    def _word(self, row: WordRow) -> None:
        capture = self._ledger.captures[self._ledger.pages.captures[row.page]]
        if capture.attesting is not None:
            capture.attesting.ingest(row.page, row.read, row.lastmod, row.precision)
        elif capture.subsites is None:
            capture.news = capture.news or {}
            capture.news[row.page] = row.lastmod, row.lastmod + row.precision
            capture.replanned = True

    def _host(self, name: str, robots: str) -> None:
        number = self._ledger.host_numbers.get(name)
        if number is not None:
            host = self._ledger.hosts[number]
            host.waits = False
            politeness = self._ledger.politeness
            host.obey(RobotsRules(robots, politeness.agent, f"http://{name}/robots.txt"), politeness.max_delay)

    def _visits(self, saved: Batch, firsts: dict[int, list[Visit]]) -> None:
        """All fetches, in the order in which they ended; with each poll the new pages that it showed."""
        self._ledger.novelties.update(saved.novelties)
        shown: dict[tuple[PageId, Instant], list[PageId]] = defaultdict(list)
        for row in saved.novelties.values():
            shown[row.hub, row.seen].append(row.page)
        for visit in saved.visits:
            self._spent(visit)
            if visit.settled:
                self._visit(visit, firsts, shown)

    def _spent(self, row: VisitRow) -> None:
        """What the fetch cost."""
        pages = self._ledger.pages
        budget = self._ledger.captures[pages.captures[row.page]].budget
        task = Task(row.page, row.slot, row.plan, row.attempt)
        if row.attempt:
            self._ledger.polls.spend(row.outcome.started)
            budget.leased(task, pages.kinds[row.page])
            budget.ended(task, pages.urls[row.page], row.outcome, settled=row.settled)
        elif (reason := row.outcome.error or "").startswith(PREFIX):
            budget.forgone(task, reason)

    def _visit(
        self, row: VisitRow, firsts: dict[int, list[Visit]], shown: Mapping[tuple[PageId, Instant], list[PageId]]
    ) -> None:
        """A settled fetch: the page is where it was after it."""
        pages, page, outcome = self._ledger.pages, row.page, row.outcome
        if pages.kinds[page] is Kind.HUB:
            self._polled(row, shown.get((page, outcome.ended), []))
            return
        if row.slot is Slot.SECOND:
            self._second(page, outcome)
            return
        captured = outcome.result is Result.OK
        pages.move(page, Event.LEASE)
        pages.move(page, Event.CAPTURED if captured else Event.NO_CONTENT)
        capture = self._ledger.captures[pages.captures[page]]
        kind = pages.kinds[page]
        if kind is Kind.PAGE:
            self._page_visited(capture, row)
            firsts[capture.number].append(Visit(page, row.slot, row.plan))
        elif kind is Kind.ROBOTS:
            self._robots_read(page, outcome)
        elif kind is Kind.SITEMAP and captured:
            self._sitemap_read(capture, page, outcome)
        if captured and kind in (Kind.PAGE, Kind.RESOURCE):
            pages.remember(page, outcome, capture.compares)
            if capture.attesting is not None:
                capture.attesting.visited(page, kind, outcome, once=row.slot is Slot.ONLY)
            if capture.traps is not None and kind is Kind.PAGE:
                capture.traps.saw(pages.urls[page], outcome.fingerprint)

    def _page_visited(self, capture: SiteCapture, row: VisitRow) -> None:
        captured = row.outcome.result is Result.OK
        capture.visits += 1
        capture.captured += captured
        if captured and capture.attesting is None:
            capture.apex = row.page if row.slot is Slot.ONLY else None
        elif row.outcome.location:
            self._opener.widen(capture, row.page, row.outcome.location)

    def _robots_read(self, page: PageId, outcome: Outcome) -> None:
        """When a host's rules were read, and why there are none: later failures leave what was read before."""
        pages = self._ledger.pages
        host = self._ledger.hosts[pages.hosts[page]]
        if leads_on(outcome, pages.depths[page]):
            return
        first, host.read = not host.read, outcome.ended
        if first or outcome.result is not Result.FAILED:
            host.missing = missing(outcome)

    def _second(self, page: PageId, outcome: Outcome) -> None:
        """A revisit: what it says beside its judgement is needed where the server's word counts."""
        pages = self._ledger.pages
        capture = self._ledger.captures[pages.captures[page]]
        if outcome.result is Result.REFUSED:  # the revisit was not made
            return
        if pages.kinds[page] is Kind.SITEMAP:
            self._sitemap_read(capture, page, outcome)
        elif pages.kinds[page] is Kind.PAGE and capture.attesting is not None:
            capture.attesting.revisited(page, outcome, revisit_judgement(pages.remembered(page), outcome))

    @staticmethod
    def _sitemap_read(capture: SiteCapture, page: PageId, outcome: Outcome) -> None:
        if page in capture.sitemaps:
            capture.sitemaps[page] = outcome.started
        if capture.attesting is not None:
            capture.attesting.read(page, outcome)

    def _polled(self, row: VisitRow, new: Sequence[PageId]) -> None:
        """A poll that showed these pages first."""
        ledger, page = self._ledger, row.page
        ledger.pages.move(page, Event.LEASE)
        for _ in new:
            ledger.polls.news(page)
        hubs.polled(ledger, ledger.captures[ledger.pages.captures[page]], page, row.outcome, new)

    def _judged(self, page: PageId) -> None:
        pages = self._ledger.pages
        capture = self._ledger.captures[pages.captures[page]]
        pages.move(page, Event.JUDGE)
        pages.forget(page)
        capture.revisits += pages.kinds[page] is Kind.PAGE
