"""Resume a capture from its store, under any strategy.

Fetches in flight are queued again; all else is as it was (observations, never orders). The capture's mode is told of
all former fetches in their order; then a new strategy is built and told of them, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.frontier.admission import TOO_FAR
from sharc_crawler.frontier.besides_links import widen
from sharc_crawler.frontier.capture import SiteCapture
from sharc_crawler.frontier.hosts import TOO_MANY, Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.modes.two_visits import TwoVisits
from sharc_crawler.frontier.opening import Opener, at_once
from sharc_crawler.frontier.throttling import slow_down
from sharc_crawler.links.robots import leads_on, missing, rules_of
from sharc_crawler.model import EMBEDDED, Instant, Kind, Outcome, PageId, Phase, Result, Seconds, Sighting, Slot, Visit
from sharc_crawler.state.lifecycle import Event, State
from sharc_crawler.state.pages import NO_PARENT, UNRATED, is_compared
from sharc_crawler.state.rows import Batch, CaptureRow, OutsideRow, PageRow, VisitRow
from sharc_crawler.traps.common import content_of
from sharc_crawler.traps.many import tell, told
from sharc_crawler.traps.probing import feeds, recall, take
from sharc_crawler.traps.rules import Traps

_OK, _SECOND, _PAGE = Result.OK, Slot.SECOND, Kind.PAGE  # local names are faster: there may be a million pages
_QUEUED, _VISITED = int(State.QUEUED), int(State.VISITED)
_KINDS = EMBEDDED | {_PAGE}
AT_ONCE = 5_000  #: pages given to the rules against traps at a time


class FirstVisits:
    """Consecutive first visits that brought content, restored together: nearly all of a capture's visits."""

    def __init__(self, ledger: Ledger, known: Sequence[PageRow], feeds: Callable[[PageId], bool]) -> None:
        """``known``: all pages; ``feeds``: did a page name new pages like itself?"""
        self._pages = ledger.pages
        self._known = known
        self._feeds = feeds
        self._rows: dict[PageId, VisitRow] = {}

    def take(self, visits: Sequence[VisitRow], at: int) -> int:
        """Collect first visits from index ``at`` on; return the index of the first other visit."""
        states, kinds, rows = self._pages.states, self._pages.kinds, self._rows
        for row in islice(visits, at, None):
            page, slot, _, _, finished, _, _, outcome = row
            first = finished and outcome.result is _OK and slot is not _SECOND and states[page] == _QUEUED
            if not first or page in rows or kinds[page] not in _KINDS:  # a second look before T
                return at + len(rows)
            rows[page] = row
        return at + len(rows)

    def put_back(self, capture: SiteCapture) -> list[Visit]:
        """Restore the collected visits; return those of pages."""
        if not self._rows:
            return []
        rows, known, mode = list(self._rows.values()), self._known, capture.mode
        self._rows = {}
        self._remember(rows, compared=mode.compares)
        seen = capture.revisited.visited
        for row in rows:
            seen(known[row.page].url, row.outcome)
        made = [row for row in rows if known[row.page].kind is _PAGE]
        if isinstance(mode, TwoVisits) and mode.tells_nobody:
            mode.captured([(row.page, row.slot, row.outcome) for row in made])
        else:
            for row in rows:
                mode.visited(Task(row.page, row.slot, row.plan, row.attempt), known[row.page].kind, row.outcome)
        capture.counts.visited(captured=True, pages=len(made))
        if capture.traps is not None:
            self._tell(capture.traps, made)
        return [tuple.__new__(Visit, row[:3]) for row in made]  # there may be a million

    def _remember(self, rows: Sequence[VisitRow], *, compared: bool) -> None:
        states, remember = self._pages.states, self._pages.remember
        for row in rows:
            states[row.page] = _VISITED
            remember(row.page, row.outcome, compared)

    def _tell(self, traps: Traps, made: Sequence[VisitRow]) -> None:
        known, pages = self._known, self._pages
        found = [(row.page, content) for row in made if (content := content_of(row.outcome)) is not None]
        for start in range(0, len(found), AT_ONCE):
            shown, contents = zip(*found[start : start + AT_ONCE], strict=True)
            urls = [known[page].url for page in shown]
            if tell(traps, shown, urls, contents):
                continue
            for page, url, content in zip(shown, urls, contents, strict=True):
                traps.showed(page, url, content, pages, partial(self._feeds, page))


