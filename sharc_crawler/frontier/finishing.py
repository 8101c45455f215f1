"""From the end of a fetch to what it means: captured or lost pages, judgements, T, the end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sharc_crawler.evidence.judgement import APEX, LATE_DOWNLOAD, NEVER_REVISITED, ONCE, is_apex
from sharc_crawler.frontier.budget import PREFIX
from sharc_crawler.frontier.hosts import Task
from sharc_crawler.frontier.lifecycle import Event, State
from sharc_crawler.frontier.modes import instant, subsites
from sharc_crawler.frontier.robots import RobotsRules, is_page, leads_on, missing, rules_text
from sharc_crawler.model import Judgement, Kind, Outcome, Phase, Result, Sighting, Slot, Visit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.frontier.admission import Admitter, Queuer
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.opening import Opener
    from sharc_crawler.model import Fetch, Instant, PageId


class Finisher:
    """Takes outcomes in."""

    def __init__(self, ledger: Ledger, opener: Opener, admitter: Admitter, queuer: Queuer) -> None:
        self._ledger = ledger
        self._opener = opener
        self._admitter = admitter
        self._reader = Reader(ledger, opener, queuer)

    def finish(
        self, capture: SiteCapture, fetch: Fetch, task: Task, outcome: Outcome, links: Sequence[Sighting]
    ) -> Judgement | None:
        """A fetch ended for good. Links enter before the strategy hears of the end: it decides with all known."""
        capture.pending -= 1
        moved = False
        if capture.spec.mode == "instant" and fetch.kind is Kind.PAGE:
            links = [*instant.embedded(links), *instant.candidates(self._ledger, capture, links)]
        if outcome.location and outcome.result is Result.REDIRECTED and fetch.kind is not Kind.ROBOTS:
            moved = self._opener.widen(capture, fetch.page, outcome.location)
            links = [*links, self._admitter.redirected(capture, fetch, outcome.location)]
        linked: list[PageId] = []
        if links and (capture.spec.discover or fetch.kind is Kind.SITEMAP):
            depth = self._ledger.pages.depths[task.page] + 1
            linked = self._admitter.admit(capture, links, outcome.ended, task.page, depth).linked
            self._admitter.ingest(capture, links, outcome.started - (outcome.age or 0.0))
            if moved and outcome.location:
                self._opener.open_moved(capture, outcome.location, outcome.ended)
            if fetch.kind is Kind.SITEMAP and any(one.hints and one.hints.lastmod is not None for one in links):
                capture.sitemaps[task.page] = outcome.started
            if fetch.kind is Kind.PAGE:
                self._ledger.linked(task.page, outcome.started, linked)
                if capture.subsites is not None:
                    capture.subsites.linked(task.page, linked)
        if self._must_precede(capture, fetch, outcome):
            task = task._replace(slot=Slot.FIRST)
        self._ledger.visited(fetch, task, outcome, settled=True)
        judgement = self._finished(capture, fetch, task, outcome, linked)
        self._ledger.wake(capture)
        return judgement

    @staticmethod
    def _must_precede(capture: SiteCapture, fetch: Fetch, outcome: Outcome) -> bool:
        """Is a page's only download to come before T, and another one after it, as it brought resources?"""
        if fetch.kind is not Kind.PAGE or fetch.slot is not Slot.ONLY or not capture.embedded.get(fetch.page):
            return False
        if fetch.page in capture.again:
            return False
        assert capture.strategy is not None, "pages are visited after the strategy is built"
        affordable = not capture.budget.why_not(Task(fetch.page, Slot.SECOND), fetch.kind, fetch.url, outcome.ended)
        return affordable and capture.strategy.revisit_after_all(fetch.page)

    def _finished(
        self, capture: SiteCapture, fetch: Fetch, task: Task, outcome: Outcome, linked: Sequence[PageId]
    ) -> Judgement | None:
        if fetch.kind is Kind.PAGE or fetch.kind is Kind.RESOURCE:
            if task.slot is Slot.SECOND:
                return self._revisited(capture, task, outcome)
            self._visited(capture, fetch, task, outcome)
        elif fetch.kind is Kind.ROBOTS:
            self._reader.robots(capture, fetch, outcome)
        elif fetch.kind is Kind.SITEMAP:
            self._reader.sitemap(capture, fetch, task, outcome)
        else:
            instant.polled(self._ledger, capture, fetch.page, outcome, linked)
        return None

    # -- pages and resources -------------------------------------------------------------------------------------

    def _visited(self, capture: SiteCapture, fetch: Fetch, task: Task, outcome: Outcome) -> None:
        pages = self._ledger.pages
        page, is_page = task.page, fetch.kind is Kind.PAGE
        captured = outcome.result is Result.OK
        pages.move(page, Event.CAPTURED if captured else Event.NO_CONTENT)
        if captured:
            pages.remember(page, outcome, capture.compares)
            capture.revisited.visited(fetch.url, outcome)
            if capture.attesting is not None:
                capture.attesting.visited(page, fetch.kind, outcome, once=task.slot is Slot.ONLY)
            if capture.traps is not None and is_page:
                capture.traps.saw(fetch.url, outcome.fingerprint)
        if is_page:
            self._visited_page(capture, task, captured, outcome)

    def _visited_page(self, capture: SiteCapture, task: Task, captured: bool, outcome: Outcome) -> None:
        capture.visits += 1
        capture.captured += captured
        if task.page in capture.again:  # the strategy is through with it
            return
        if captured and capture.attesting is None:
            capture.apex = task.page if is_apex(task.slot, outcome) else None
        strategy = capture.strategy
        assert strategy is not None, "pages are visited after the strategy is built"
        strategy.finished(Visit(task.page, task.slot, task.plan), captured)
        if capture.subsites is not None:
            capture.subsites.visited.append(task.page)
        made = capture.visits - capture.former
        if made >= 8 and made & (made - 1) == 0:
            # the plan's Δ follows the pace that the site and its resources really allow
            strategy.setting = replace(strategy.setting, step=(outcome.ended - strategy.setting.start) / made)

    def _revisited(self, capture: SiteCapture, task: Task, outcome: Outcome) -> Judgement:
        ledger = self._ledger
        pages = ledger.pages
        page = task.page
        visit = pages.remembered(page)
        judgement = capture.revisited.judge(pages.urls[page], visit, outcome, capture.reference)
        if self._left_open(capture, page, outcome, judgement):
            pages.move(page, Event.CAPTURED)
        else:
            self._judge(page, judgement)
        if pages.kinds[page] is Kind.PAGE and (capture.attesting is None or page not in capture.attesting.once):
            capture.revisits += 1
            for resource in capture.embedded.pop(page, ()):
                if pages.states[resource] == State.VISITED and resource not in capture.again:
                    ledger.owe(capture, resource, Slot.SECOND)
            assert capture.strategy is not None, "a revisit was its decision"
            capture.strategy.finished(Visit(page, task.slot, task.plan), captured=True)
        return judgement

    def _left_open(self, capture: SiteCapture, page: PageId, outcome: Outcome, judgement: Judgement) -> bool:
        """Is it too early to judge, as the server's word has yet to be heard?"""
        if capture.attesting is None or self._ledger.pages.kinds[page] is not Kind.PAGE:
            return False
        return capture.attesting.revisited(page, outcome, judgement)

    def refuse(self, task: Task, reason: str, now: Instant) -> None:
        """It is not to be fetched: a page is lost without a request, or never revisited."""
        ledger = self._ledger
        capture = ledger.captures[ledger.pages.captures[task.page]]
        capture.pending -= 1
        if reason.startswith(PREFIX):
            capture.budget.forgone(task, reason)
        ledger.pages.move(task.page, Event.LEASE)
        ledger.pages.move(task.page, Event.NO_CONTENT)
        ledger.refused(task, reason, now)
        kind = ledger.pages.kinds[task.page]
        if kind is Kind.PAGE and capture.strategy is not None:
            capture.visits += task.slot is not Slot.SECOND
            capture.revisits += task.slot is Slot.SECOND
            capture.strategy.finished(Visit(task.page, task.slot, task.plan), captured=task.slot is Slot.SECOND)
        elif kind is Kind.HUB:
            instant.close(ledger, capture, task.page, reason)
        elif kind is Kind.SITEMAP:
            capture.opening -= 1
            capture.note(f"sitemap {ledger.pages.urls[task.page]}: {reason}")
            ledger.changed_capture(capture)
        ledger.wake(capture)

    def _judge(self, page: PageId, judgement: Judgement) -> None:
        pages = self._ledger.pages
        pages.move(page, Event.JUDGE)
        pages.forget(page)
        self._ledger.judged(page, judgement)

    def _unjudged(self, capture: SiteCapture) -> list[PageId]:
        """Pages and resources that were visited and not compared, in the order of discovery."""
        pages = self._ledger.pages
        visited = pages.of(capture.number, State.VISITED)
        return [page for page in visited if pages.kinds[page] in (Kind.PAGE, Kind.RESOURCE)]

    def _judge_words(self, capture: SiteCapture) -> None:
        """With all evidence in, judge what was left open."""
        if capture.attesting is None or capture.reference is None:
            return
        pages = self._ledger.pages
        left = self._unjudged(capture)
        urls, embedded = (
            {page: pages.urls[page] for page in left if pages.kinds[page] is kind}
            for kind in (Kind.PAGE, Kind.RESOURCE)
        )
        judged, capture.audit = capture.attesting.judge(urls, capture.reference)
        judged |= capture.attesting.judge_embedded(embedded, capture.reference)
        for page, judgement in judged.items():
            self._judge(page, judgement)

    # -- phases --------------------------------------------------------------------------------------------------

    def turn(self, capture: SiteCapture, now: Instant) -> None:
        """All visits are made: fix the reference instant T, once. The apex's download is T where there is one."""
        if capture.reference is None:
            apex = capture.apex
            capture.reference = now if apex is None else self._ledger.pages.started[apex]
        capture.phase = Phase.REVISIT
        self._ledger.changed_capture(capture)

    def complete(self, capture: SiteCapture, now: Instant) -> None:
        """Nothing is left: judge what has only one visit, and end, unless other parts of the site wait."""
        twice = capture.strategy is not None and capture.strategy.revisits
        if twice and capture.phase is Phase.VISIT:
            self.turn(capture, now)
        self._judge_words(capture)
        for page in self._unjudged(capture):
            apex = twice and page == capture.apex
            never = replace(NEVER_REVISITED, reason=capture.budget.unproven.get(page, NEVER_REVISITED.reason))
            never = LATE_DOWNLOAD if page in capture.again else never
            self._judge(page, APEX if apex else never if twice else ONCE)
        if not subsites.close(self._ledger, capture, now):
            return
        capture.phase = Phase.DONE
        capture.ended = now
        if note := capture.budget.note():
            capture.note(note)
        capture.embedded.clear()
        if capture.late and capture.spec.mode == "capture":
            capture.note(f"{capture.late} pages were discovered after the reference instant and are not captured")
        self._ledger.changed_capture(capture)


