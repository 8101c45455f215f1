"""A frontier goes on where a former one was cut off: from what its store holds, under any strategy.

What was leased and not answered is queued again; everything else is as it was (observations, never orders).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from sharc_crawler.evidence.judgement import is_apex
from sharc_crawler.frontier.budget import PREFIX
from sharc_crawler.frontier.capture import SiteCapture
from sharc_crawler.frontier.hosts import Task
from sharc_crawler.frontier.lifecycle import Event, State
from sharc_crawler.frontier.modes import instant, subsites
from sharc_crawler.frontier.modes.two_visits import MODIFIED
from sharc_crawler.frontier.pages import NO_PARENT, UNRATED
from sharc_crawler.frontier.robots import RobotsRules, leads_on, missing
from sharc_crawler.model import Kind, Phase, RateEstimate, Result, Sighting, Slot, Visit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.modes.attested import Attesting
    from sharc_crawler.frontier.modes.two_visits import Replanner
    from sharc_crawler.frontier.opening import Opener
    from sharc_crawler.frontier.parts import Parts
    from sharc_crawler.frontier.store import Batch, CaptureRow, LastmodRow, OutsideRow, PageRow, VisitRow
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
        for row in saved.lastmods:
            self._lastmod(row)
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
            if row.source == UNRATED.source and not late:
                capture.unrated[row.page] = Sighting(row.key, hints=row.hints)
            if row.url in capture.spec.seeds:
                capture.budget.seeds.add(row.page)
        elif row.kind is Kind.HUB and row.state != State.LATE:
            instant.enter(ledger, capture, row.page)
        elif row.kind is Kind.RESOURCE and row.parent == NO_PARENT:
            ledger.hosts[host].captures[capture.number] = None
        elif row.kind is Kind.RESOURCE:
            capture.embedded.setdefault(ledger.owner(row.parent), []).append(row.page)

    def _left_out(self, row: OutsideRow) -> None:
        capture = self._ledger.captures[row.capture]
        capture.outside.add(row.url)
        if not capture.visits:
            capture.elsewhere.append(Sighting(row.url, via=row.via))

    def _lastmod(self, row: LastmodRow) -> None:
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
            capture.revisited.visited(pages.urls[page], outcome)
            if capture.attesting is not None:
                capture.attesting.visited(page, kind, outcome, once=row.slot is Slot.ONLY)
            if capture.traps is not None and kind is Kind.PAGE:
                capture.traps.saw(pages.urls[page], outcome.fingerprint)

    def _page_visited(self, capture: SiteCapture, row: VisitRow) -> None:
        captured = row.outcome.result is Result.OK
        capture.visits += 1
        capture.captured += captured
        late = capture.reference is not None and row.outcome.started > capture.reference
        if captured and capture.attesting is None and not late:
            capture.apex = row.page if is_apex(row.slot, row.outcome) else None
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
            return
        visit = pages.remembered(page)
        judgement = capture.revisited.judge(pages.urls[page], visit, outcome, capture.reference)
        if pages.kinds[page] is Kind.PAGE and capture.attesting is not None:
            capture.attesting.revisited(page, outcome, judgement)

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
        instant.polled(ledger, ledger.captures[ledger.pages.captures[page]], page, row.outcome, new)

    def _judged(self, page: PageId) -> None:
        pages = self._ledger.pages
        capture = self._ledger.captures[pages.captures[page]]
        pages.move(page, Event.JUDGE)
        pages.forget(page)
        capture.revisits += pages.kinds[page] is Kind.PAGE


class Resumer:
    """Makes restored captures ready to be asked."""

    def __init__(self, ledger: Ledger, opener: Opener, replanner: Replanner) -> None:
        self._ledger = ledger
        self._opener = opener
        self._replanner = replanner

    def go_on(self, capture: SiteCapture, firsts: Sequence[Visit], members: dict[PageId, int], now: Instant) -> None:
        """Owe again what was owed, and rebuild the strategy if there was one.

        ``firsts``: its first visits, as they ended; ``members``: the part of each of its pages.
        """
        pages = self._ledger.pages
        mine = [page for page in pages.of(capture.number) if pages.states[page] != State.LATE]
        capture.again = {page for page in mine if self._after_reference(capture, page, members)}
        for page in mine:
            self._owe_again(capture, page)
        self._opener.open_hosts_again(capture)
        capture.waiting = [page for page in mine if pages.kinds[page] is Kind.PAGE and page not in capture.again]
        firsts = [visit for visit in firsts if visit.page not in capture.again]
        if capture.subsites is not None:
            firsts = subsites.restored(self._ledger, capture, members, firsts)
        if firsts:
            self._rebuild_strategy(capture, firsts, now)
        self._ledger.wake(capture)

    def _after_reference(self, capture: SiteCapture, page: PageId, members: dict[PageId, int]) -> bool:
        """Is it to be visited, or was it, after T? Its record of before is lost: nothing else comes so late."""
        pages = self._ledger.pages
        state = pages.states[page]
        if pages.kinds[page] not in (Kind.PAGE, Kind.RESOURCE) or state not in (State.QUEUED, State.VISITED):
            return False
        reference = self._reference(capture, members.get(self._ledger.owner(page)))
        return reference is not None and (state == State.QUEUED or pages.started[page] > reference)

    def _reference(self, capture: SiteCapture, part: int | None) -> Instant | None:
        """The T that visits precede, of a part or of all; None: there is none yet, or none that they all precede."""
        if capture.attesting is not None:
            return None
        if capture.subsites is None or (capture.subsites.open and part == capture.subsites.rows[-1].number):
            return capture.reference
        return None if part is None else capture.subsites.rows[part].reference

    def _owe_again(self, capture: SiteCapture, page: PageId) -> None:
        """Resources, sitemaps and robots.txt whose download was still to come."""
        ledger = self._ledger
        kind, state = ledger.pages.kinds[page], ledger.pages.states[page]
        if page in capture.again:
            if state == State.QUEUED:
                ledger.owe(capture, page, Slot.ONLY)
            return
        if kind in (Kind.PAGE, Kind.HUB):
            return
        if state == State.QUEUED:
            if kind is Kind.SITEMAP:
                capture.opening += 1
            ledger.owe(capture, page, Slot.FIRST if kind is Kind.RESOURCE else Slot.ONLY)
        elif kind is Kind.RESOURCE and state == State.VISITED:
            owner = ledger.owner(page)
            if owner != page and ledger.pages.states[owner] == State.JUDGED and capture.phase is Phase.REVISIT:
                ledger.owe(capture, page, Slot.SECOND)

    def _rebuild_strategy(self, capture: SiteCapture, firsts: Sequence[Visit], now: Instant) -> None:
        strategy = self._opener.begin(capture, now)
        states = self._ledger.pages.states
        for visit in firsts:
            strategy.finished(visit, captured=states[visit.page] in (State.VISITED, State.JUDGED))
        attesting = capture.attesting
        if attesting is None and capture.phase is Phase.REVISIT and capture.subsites is None:
            self._replanner.restored(capture, strategy, any(states[visit.page] == State.JUDGED for visit in firsts))
        open_ = attesting.doubts.keys() if attesting else ()
        if strategy.revisits:
            for visit in firsts:
                if states[visit.page] == State.JUDGED or visit.page in open_:
                    strategy.finished(Visit(visit.page, Slot.SECOND, visit.plan), captured=True)
                    capture.revisits += visit.page in open_
        if attesting is not None and capture.reference is not None:
            strategy.reference_passed()
            self._read_again(capture, attesting)

    def _read_again(self, capture: SiteCapture, attesting: Attesting) -> None:
        """The sitemaps' reading at T was cut off: read what is missing."""
        assert capture.reference is not None, "there is a T"
        for page, read in attesting.sitemaps.items():
            if read < capture.reference:
                capture.opening += 1
                self._ledger.owe(capture, page, Slot.SECOND)