_LATE = State.LATE  # a local name is faster
_CAPTURED = frozenset({State.VISITED, State.JUDGED})


class Restorer:
    """Puts stored state back into an empty frontier."""

    def __init__(self, ledger: Ledger, opener: Opener) -> None:
        self._ledger = ledger
        self._opener = opener
        self._firsts: list[Visit] = []  # first visits, as they ended
        self._members: dict[PageId, int] = {}  # number of each page's part

    def restore(self, saved: Batch, now: Instant) -> None:
        """Restore the capture with all pages and visits; then the frontier is ready."""
        capture = self._capture(saved)
        taken = saved.novelties
        self._pages([_taken_up(row) if row.page in taken else row for row in saved.pages] if taken else saved.pages)
        for name, host in saved.hosts.items():
            self._host(name, host.robots or "")
        self._members = dict(saved.members)
        for row in saved.lastmods:
            capture.mode.recall_lastmod(row)
        if capture.traps is not None:
            recall(capture.traps, saved.kept, capture.seen, self._ledger.pages)
        self._visits(saved)
        self._paces(saved.visits)
        for left in saved.outside:
            self._left_out(left)
        for judgement in saved.judgements:
            self._judged(judgement.page)
        lived = (capture.started, *(end for _, end in capture.interruptions))
        ended = max([*lived, *(visit.outcome.ended for visit in saved.visits)])
        if capture.phase is not Phase.DONE:
            interrupted(capture, ended, now)
            self._go_on(capture, now)
            self._ledger.changed_capture()
        if (polls := self._ledger.shared.polls) is not None:  # an instant crawl's time counts while it runs
            polls.begin(capture.started, stood_still(capture))

    # -- pages and hosts ---------------------------------------------------------------------------------------------

    def _capture(self, saved: Batch) -> SiteCapture:
        (row,) = saved.captures.values()
        capture = self._ledger.capture = self._opener.prepared(row.spec, row.started)
        put_back(capture, row)
        capture.mode.recall_parts([part for _, part in sorted(saved.subsites.items())])
        return capture

    def _pages(self, rows: Sequence[PageRow]) -> None:
        """Restore all URLs, as discovered."""
        ledger, capture = self._ledger, self._ledger.capture
        ledger.pages.extend(rows, {name: ledger.host(name) for name in dict.fromkeys(row.host for row in rows)})
        capture.seen.add_all([row.key for row in rows], range(len(rows)))
        capture.mode.recall_pages(rows)
        page_kind = Kind.PAGE  # looked up once: nearly all of them are
        self._named([row for row in rows if row.kind is page_kind])
        for row in rows:
            if row.kind is not page_kind:
                self._besides(row)

    def _named(self, rows: Sequence[PageRow]) -> None:
        """Count and queue pages."""
        ledger, capture = self._ledger, self._ledger.capture
        capture.counts.known(len(rows))
        capture.counts.left(sum(row.state == _LATE for row in rows))
        for name in {row.host for row in rows}:
            ledger.may_have_pages(ledger.host_numbers[name])
        unrated = UNRATED.source
        wait = [row for row in rows if row.source == unrated and row.state != _LATE]
        named = [(row.key, Sighting(row.url, hints=row.hints)) for row in wait]
        capture.front.unrated.put_all([row.page for row in wait], named)
        seeds = set(capture.spec.seeds)
        capture.budget.keep_room(row.page for row in rows if row.url in seeds)

    def _besides(self, row: PageRow) -> None:
        """Restore a hub, probe or resource."""
        ledger, capture = self._ledger, self._ledger.capture
        if row.kind is Kind.HUB and row.state != State.LATE:
            capture.mode.hub(row.page)
        elif row.kind is Kind.PROBE or (row.kind in EMBEDDED and row.parent == NO_PARENT):
            ledger.may_have_pages(ledger.host_numbers[row.host])
        elif row.kind in EMBEDDED:
            capture.embedded.add(ledger.pages.owner(row.parent), row.page)

    def _left_out(self, row: OutsideRow) -> None:
        capture = self._ledger.capture
        capture.left_out.was_listed(row.url)
        if row.reason == TOO_FAR.format(capture.spec.hops) and (parent := capture.seen.get(row.via)) != UNSEEN:
            capture.far[row.url] = parent
        if not capture.counts.visits:
            capture.front.lies_elsewhere(Sighting(row.url, via=row.via))

    def _host(self, name: str, robots: str) -> None:
        number = self._ledger.host_numbers.get(name)
        if number is not None:
            host = self._ledger.hosts[number]
            host.waits = False
            politeness = self._ledger.politeness
            host.obey(rules_of(robots, politeness.agent, f"http://{name}/robots.txt"), politeness.max_delay)

    # -- fetches -----------------------------------------------------------------------------------------------------

    def _visits(self, saved: Batch) -> None:
        """Restore all fetches, in the order in which they ended; with each poll the new pages that it showed."""
        self._ledger.novelties.update(saved.novelties)
        shown: dict[tuple[PageId, Instant], list[PageId]] = defaultdict(list)
        for row in saved.novelties.values():
            shown[row.hub, row.seen].append(row.page)
        self._spent(saved.visits)
        capture, usual = self._ledger.capture, FirstVisits(self._ledger, saved.pages, self._feeds)
        at = usual.take(saved.visits, 0)
        self._firsts += usual.put_back(capture)
        while at < len(saved.visits):
            visit = saved.visits[at]
            if visit.finished:
                self._visit(visit, shown)
            else:  # perhaps a 304 that is to be tested
                capture.mode.asks_again(visit.page, visit.slot, visit.outcome)
            at = usual.take(saved.visits, at + 1)
            self._firsts += usual.put_back(capture)

    def _spent(self, visits: Sequence[VisitRow]) -> None:
        """Count what the fetches cost."""
        self._ledger.capture.budget.restore(visits, self._ledger.pages)
        if (polls := self._ledger.shared.polls) is not None:
            for visit in visits:
                if visit.attempt:
                    polls.spend(visit.outcome.started)

    def _paces(self, visits: Sequence[VisitRow]) -> None:
        """Restore hosts' delays and pauses from their last requests."""
        ledger, asked, hosts = self._ledger, dict[int, float](), self._ledger.pages.hosts
        for page, _, _, attempt, _, _, _, outcome in visits:
            if attempt:  # a server was asked
                number = hosts[page]
                if outcome.started > asked.get(number, 0.0):
                    asked[number] = outcome.started
                if outcome.status in TOO_MANY or ledger.hosts[number].slowed:
                    slow_down(ledger.hosts[number], attempt, outcome)
                if outcome.retry_after:  # another answer may have come after it
                    longest = ledger.politeness.longest_pause
                    ledger.hosts[number].pace.pause(outcome.ended + min(outcome.retry_after, longest))
        for number, last in asked.items():
            ledger.hosts[number].pace.asked(ledger.hosts[number], last)

    def _visit(self, row: VisitRow, shown: Mapping[tuple[PageId, Instant], list[PageId]]) -> None:
        """Restore a finished fetch."""
        pages, page = self._ledger.pages, row.page
        kind = pages.kinds[page]
        if kind is Kind.HUB:
            self._polled(row, shown.get((page, row.outcome.ended), []))
        elif row.slot is Slot.SECOND:
            if kind is Kind.PAGE and not self._ledger.capture.mode.audits(page):
                self._ledger.capture.counts.revisited()
            self._second(page, row.slot, row.outcome)
        else:
            self._first(row, kind)

    def _first(self, row: VisitRow, kind: Kind) -> None:
        pages, page, outcome = self._ledger.pages, row.page, row.outcome
        capture, captured = self._ledger.capture, is_compared(kind, outcome)
        again = kind is Kind.PAGE and pages.states[page] == State.VISITED  # before T, by a hint
        if again:
            before = pages.remembered(page)
            capture.mode.visited_again(page, before, outcome)
            capture.revisited.looked(pages.urls[page], before, outcome)
        pages.move(page, Event.LEASE)
        pages.move(page, Event.CAPTURED if captured else Event.NO_CONTENT)
        if kind is Kind.ROBOTS:
            self._robots_read(page, outcome)
        elif kind is Kind.SITEMAP:
            if captured:
                self._sitemap_read(row)
        elif kind is Kind.PROBE:
            if capture.traps is not None:
                take(capture.traps, pages.urls[page], outcome, self._targets.get(page, ()), capture.seen, pages)
        else:
            if captured:
                pages.remember(page, outcome, capture.mode.compares)
                capture.revisited.visited(pages.urls[page], outcome)
            if kind is Kind.PAGE and not again:
                self._brought_nothing(capture, row)
            if not again:
                capture.mode.visited(Task(page, row.slot, row.plan, row.attempt), kind, outcome)

    def _sitemap_read(self, row: VisitRow) -> None:
        capture = self._ledger.capture
        if row.page in self._naming:
            self._opener.claim(capture, row.page)
        capture.mode.sitemap_read(row.page, row.slot, row.outcome)

    def _brought_nothing(self, capture: SiteCapture, row: VisitRow) -> None:
        """Restore a page's first visit without content."""
        capture.counts.visited(captured=False)
        self._firsts.append(Visit(row.page, row.slot, row.plan))
        if row.outcome.location:
            widen(self._ledger.pages, capture, row.page, row.outcome.location)

    def _feeds(self, page: PageId) -> bool:
        """Did the page name new pages like itself?"""
        return feeds(page, self._targets.get(page, ()), self._ledger.pages)

    @cached_property
    def _naming(self) -> set[PageId]:
        """Documents that first named others."""
        return set(self._ledger.pages.parents)

    @cached_property
    def _targets(self) -> dict[PageId, tuple[PageId, ...]]:
        """The links of each page; needed only if a site has copies of pages."""
        return {row.page: row.targets for row in self._ledger.links()}

    def _robots_read(self, page: PageId, outcome: Outcome) -> None:
        """Restore when a host's rules were read, or why not; later failures leave former rules."""
        pages = self._ledger.pages
        host = self._ledger.hosts[pages.hosts[page]]
        if leads_on(outcome, pages.depths[page]):
            return
        first, host.read = not host.read, outcome.ended
        if first or outcome.result is not Result.FAILED:
            host.missing = missing(outcome)

    def _second(self, page: PageId, slot: Slot, outcome: Outcome) -> None:
        """Restore a second download: what it shows besides its judgement."""
        pages, capture = self._ledger.pages, self._ledger.capture
        kind = pages.kinds[page]
        if outcome.result is Result.REFUSED:
            return
        if kind is Kind.SITEMAP:
            capture.mode.sitemap_read(page, slot, outcome)
            return
        visit, part = pages.remembered(page), self._members.get(self._ledger.pages.owner(page))
        reference = capture.reference if part is None else capture.mode.reference_of(part)
        judgement = capture.revisited.judge(pages.urls[page], pages.asked_by(page, outcome), outcome, reference)
        capture.mode.revisited(page, kind, visit, outcome, judgement)

    def _polled(self, row: VisitRow, new: Sequence[PageId]) -> None:
        """Restore a poll that first showed these pages."""
        ledger, page = self._ledger, row.page
        ledger.pages.move(page, Event.LEASE)
        if ledger.polls is not None:
            for _ in new:
                ledger.polls.news(page)
        self._ledger.capture.mode.polled(page, row.outcome, new)

    def _judged(self, page: PageId) -> None:
        pages = self._ledger.pages
        pages.move(page, Event.JUDGE)
        pages.forget(page)

    # -- owed downloads and the strategy -----------------------------------------------------------------------------

    def _go_on(self, capture: SiteCapture, now: Instant) -> None:
        """Owe again unfinished downloads, and rebuild the strategy if there was one."""
        pages, members = self._ledger.pages, self._members
        mine = [page for page, state in enumerate(pages.states) if state != _LATE]
        if members or capture.reference is not None:
            capture.again = frozenset(page for page in mine if self._after_reference(capture, page))
        page_kind, waiting = Kind.PAGE, []
        for page in mine:
            if pages.kinds[page] is page_kind and page not in capture.again:
                waiting.append(page)
            else:
                self._owe_again(capture, page)
        self._open_hosts(capture)
        capture.front.wait(waiting)
        made = [visit for visit in self._firsts if visit.page not in capture.again]
        if firsts := capture.mode.resumed(members, made):
            self._rebuild_strategy(capture, firsts, now)
        self._ledger.ring.wake_all()

    def _open_hosts(self, capture: SiteCapture) -> None:
        """Open the seeds' hosts again if their robots.txt is still to be read."""
        ledger, parts = self._ledger, self._opener.parts
        known = {host.name: host for host in ledger.hosts}
        for seed in filter(None, map(parts.canonical, (*capture.spec.seeds, *capture.front.moved))):
            host = known.get(parts.host_of(seed))
            if host and host.waits and not host.rules:  # not if the rules are only being renewed
                self._opener.open_host(capture, host.name, seed)
            elif host and capture.spec.discover:  # not in a Scrapy project, whose capture has no seeds
                ledger.seeded.add(host.name)

    def _after_reference(self, capture: SiteCapture, page: PageId) -> bool:
        """Is its visit, made or to be made, after T? That only happens if the record of an earlier visit is lost."""
        pages = self._ledger.pages
        state = pages.states[page]
        if pages.kinds[page] not in (Kind.PAGE, *EMBEDDED) or state not in (State.QUEUED, State.VISITED):
            return False
        reference = capture.mode.reference_of(self._members.get(self._ledger.pages.owner(page)))
        return reference is not None and (state == State.QUEUED or pages.started[page] > reference)

    def _owe_again(self, capture: SiteCapture, page: PageId) -> None:
        """Owe a resource, sitemap or robots.txt that is still to be downloaded."""
        ledger = self._ledger
        kind, state = ledger.pages.kinds[page], ledger.pages.states[page]
        if page in capture.again:
            if state == State.QUEUED:
                ledger.owe(page, Slot.ONLY)
            return
        if kind in (Kind.PAGE, Kind.HUB):
            return
        if state == State.QUEUED:
            if kind is Kind.SITEMAP:
                capture.owed.before_visits(page)
            twice = kind in EMBEDDED and ledger.pages.parents[page] != NO_PARENT and capture.mode.compares
            ledger.owe(page, Slot.FIRST if twice else Slot.ONLY)
        elif kind in EMBEDDED and state == State.VISITED and not capture.mode.left_open(page):
            owner = ledger.pages.owner(page)
            over = ledger.pages.states[owner] == State.JUDGED or capture.mode.left_open(owner)
            if owner != page and over and capture.phase is Phase.REVISIT:
                ledger.owe(page, Slot.SECOND)

    def _rebuild_strategy(self, capture: SiteCapture, firsts: Sequence[Visit], now: Instant) -> None:
        strategy = self._opener.begin(capture, now, at_once)
        assert strategy is not None, "it was waited for"
        states = self._ledger.pages.states
        links = self._ledger.links() if capture.phase is Phase.VISIT else ()
        for row in told(links, capture.traps, self._ledger.pages) if capture.traps and links else links:
            if self._ledger.pages.kinds[row.page] is not Kind.PROBE:
                strategy.linked(row.targets)
        for visit in firsts:
            strategy.finished(visit, captured=states[visit.page] in _CAPTURED)
        unjudged = capture.mode.rebuilt(strategy, firsts)
        for visit in firsts if strategy.revisits else ():
            if states[visit.page] == State.JUDGED or visit.page in unjudged:
                strategy.finished(Visit(visit.page, Slot.SECOND, visit.plan), captured=True)
        capture.mode.went_on(strategy)


def _taken_up(row: PageRow) -> PageRow:
    """Queue a page that was left until a hub showed it."""
    return row._replace(state=State.QUEUED) if row.state == State.LATE else row


def put_back(capture: SiteCapture, row: CaptureRow) -> None:
    """Set a capture's state as stored."""
    capture.life.restore(row.phase, row.reference, row.ended)
    capture.notes = list(row.notes)
    capture.interruptions = list(row.interruptions)
    capture.left_out.restore(row.skipped)
    capture.mode.audit = row.audit
    capture.swings = row.swings


def stood_still(capture: SiteCapture) -> Seconds:
    """Return how long no process ran since the capture began, or began anew."""
    return sum(end - start for start, end in capture.interruptions if start >= capture.started)


def interrupted(capture: SiteCapture, ended: Instant, now: Instant) -> None:
    """Note that the capture stood still from its last sign of life until now, also for the time budget."""
    capture.interruptions.append((ended, now))
    capture.budget.paused = stood_still(capture)