class Reader:
    """Takes in how the fetches of robots.txt and sitemaps ended."""

    def __init__(self, ledger: Ledger, opener: Opener, queuer: Queuer) -> None:
        self._ledger = ledger
        self._opener = opener
        self._queuer = queuer

    def robots(self, capture: SiteCapture, fetch: Fetch, outcome: Outcome) -> None:
        """Rules for a host, or the redirect to follow for them."""
        ledger = self._ledger
        pages = ledger.pages
        number, hops = pages.hosts[fetch.page], pages.depths[fetch.page]
        self._end(fetch.page, outcome)
        if leads_on(outcome, hops) and outcome.location:
            self._queuer.owe_robots(capture, number, outcome.location, hops + 1)
            return
        host = ledger.hosts[number]
        first, host.waits, host.read = host.rules is None, False, outcome.ended
        if not first and outcome.result is Result.FAILED:
            return  # what was read before holds on (RFC 9309, 2.4)
        text = rules_text(outcome)
        host.obey(RobotsRules(text, ledger.politeness.agent, fetch.url), ledger.politeness.max_delay)
        host.pace.pause(outcome.started + host.delay)
        host.missing = missing(outcome)
        if why := host.missing or host.too_slow:
            capture.note(f"{fetch.url} {why}: nothing on it is fetched")
        elif is_page(text):
            capture.note(f"{fetch.url} is an HTML page, not a robots.txt: nothing in it counts, all may be fetched")
        ledger.changed_host(host, text)
        if first:
            self._opener.host_opened(number, fetch.url)
        ledger.changed_capture(capture)

    def sitemap(self, capture: SiteCapture, fetch: Fetch, task: Task, outcome: Outcome) -> None:
        """A sitemap was read, or could not be; the first that is read again is at T."""
        self._end(fetch.page, outcome)
        capture.opening -= 1
        if fetch.page in capture.sitemaps:
            capture.sitemaps[fetch.page] = outcome.started
        if capture.attesting is not None:
            capture.attesting.read(fetch.page, outcome)
        if task.slot is Slot.SECOND and capture.attesting is not None and capture.reference is None:
            capture.reference = outcome.started
            capture.phase = Phase.REVISIT
            assert capture.strategy is not None, "sitemaps are read again when visits are made"
            capture.strategy.reference_passed()
        if outcome.result not in (Result.OK, Result.REDIRECTED):
            capture.note(f"sitemap {fetch.url}: {outcome.error or f'status {outcome.status}'}")
        elif outcome.error:
            capture.note(f"sitemap {fetch.url}: {outcome.error}")
        self._ledger.changed_capture(capture)

    def _end(self, page: PageId, outcome: Outcome) -> None:
        """They are captured or lost, never judged."""
        self._ledger.pages.move(page, Event.CAPTURED if outcome.result is Result.OK else Event.NO_CONTENT)
