"""The frontier: three verbs, no sockets, no clock.

``schedule``: URLs were seen. ``next``: what to fetch now (a lease), or how long to wait, or that all is done.
``finished``: a fetch ended so, with these links, in one step. What the simulator evaluates is, object for object, what
crawls.

Promises: a lease that is not answered in time is queued again; a host is never asked sooner than its delay after its
last request began, nor more often at once than it bears; a capture is done once all its pages are finished.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from sharc_crawler.frontier.admission import Admitter, Queuer
from sharc_crawler.frontier.choosing import Chooser
from sharc_crawler.frontier.finishing import Ended, Finisher
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.leasing import Leases
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.opening import Opener
from sharc_crawler.frontier.parts import Parts
from sharc_crawler.links.robots import MAX_AGE
from sharc_crawler.model import Done, Kind, Phase, Result, Slot, Wait

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.hosts import Host, Task
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.frontier.store import Batch, FrontierStore
    from sharc_crawler.model import Fetch, Instant, Judgement, Outcome, PageId, Seconds, Sighting
    from sharc_crawler.polling.polls import Polls
    from sharc_crawler.polling.terms import Terms


class Frontier:
    """All site captures of a process, one queue each, over hosts with their own politeness."""

    def __init__(
        self,
        politeness: Politeness | None = None,
        store: FrontierStore | None = None,
        parts: Parts | None = None,
        lease_time: Seconds = 3600.0,
        terms: Terms | None = None,
    ) -> None:
        self.ledger = Ledger(politeness or Politeness(), store, terms)
        self.pages = self.ledger.pages
        self.captures = self.ledger.captures
        self._parts = parts or Parts()
        self._queuer = queuer = Queuer(self.ledger, self._parts)
        self._admitter = Admitter(self.ledger, self._parts, queuer)
        self._opener = Opener(self.ledger, self._parts, queuer, self._admitter)
        self._finisher = Finisher(self.ledger, self._opener, self._admitter)
        self._chooser = Chooser(self.ledger, self._opener.begin, self._finisher.complete)
        self._leases = Leases(self.ledger, lease_time)

    @property
    def polls(self) -> Polls | None:
        """Those of an instant crawl."""
        return self.ledger.polls

    @property
    def politeness(self) -> Politeness:
        """How hosts are treated, as of now."""
        return self.ledger.politeness

    def open(self, spec: CaptureSpec, now: Instant, seeded: bool = True) -> SiteCapture:
        """Begin a site capture with its seeds; ``seeded=False``: what it captures is scheduled by hand."""
        capture = self._opener.open(spec, now, seeded)
        self.ledger.commit()
        return capture

    def schedule_into(self, capture: SiteCapture, sightings: Sequence[Sighting], now: Instant) -> int:
        """URLs were seen that belong to this capture; the number of those that are new."""
        new = self._admitter.admit(capture, sightings, now).new
        self._admitter.ingest(capture, sightings, now)
        self.ledger.wake(capture)
        self.ledger.commit()
        return new

    def change_delay(self, delay: Seconds) -> None:
        """From each host's next request on; what robots.txt asks for, and exceptions by host, stay."""
        politeness = self.ledger.politeness = replace(self.ledger.politeness, delay=delay)
        for host in self.ledger.hosts:
            host.own = politeness.delay_of(host.name)

    def note(self, text: str, instead_of: str = "") -> None:
        """What a reader of each report must know, of the captures that are not complete."""
        for capture in self.captures:
            if capture.phase is not Phase.DONE:
                capture.note(text, instead_of)
                self.ledger.changed_capture(capture)

    def set_delay(self, name: str, delay: Seconds, due: Instant) -> None:
        """Somebody else owns a host's politeness: this is its delay now, and not before ``due``."""
        number = self.ledger.host_numbers.get(name)
        if number is not None:
            host = self.ledger.hosts[number]
            host.own = delay
            host.pace.due = due

    def capture_of(self, page: PageId) -> SiteCapture:
        """The capture that a URL belongs to."""
        return self.captures[self.pages.captures[page]]

    def may_fetch_again(self, page: PageId) -> bool:
        """Is a revisit or another attempt of the page still possible?"""
        if self.pages.states[page] == State.VISITED:
            strategy = self.captures[self.pages.captures[page]].strategy
            return strategy is None or strategy.revisits
        return self.pages.states[page] not in (State.JUDGED, State.LOST)

    def restore(self, saved: Batch, now: Instant) -> None:
        """Go on where a former frontier was cut off, at any moment: what was in flight is queued again."""
        from sharc_crawler.frontier.restoring import Restorer  # only where there is something to go on with

        Restorer(self.ledger, self._opener).restore(saved, now)
        self._leases.last = max((visit.lease for visit in saved.visits), default=0)
        self.ledger.commit()

    def schedule(self, sightings: Iterable[Sighting], now: Instant) -> int:
        """URLs were seen outside of any fetch; the number of those that are new. Open captures take what they admit."""
        new = self._admitter.route(sightings, now)
        self.ledger.commit()
        return new

    def next(self, now: Instant) -> Fetch | Wait | Done:
        """The best thing to do at ``now``."""
        self._leases.expire(now)
        polls = self.ledger.polls
        if polls is not None and (free := polls.budget.ready(now)) > now:
            self.ledger.commit()
            return Wait(free)
        ring = self.ledger.ring
        ring.ripen(now)
        while (number := ring.head()) is not None:
            host = self.ledger.hosts[number]
            if host.pace.busy >= self.ledger.politeness.concurrency:
                ring.park()
            elif host.pace.due > now:
                ring.delay(host.pace.due)
            elif task := self._chooser.choose(number, host, now):
                if fetch := self._lease(host, task, now):
                    ring.rotate()
                    return fetch
            elif (later := self._chooser.later(number, host, now)) < math.inf:
                ring.delay(max(host.pace.due, later))
            else:
                ring.park()
        self.ledger.commit()
        return self._nothing_now()

    def finished(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting] = ()) -> Judgement | None:
        """A leased fetch ended so, with these links. The judgement, where this finished a page's last visit.

        An answer to a lease that has expired meanwhile is ignored: the page is queued again.
        """
        task = self._leases.answer(fetch, outcome)
        if task is None:
            return None
        ledger = self.ledger
        again = outcome.result is Result.FAILED and task.attempt < self.politeness.attempts
        capture = self.captures[self.pages.captures[task.page]]
        capture.budget.ended(task, fetch.url, outcome, finished=not again)
        judgement = None
        if again:
            ledger.visited(fetch, task, outcome, finished=False)
            self._leases.try_again(task, outcome)
        else:
            judgement = self._finisher.finish(Ended(capture, fetch, task, outcome), links)
        ledger.commit()
        return judgement

    def give_back(self, fetch: Fetch, now: Instant) -> None:
        """A leased fetch came to nothing for a reason of our own: it is made again, and no attempt is counted."""
        self._leases.give_back(fetch, now)

    def _lease(self, host: Host, task: Task, now: Instant) -> Fetch | None:
        """Hand a task out; ``None`` where robots.txt or the budget forbids it."""
        pages = self.pages
        kind, url = pages.kinds[task.page], pages.urls[task.page]
        if host.rules and kind is not Kind.ROBOTS:
            if self._rules_are_old(host, task, now):
                host.held.appendleft(task)
                return None
            if not host.allows(url):
                self._finisher.refuse(task, host.refusal, now)
                return None
        if (due := self._leases.due(task.page, now)) > now:
            host.pace.pause(due)  # the host waits: an order is kept
            host.held.appendleft(task)
            return None
        capture = self.captures[pages.captures[task.page]]
        if reason := self._why_not(capture, task, kind, url, now):
            self._finisher.refuse(task, reason, now)
            return None
        if self.ledger.polls is not None:
            self.ledger.polls.spend(now)
        capture.budget.leased(task, kind)
        return self._leases.grant(host, capture, task, kind, url, now)

    def _why_not(self, capture: SiteCapture, task: Task, kind: Kind, url: str, now: Instant) -> str | None:
        """Why a capture no longer wants what it had queued; ``None``: it does."""
        if kind is Kind.PAGE:
            if capture.interruptions and (reason := self._admitter.out_of_scope(capture, url)):
                return reason
            found = task.slot is not Slot.SECOND and self.pages.depths[task.page]
            if found and capture.traps and (reason := capture.traps.why_not(url)):
                return reason
        return capture.budget.why_not(task, kind, url, now)

    def _rules_are_old(self, host: Host, task: Task, now: Instant) -> bool:
        """Must robots.txt be read again before anything else?"""
        if not host.waits and now - host.read >= MAX_AGE:
            capture = self.captures[self.pages.captures[task.page]]
            url = urljoin(self.pages.urls[task.page], "/robots.txt")
            self._queuer.owe_robots(capture, self.pages.hosts[task.page], url)
        return host.waits

    def _nothing_now(self) -> Wait | Done:
        times = [time for time in (self.ledger.ring.earliest(), self._leases.expiry()) if time is not None]
        return Wait(min(times)) if times else Done()

    @property
    def idle(self) -> bool:
        """Nothing is leased."""
        return not self._leases

    @property
    def done(self) -> bool:
        """Every capture is complete."""
        return all(capture.phase is Phase.DONE for capture in self.captures)
