"""The frontier: three verbs, no sockets, no clock.

``schedule``: URLs were seen. ``next``: what to fetch now (a lease), or how long to wait, or that all is done.
``finished``: a fetch ended so, with these links, in one step. What the simulator evaluates is, object for object, what
crawls.

Promises: a lease that is not answered in time is queued again; a host is never asked sooner than its delay after its
last request began, nor more often at once than it bears; every page of a capture is settled before the capture is done.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sharc_crawler.frontier.admission import Admitter
from sharc_crawler.frontier.checking import Checker
from sharc_crawler.frontier.hosts import Politeness, Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.lifecycle import Event, State
from sharc_crawler.frontier.parts import Parts
from sharc_crawler.frontier.replanning import Replanner
from sharc_crawler.frontier.restoring import Restorer
from sharc_crawler.frontier.settling import Settler
from sharc_crawler.model import NO_VALIDATORS, Done, Fetch, Kind, Phase, Result, Slot, Wait
from sharc_crawler.polling.polls import Polls

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.hosts import Host
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.frontier.store import Batch, FrontierStore
    from sharc_crawler.model import Instant, Judgement, Outcome, PageId, Seconds, Sighting
    from sharc_crawler.polling.terms import Terms

MAX_HELD = 64  #: pages taken from a strategy for hosts that are not free, per decision


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
        self.politeness = politeness or Politeness()
        self.lease_time = lease_time
        self.polls = Polls(terms)
        self.ledger = Ledger(self.politeness, store, self.polls)
        self._parts = parts or Parts()
        self.admitter = Admitter(self.ledger, self._parts)
        self.settler = Settler(self.ledger, self.admitter)
        self.checker = Checker(self.ledger)
        self.replanner = Replanner(self.ledger, self.settler)
        self.pages = self.ledger.pages
        self.captures = self.ledger.captures
        self._leases: dict[int, tuple[Fetch, Task]] = {}  #: oldest first
        self._leased = 0

    def open(self, spec: CaptureSpec, now: Instant, seeded: bool = True) -> SiteCapture:
        """Begin a site capture with its seeds; ``seeded=False``: what it captures is scheduled by hand."""
        if not self.captures:
            self.polls.begin(now)
        capture = self.admitter.open(spec, now, seeded)
        self.ledger.commit()
        return capture

    def schedule_into(self, capture: SiteCapture, sightings: Sequence[Sighting], now: Instant) -> int:
        """URLs were seen that belong to this capture; the number of those that are new."""
        new = self.admitter.admit(capture, sightings, now).new
        self.admitter.hear(capture, sightings, now)
        self.ledger.wake(capture)
        self.ledger.commit()
        return new

    def set_delay(self, name: str, delay: Seconds, due: Instant) -> None:
        """Somebody else owns a host's politeness: this is its delay now, and not before ``due``."""
        number = self.ledger.host_numbers.get(name)
        if number is not None:
            host = self.ledger.hosts[number]
            host.delay = delay
            host.due = due

    def may_fetch_again(self, page: PageId) -> bool:
        """Is a revisit or another attempt of the page still possible?"""
        if self.pages.states[page] == State.VISITED:
            strategy = self.captures[self.pages.captures[page]].strategy
            return strategy is None or strategy.revisits
        return self.pages.states[page] not in (State.JUDGED, State.LOST)

    def restore(self, saved: Batch, now: Instant) -> None:
        """Go on where a former frontier was cut off, at any moment: what was in flight is queued again."""
        Restorer(self.ledger, self.admitter, self._parts).restore(saved, now)
        self._leased = max((visit.lease for visit in saved.visits), default=0)
        self.ledger.commit()

    def schedule(self, sightings: Iterable[Sighting], now: Instant) -> int:
        """URLs were seen outside of any fetch; the number of those that are new. Open captures take what they admit."""
        new = self.admitter.route(sightings, now)
        self.ledger.commit()
        return new

    def next(self, now: Instant) -> Fetch | Wait | Done:
        """The best thing to do at ``now``."""
        self._expire(now)
        if (free := self.polls.budget.ready(now)) > now:
            self.ledger.commit()
            return Wait(free)
        ring = self.ledger.ring
        ring.ripen(now)
        while (number := ring.head()) is not None:
            host = self.ledger.hosts[number]
            if host.busy >= self.politeness.concurrency:
                ring.park()
            elif host.due > now:
                ring.delay(host.due)
            elif task := host.owed(now) or self._choose(number, host, now) or self._poll(number, host, now):
                if fetch := self._lease(host, task, now):
                    ring.rotate()
                    return fetch
            elif (later := self._later(number, host, now)) < math.inf:
                ring.delay(max(host.due, later))
            else:
                ring.park()
        self.ledger.commit()
        return self._nothing_now()

    def finished(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting] = ()) -> Judgement | None:
        """A leased fetch ended so, with these links. The judgement, where this settled a page's last visit.

        An answer to a lease that has expired meanwhile is ignored: the page is queued again.
        """
        lease = self._leases.pop(fetch.lease, None)
        if lease is None:
            return None
        task = lease[1]
        ledger = self.ledger
        self._free(fetch, outcome)
        again = outcome.result is Result.FAILED and task.attempt < self.politeness.attempts
        ledger.visited(fetch, task, outcome, settled=not again)
        judgement = None
        if again:
            self._try_again(task, outcome)
        else:
            judgement = self.settler.settle(fetch, task, outcome, links)
        ledger.commit()
        return judgement

    def give_back(self, fetch: Fetch, now: Instant) -> None:
        """A leased fetch came to nothing for a reason of our own: it is made again, and no attempt is counted."""
        lease = self._leases.pop(fetch.lease, None)
        if lease is not None:
            self._queue_again(lease[1], now)

    def _expire(self, now: Instant) -> None:
        """Queue again what was leased and never answered."""
        while self._leases:
            lease, (fetch, task) = next(iter(self._leases.items()))
            if fetch.decided + self.lease_time > now:
                return
            del self._leases[lease]
            self._queue_again(task._replace(attempt=task.attempt + 1), now)

    def _queue_again(self, task: Task, now: Instant) -> None:
        number = self.pages.hosts[task.page]
        host = self.ledger.hosts[number]
        host.busy -= 1
        self.pages.move(task.page, Event.GIVEN_BACK)
        host.retry(task, now)
        self.ledger.ring.wake(number)

    def _nothing_now(self) -> Wait | Done:
        earliest = self.ledger.ring.earliest()
        if self._leases:
            expiry = next(iter(self._leases.values()))[0].decided + self.lease_time
            return Wait(expiry if earliest is None else min(earliest, expiry))
        return Done() if earliest is None else Wait(earliest)

    def _choose(self, number: int, host: Host, now: Instant) -> Task | None:
        """Ask the captures whose pages may lie on this host, in turn."""
        if host.waits:
            return None
        for capture_number in list(host.captures):
            capture = self.captures[capture_number]
            if capture.phase is Phase.DONE:
                del host.captures[capture_number]
                continue
            for _ in range(MAX_HELD):
                task = self._ask(capture, now)
                if task is None:
                    break
                other = self.pages.hosts[task.page]
                if other == number:
                    if len(host.captures) > 1:  # the next capture's turn comes first
                        host.captures[capture_number] = host.captures.pop(capture_number)
                    return task
                self.ledger.hosts[other].held.append(task)
                self.ledger.ring.wake(other)
        return host.owed(now)  # what the captures have come to owe while they were asked

    def _ask(self, capture: SiteCapture, now: Instant) -> Task | None:
        """One decision of a capture's strategy; ends the capture when there is none left and nothing is under way."""
        if capture.opening:
            return None
        if capture.held is not None:
            task, capture.held = capture.held, None
            return task
        strategy = self.admitter.begin(capture, now) if capture.strategy is None else capture.strategy
        if self.replanner.under_way(capture, strategy, now):
            return None
        visit = strategy.next(now)
        if visit is None:
            busy = capture.pending or self.polls.open(capture.number, now) or self.checker.check(capture)
            if not busy:
                self.settler.complete(capture, now)
            return None
        if capture.attesting and strategy.past_reference and self.checker.begin_reference(capture):
            capture.pending += 1
            capture.held = Task(visit.page, visit.slot, visit.plan)
            return None
        if visit.slot is Slot.SECOND and capture.phase is Phase.VISIT:
            self.settler.turn(capture, now)
        capture.pending += 1
        return Task(visit.page, visit.slot, visit.plan)

    def _poll(self, number: int, host: Host, now: Instant) -> Task | None:
        """Nothing new is to be fetched on this host: has one of its hubs something?"""
        hub = None if host.waits else self.polls.take(number, now)
        if hub is None:
            return None
        self.captures[self.pages.captures[hub]].pending += 1
        return Task(hub, Slot.FIRST if self.pages.states[hub] == State.QUEUED else Slot.SECOND)

    def _later(self, number: int, host: Host, now: Instant) -> Instant:
        """When the host has something to do by itself; inf: never."""
        polled = math.inf if host.waits else self.polls.due(number, now)
        return min(host.retries[0][0], polled) if host.retries else polled

    def _lease(self, host: Host, task: Task, now: Instant) -> Fetch | None:
        """Hand a task out; ``None`` where robots.txt forbids it."""
        page = task.page
        pages = self.pages
        url, kind = pages.urls[page], pages.kinds[page]
        if host.rules and kind is not Kind.ROBOTS and not host.rules.allows(url):
            self.settler.refuse(task, host.refusal, now)
            return None
        pages.move(page, Event.LEASE)
        self._leased += 1
        capture = self.captures[pages.captures[page]]
        fetch = Fetch(
            self._leased,
            page,
            capture.spec.site,
            url,
            kind,
            task.slot,
            task.plan,
            host.name,
            task.attempt,
            pages.validators.get(page, NO_VALIDATORS) if task.slot is Slot.SECOND else NO_VALIDATORS,
            now,
        )
        self._leases[fetch.lease] = (fetch, task)
        host.busy += 1
        host.due = now + host.delay
        self.polls.spend(now)
        return fetch

    def _free(self, fetch: Fetch, outcome: Outcome) -> None:
        """The host may be asked again, in time."""
        number = self.pages.hosts[fetch.page]
        host = self.ledger.hosts[number]
        host.busy -= 1
        host.pause(outcome.started + host.delay)
        if outcome.retry_after is not None:
            host.pause(outcome.ended + min(outcome.retry_after, self.politeness.longest_pause))
        self.ledger.ring.wake(number)

    def _try_again(self, task: Task, outcome: Outcome) -> None:
        """Back off, twice as long each time; the page is not lost."""
        wait = self.politeness.back_off * 2 ** (task.attempt - 1)
        if outcome.retry_after is not None:
            wait = min(max(outcome.retry_after, 0.0), self.politeness.longest_pause)
        self.pages.move(task.page, Event.GIVEN_BACK)
        number = self.pages.hosts[task.page]
        self.ledger.hosts[number].retry(task._replace(attempt=task.attempt + 1), outcome.ended + wait)
        self.ledger.ring.wake(number)

    @property
    def idle(self) -> bool:
        """Nothing is leased."""
        return not self._leases

    @property
    def done(self) -> bool:
        """Every capture is complete."""
        return all(capture.phase is Phase.DONE for capture in self.captures)
