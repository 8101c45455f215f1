"""Process the end of a fetch: links, captured or lost pages, judgements, T, the end of the capture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.evidence.judgement import LATE_DOWNLOAD, NEVER_REVISITED, ONCE, is_apex
from sharc_crawler.frontier.hosts import TAKEN, Task
from sharc_crawler.model import EMBEDDED, Fetch, Kind, Outcome, PageId, Phase, Result, Sighting, Slot, Visit
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.state.lifecycle import Event, State
from sharc_crawler.state.pages import is_compared
from sharc_crawler.traps.common import content_of

if TYPE_CHECKING:
    from concurrent.futures import Future

    from sharc_crawler.frontier.admission import Admitter
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.opening import Aside, Opener
    from sharc_crawler.frontier.probing import Prober
    from sharc_crawler.model import Instant, Judgement

#: local names: looking up an enum's member takes a quarter of a microsecond (Python 3.11)
_OK, _PAGE, _SECOND, _ONLY = Result.OK, Kind.PAGE, Slot.SECOND, Slot.ONLY
_PROBE, _SITEMAP, _LISTS = Kind.PROBE, Kind.SITEMAP, {Kind.SITEMAP, Kind.HUB}
_CAPTURED, _LEASED_AGAIN = Event.CAPTURED, int(State.LEASED_AGAIN)
NESTED = 12  #: levels of frames or style sheets within each other: deeper ones are a trap
KNOWN_PACE = 8  #: visits after which the plan's Δ follows their pace


class Ended(NamedTuple):
    """A fetch that will not be retried."""

    capture: SiteCapture
    fetch: Fetch
    task: Task
    outcome: Outcome

    @property
    def now(self) -> Instant:
        """When it ended; for an answer taken from a former capture, when that was decided."""
        return self.fetch.decided if self.task.attempt == TAKEN else self.outcome.ended


class Finisher:
    """Turns a fetch's outcome into the state of its page and its capture."""

    def __init__(self, ledger: Ledger, opener: Opener, admitter: Admitter, aside: Aside) -> None:
        self._ledger = ledger
        self._opener = opener
        self.admitter = admitter
        self._aside = aside
        self._judging: Future[Mapping[PageId, Judgement]] | None = None  # at the end
        self._named: dict[int, list[Sighting]] = {}  # by lease: links reported before the fetch ended

    @cached_property
    def prober(self) -> Prober:
        """Makes probes: requests for unlinked URLs, to tell traps."""
        from sharc_crawler.frontier.probing import Prober  # on few sites only

        return Prober(self._ledger, self.admitter)

    def name(self, ended: Ended, links: Sequence[Sighting]) -> None:
        """Admit a part of a document's links before the fetch ends."""
        self._admitted(ended, links)
        self._named.setdefault(ended.fetch.lease, []).extend(links)

    def finish(self, ended: Ended, links: Sequence[Sighting]) -> Judgement | None:
        """Process the end of a fetch. Links are admitted first, so that the strategy knows all pages."""
        capture, fetch, task, outcome = ended
        capture.owed.ended()
        linked = self._admitted(ended, links) if links or outcome.location or not capture.mode.whole else []
        if fetch.kind is _SITEMAP:
            self._listed(capture, fetch.page, outcome, [*self._named.pop(fetch.lease, ()), *links])
        if fetch.slot is _ONLY and self._must_precede(ended):
            task = task._replace(slot=Slot.FIRST)
            ended = ended._replace(task=task)
        self._ledger.visited(fetch, task, outcome, finished=True)
        judgement = self._advance(ended, linked, links)
        self._ledger.ring.wake_all(self._ledger.page_hosts)  # the others are woken by what they owe
        return judgement

    # -- links of the document -------------------------------------------------------------------------------------

    def _admitted(self, ended: Ended, links: Sequence[Sighting]) -> list[PageId]:
        """Admit the document's links, and return the capture's pages among them. Probes' links are only compared."""
        capture, fetch, _, outcome = ended
        if fetch.kind is _PROBE:
            return self.prober.named(capture, fetch, outcome, links)
        moved, listed = "", fetch.kind is _SITEMAP
        links, now = capture.mode.named(fetch, outcome, links), ended.now
        if outcome.location and outcome.result is Result.REDIRECTED and fetch.kind is not Kind.ROBOTS:
            from sharc_crawler.frontier.besides_links import followed, widen

            moved = outcome.location if widen(self._ledger.pages, capture, fetch.page, outcome.location) else ""
            listed = listed or self._ledger.pages.listed(fetch.page)
            links = [*links, *followed(self.admitter, self._ledger.pages, ended)]
        if not links or not (capture.spec.discover or fetch.kind in _LISTS):
            return []
        depth = self._ledger.pages.depths[fetch.page] + 1
        if fetch.kind in EMBEDDED and depth - self._ledger.pages.depths[self._ledger.pages.owner(fetch.page)] > NESTED:
            capture.note(f"Files embedded in each other more than {NESTED} levels deep are not fetched")
            return []
        if (traps := capture.traps) is not None and (traps.own or traps.bottomless):
            links = self.prober.taken(traps, ended, links)
        linked = self.admitter.admit(capture, links, now, fetch.page, depth, listed=listed).linked
        if wanted := capture.mode.reconsidered(fetch.page, linked, now):
            self.admitter.take_up(capture, wanted, now)
        if moved:
            from sharc_crawler.frontier.besides_links import open_moved

            open_moved(self._opener, self.admitter, capture, moved, now)
        if fetch.kind is _PAGE:
            self._ledger.linked(fetch.page, outcome.started, linked)
            capture.mode.linked(fetch.page, linked)
            if capture.strategy is not None:
                capture.strategy.linked(linked)
        return linked

    def _listed(self, capture: SiteCapture, sitemap: PageId, outcome: Outcome, links: Sequence[Sighting]) -> None:
        """Take the lastmods of a sitemap."""
        if links:
            self._opener.claim(capture, sitemap)
        self.admitter.ingest(capture, links, capture.mode.as_of(sitemap, outcome))
        if any(link.hints and link.hints.lastmod is not None for link in links):
            capture.mode.lastmods_in(sitemap, outcome.started)

    @staticmethod
    def _must_precede(ended: Ended) -> bool:
        """Must a page visited in slot ONLY be revisited after all?

        It must if it embeds resources, if its download cannot be T, or if further visits follow.
        """
        capture, fetch = ended.capture, ended.fetch
        if fetch.kind is not _PAGE or fetch.page in capture.again:
            return False
        assert capture.strategy is not None, "pages are visited after the strategy is built"
        apart = capture.strategy.revisits and ended.outcome.result is _OK and not is_apex(_ONLY, ended.outcome)
        if not (apart or fetch.page in capture.embedded or capture.mode.goes_on):
            return False
        affordable = not capture.budget.why_not(Task(fetch.page, _SECOND), fetch.kind, fetch.url, ended.now)
        return affordable and capture.strategy.revisit_after_all(fetch.page)

    # -- visits and revisits --------------------------------------------------------------------------------------

    def _advance(self, ended: Ended, linked: Sequence[PageId], links: Sequence[Sighting]) -> Judgement | None:
        capture, fetch, task, outcome = ended
        if fetch.kind is _PAGE or fetch.kind in EMBEDDED:
            if task.slot is _SECOND:
                return self._revisited(ended)
            self._visited(ended, linked, links)
        elif fetch.kind is Kind.ROBOTS:
            self._ledger.pages.move(fetch.page, Event.CAPTURED if outcome.result is _OK else Event.NO_CONTENT)
            self._opener.robots_read(capture, fetch.page, outcome)
        elif fetch.kind is Kind.SITEMAP:
            self._opener.sitemap_read(capture, fetch, task, outcome)
        elif fetch.kind is Kind.PROBE:
            self.prober.answered(capture, fetch, outcome, linked)
        else:
            capture.mode.polled(fetch.page, outcome, linked)
        return None

    def _visited(self, ended: Ended, linked: Sequence[PageId], links: Sequence[Sighting]) -> None:
        capture, fetch, task, outcome = ended
        pages = self._ledger.pages
        captured, again = is_compared(fetch.kind, outcome), pages.states[task.page] == _LEASED_AGAIN
        if again:  # a second look before T replaces the first visit, unless it failed
            before = pages.remembered(task.page)
            capture.mode.visited_again(task.page, before, outcome)
            capture.revisited.looked(fetch.url, before, outcome)
        pages.move(task.page, _CAPTURED if captured else Event.NO_CONTENT)
        if captured:
            pages.remember(task.page, outcome, capture.mode.compares)
            capture.revisited.visited(fetch.url, outcome)
        if again:
            return
        if fetch.kind is _PAGE:
            capture.counts.visited(captured)
            if captured and (traps := capture.traps) is not None:
                traps.named(task.page, linked, pages)
                if (content := content_of(outcome)) is not None:
                    traps.showed(task.page, fetch.url, content, pages, lambda: self.prober.feeds(ended, linked, links))
                if (traps.wanted or traps.bottomless) and capture.spec.discover:
                    self.prober.visited(ended, linked)
        if task.page not in capture.again:
            if fetch.kind is _PAGE:
                self._tell_strategy(capture, task, captured, ended.now)
            capture.mode.visited(task, fetch.kind, outcome)

    @staticmethod
    def _tell_strategy(capture: SiteCapture, task: Task, captured: bool, now: Instant) -> None:
        strategy = capture.strategy
        assert strategy is not None, "pages are visited after the strategy is built"
        strategy.finished(Visit(task.page, task.slot, task.plan), captured)
        made = capture.counts.visits - capture.former
        if made >= KNOWN_PACE and made & (made - 1) == 0 and now > strategy.setting.start:
            # the plan's Δ follows the pace that the site and its resources allow
            strategy.setting = replace(strategy.setting, step=(now - strategy.setting.start) / made)

    def _revisited(self, ended: Ended) -> Judgement:
        capture, fetch, task, outcome = ended
        ledger, page = self._ledger, task.page
        visit = ledger.pages.remembered(page)
        judgement = capture.revisited.judge(fetch.url, ledger.pages.asked_by(page, outcome), outcome, capture.reference)
        if capture.mode.revisited(page, fetch.kind, visit, outcome, judgement):
            ledger.pages.move(page, Event.CAPTURED)
        else:
            self._judge(page, judgement)
        if fetch.kind is _PAGE and not capture.mode.audits(page):
            capture.counts.revisited()
            for resource in capture.embedded.take(page):
                if ledger.pages.states[resource] == State.VISITED and resource not in capture.again:
                    ledger.owe(resource, _SECOND)
            assert capture.strategy is not None, "a revisit was its decision"
            capture.strategy.finished(Visit(page, task.slot, task.plan), captured=True)
        return judgement

    # -- the end ---------------------------------------------------------------------------------------------------

    def complete(self, capture: SiteCapture, now: Instant) -> bool:
        """Nothing is left to fetch: judge all pages left, and end the capture or its part.

        Return ``False`` while evidence is being weighed.
        """
        twice = capture.strategy is not None and capture.strategy.revisits
        if twice and capture.phase is Phase.VISIT:
            capture.mode.turn(now)
        if self._judging is None:
            unjudged = self._unjudged()
            self._judging = self._aside(partial(capture.mode.judge, unjudged), len(unjudged))
        capture.weighing = not self._judging.done()
        if capture.weighing:
            return False
        judged, self._judging = self._judging.result(), None
        for page, judgement in judged.items():
            self._judge(page, judgement)
        for page in self._unjudged():
            pages, apex = self._ledger.pages, twice and page == capture.mode.apex
            if not twice or apex:
                self._judge(page, capture.revisited.apex(pages.urls[page], pages.remembered(page)) if apex else ONCE)
                continue
            never = replace(NEVER_REVISITED, reason=capture.budget.unproven.get(page, NEVER_REVISITED.reason))
            self._judge(page, LATE_DOWNLOAD if page in capture.again else never)
        if capture.mode.part_over(now):
            self._end(capture, now)
        return True

    def _end(self, capture: SiteCapture, now: Instant) -> None:
        capture.life.end(now)
        capture.embedded.clear()
        if (late := capture.counts.late) and capture.mode.whole:
            capture.note(
                f"{counted(late, 'page', 'were')} discovered after the reference instant and"
                f" {agreeing(late, 'are')} not captured"
            )
        self._ledger.changed_capture()

    def _judge(self, page: PageId, judgement: Judgement) -> None:
        pages = self._ledger.pages
        pages.move(page, Event.JUDGE)
        pages.forget(page)
        self._ledger.judged(page, judgement)

    def _unjudged(self) -> list[PageId]:
        """Return visited pages and resources without a judgement, in the order of discovery."""
        pages = self._ledger.pages
        return [page for page in pages.having(State.VISITED) if pages.kinds[page] in (Kind.PAGE, *EMBEDDED)]
