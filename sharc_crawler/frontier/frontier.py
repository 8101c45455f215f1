"""The frontier of one site capture: three verbs, no sockets, no clock.

``schedule`` adds URLs. ``next`` says what to fetch now (a lease), how long to wait, or that the capture is done.
``finished`` reports how a fetch ended and which links it found, in one step. The simulator runs this same code.

Guarantees: a lease that is not answered in time is queued again. No host gets a request before its delay has passed
since the last one began, nor more requests at once than allowed, whoever asks.
Many in one process are led by :class:`~sharc_crawler.frontier.sites.Sites`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from sharc_crawler.addresses.urls import machine_of
from sharc_crawler.frontier.admission import Admitter, Queuer
from sharc_crawler.frontier.finishing import Ended, Finisher
from sharc_crawler.frontier.hosts import TAKEN, Host, Pace, Politeness, Task
from sharc_crawler.frontier.leasing import SOON, Chooser, Leases
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.opening import Opener, Parts
from sharc_crawler.links.robots import MAX_AGE
from sharc_crawler.model import (
    Done,
    Fetch,
    Instant,
    Judgement,
    Kind,
    Outcome,
    Phase,
    Result,
    Seconds,
    Sighting,
    Slot,
    Wait,
)

if TYPE_CHECKING:
    from sharc_crawler.frontier.besides_links import PageLoads
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.polling.polls import Polls
    from sharc_crawler.polling.terms import Terms
    from sharc_crawler.state.rows import Batch
    from sharc_crawler.state.spec import CaptureSpec
    from sharc_crawler.state.store import StepStore


class Shared:
    """State that all frontiers of a process share: paces of machines, lease numbers, the budget of polls."""

    def __init__(
        self,
        terms: Terms | None = None,
        machine: Callable[[str], str] = machine_of,
        pace: Callable[[str], Pace] = lambda _: Pace(),
    ) -> None:
        self._machine = machine  #: maps a host to its machine
        self._new_pace = pace  #: makes the pace of a machine
        #: by machine: two sites on one machine share its pace
        self._paces: dict[str, Pace] = {}
        self.terms = terms  #: of an instant crawl's polls
        self.polls: Polls | None = None  #: its polls, once there are some
        self.last = 0  #: number of the last lease granted
        self.unwritten: set[Ledger] = set()  #: those with changes not yet written
        self.woken: Callable[[Ledger], None] = lambda _: None  #: called when an idle frontier has a host to ask again
        #: offers an out-of-scope page to the other sites: sighting, canonical URL, links from a seed
        self.outside: Callable[[Sighting, str, int], None] = lambda *_: None

    def pace(self, host: str) -> Pace:
        """Return the pace of the machine that a host is on; thread-safe."""
        machine = self._machine(host)
        pace = self._paces.get(machine)
        return pace or self._paces.setdefault(machine, self._new_pace(machine))


_LOSSES = {Result.REFUSED, Result.GONE, Result.REDIRECTED}
_FAILED, _PAGE, _ROBOTS, _SECOND = Result.FAILED, Kind.PAGE, Kind.ROBOTS, Slot.SECOND  # local names are faster
LEASE_TIME: Seconds = 3600.0
FEW = 3  #: last retries that fail in a row on a host, after which its other last retries are dropped
KNOWN = 10  #: captured pages after which a row of refusals may mean throttling
MAX_REFUSED = 2_000  #: pages refused (robots.txt, budget, trap) per decision


class Frontier:
    """One site capture over hosts with their own politeness; ``shared``: state shared with other sites."""

    def __init__(
        self,
        politeness: Politeness | None = None,
        store: StepStore | None = None,
        parts: Parts | None = None,
        lease_time: Seconds = LEASE_TIME,
        terms: Terms | None = None,
        shared: Shared | None = None,
    ) -> None:
        self._shared = shared or Shared(terms)
        self.ledger = Ledger(politeness or Politeness(), store, self._shared)
        self.pages = self.ledger.pages
        self._parts = parts or Parts()
        self._queuer = queuer = Queuer(self.ledger, self._parts)
        self._admitter = Admitter(self.ledger, self._parts, queuer)
        self._opener = Opener(self.ledger, self._parts, queuer, self._admitter)
        self._finisher = Finisher(self.ledger, self._opener, self._admitter, self._parts.aside)
        self._chooser = Chooser(self.ledger, self._opener.begin, self._finisher)
        self._leases = Leases(self.ledger, lease_time, self._parts.former, self._parts.believed)
        self.stopped = False  #: it cannot continue; nothing more is fetched

    @property
    def capture(self) -> SiteCapture:
        """The capture that was opened or restored."""
        return self.ledger.capture

    @property
    def polls(self) -> Polls | None:
        """The polls of an instant crawl, shared by all its sites; ``None`` for other crawls."""
        return self._shared.polls

    def open(self, spec: CaptureSpec, now: Instant, seeded: bool = True) -> SiteCapture:
        """Begin the site capture with its seeds; with ``seeded=False`` the caller schedules all URLs itself."""
        capture = self._opener.open(spec, now, seeded)
        self.ledger.commit()
        return capture

    def schedule(self, sightings: Sequence[Sighting], now: Instant, depth: int = 0) -> int:
        """Add URLs seen outside any fetch, and return how many are new. Those out of scope are left out.

        ``depth``: links from a seed, if another site named them.
        """
        new = self._admitter.admit(self.capture, sightings, now, depth=depth).new
        self._admitter.ingest(self.capture, sightings, now)
        self.ledger.ring.wake_all()
        self.ledger.commit()
        return new

    def change_delay(self, delay: Seconds) -> None:
        """Change the delay, counted from each host's last request; robots.txt's delays and exceptions by host stay."""
        from sharc_crawler.frontier.throttling import change_delay  # only by order

        change_delay(self.ledger, delay)

    def note(self, text: str, instead_of: str = "") -> None:
        """Add a note to the report, unless the capture is complete."""
        if not self.done:
            self.capture.note(text, instead_of)

    def restore(self, saved: Batch, now: Instant) -> None:
        """Continue where a former process stopped, at any moment: fetches in flight are queued again."""
        self.recall(saved, now)
        self.recalled(saved)

    def recall(self, saved: Batch, now: Instant) -> None:
        """Do the slow part of :meth:`restore`; it touches no shared state and may run in any thread."""
        from sharc_crawler.frontier.restoring import Restorer  # only when a capture is resumed

        Restorer(self.ledger, self._opener).restore(saved, now)

    def recalled(self, saved: Batch) -> None:
        """Do the rest of :meth:`restore`."""
        self._shared.last = max([self._shared.last, *(visit.lease for visit in saved.visits)])
        self.ledger.commit()

    def next(self, now: Instant) -> Fetch | Wait | Done:
        """Return the fetch to make at ``now``, or how long to wait, or that the capture is done."""
        self._leases.expire(now)
        polls, ring = self._shared.polls, self.ledger.ring
        if polls is not None and (free := polls.budget.ready(now)) > now:
            return Wait(free)
        ring.ripen(now)
        ends = self.ledger.capture.budget.ends if self.ledger.hosts else math.inf
        refused = 0
        while (number := ring.head()) is not None:
            host = self.ledger.hosts[number]
            if refused == MAX_REFUSED:  # let other sites have their turn
                self.ledger.commit()
                return Wait(now + SOON)
            if host.pace.busy >= host.at_once:
                host.pace.wait(ring, number)
                ring.park()
            elif (due := host.pace.free(now, host)) > now < ends:
                ring.delay(min(due, ends))
            elif task := self._chooser.choose(number, host, now):
                if fetch := self._lease(host, task, now):
                    ring.rotate()
                    return fetch
                refused += 1
            else:
                later = self._chooser.later(number, host, now)
                if later < math.inf:
                    ring.delay(min(max(host.pace.due, later), ends) if now < ends else later)
                else:
                    ring.park()
                host.pace.offer()  # hosts that share the pace need not wait for this one
        self.ledger.commit()
        times = [time for time in (ring.earliest(), self._leases.expiry()) if time is not None]
        return Wait(min(times)) if times else Done()

    def finished(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting] = ()) -> Judgement | None:
        """Report how a leased fetch ended, with its links; return the judgement if this was the page's last visit.

        An answer to an expired lease is ignored: its page is queued again already.
        """
        task = self._leases.answer(fetch, outcome)
        if task is None:
            return None
        ledger = self.ledger
        capture = ledger.capture
        again, lost = False, outcome.result in _LOSSES and capture.counts.captured >= KNOWN
        if outcome.result is _FAILED or lost or capture.refusals:
            from sharc_crawler.frontier.trying_again import comes_again  # only after failures

            again = comes_again(ledger, self._admitter, fetch, task, outcome)
        again = again or capture.mode.asks_again(task.page, task.slot, outcome)
        if task.attempt != TAKEN:
            capture.budget.ended(task, fetch.url, outcome, finished=not again)
        judgement = None
        if again:
            ledger.visited(fetch, task, outcome, finished=False)
            from sharc_crawler.frontier.trying_again import try_again  # only after failures

            try_again(ledger, task, outcome)
        else:
            ledger.hosts[self.pages.hosts[task.page]].over(outcome)
            judgement = self._finisher.finish(Ended(capture, fetch, task, outcome), links)
        ledger.commit()
        return judgement

    def named(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting]) -> None:
        """Add a part of the links of a fetch under way, such as a long sitemap's; :meth:`finished` gets the rest.

        If the fetch never ends, it is repeated with all its links.
        """
        task = self._leases.task(fetch)
        if task is not None:
            self._finisher.name(Ended(self.capture, fetch, task, outcome), links)
            self.ledger.commit()

    @cached_property
    def loads(self) -> PageLoads:
        """The resources that pages load while browsers show them."""
        from sharc_crawler.frontier.besides_links import PageLoads  # only with a browser

        return PageLoads(self.ledger, self._admitter, self._leases)

    def give_back(self, fetch: Fetch, now: Instant, sent: Instant = 0.0) -> None:
        """Queue a leased fetch again that failed for a reason of our own; no attempt is counted.

        ``sent``: when its request left, if it did.
        """
        self._leases.give_back(fetch, now, sent)

    def _lease(self, host: Host, task: Task, now: Instant) -> Fetch | None:
        """Lease a task; ``None`` if robots.txt, the budget or the scope forbids it."""
        pages = self.pages
        kind, url = pages.kinds[task.page], pages.urls[task.page]
        if host.rules and kind is not _ROBOTS:
            if self._rules_are_old(host, task, now):
                host.held.appendleft(task)
                return None
            if not host.allows(url):
                self._refuse(task, "", now)
                return None
        capture = self.ledger.capture
        taken = capture.spec.skip == "attested" and self._takes(capture, task, kind, url)
        silent = ""
        if (host.lost or host.away) and self.ledger.leaves_hosts and not taken:
            from sharc_crawler.frontier.throttling import why_silent  # only after failures

            silent = why_silent(self.ledger, host, now)
        if reason := silent or self._why_not(capture, task, kind, url, now, free=taken):
            self._refuse(task, reason, now)
            return None
        if taken:
            return self._leases.grant(host, task._replace(attempt=TAKEN), kind, url, now)
        if (due := self._leases.due(task.page, now)) > now:
            host.pace.pause(due)  # the whole host waits, so that the order of visits is kept
            host.retry(task, due)
            return None
        if (polls := self._shared.polls) is not None:
            polls.spend(now)
        capture.budget.leased(task, kind)
        return self._leases.grant(host, task, kind, url, now)

    def _refuse(self, task: Task, reason: str, now: Instant) -> None:
        from sharc_crawler.frontier.trying_again import refuse  # many captures never refuse a page

        refuse(self.ledger, self._opener, task, reason, now)

    def _takes(self, capture: SiteCapture, task: Task, kind: Kind, url: str) -> bool:
        """Does an answer of a former capture stand for the page, so that no request is made?"""
        if kind is not Kind.PAGE or task.slot is not Slot.ONLY:
            return False
        look = self._parts.taken(capture.spec, url)
        return look is not None and capture.mode.takes(task.page, url, look)

    def _why_not(
        self, capture: SiteCapture, task: Task, kind: Kind, url: str, now: Instant, *, free: bool
    ) -> str | None:
        """Return why a queued page is no longer wanted, else ``None``; what is ``free`` needs no budget."""
        last = self.ledger.politeness.attempts + (2 if kind is Kind.SITEMAP else 1)  # sitemaps get one more on the way
        if task.attempt >= last and (self.polls is None or now >= self.polls.ends):
            host = self.ledger.hosts[self.pages.hosts[task.page]]
            if host.lost >= FEW:
                return f"it had failed, and {host.name} failed {FEW} such pages once more"
        if kind is _PAGE:
            if capture.interruptions and (reason := self._admitter.out_of_scope(capture, url)):
                return reason
            traps = capture.traps if task.slot is not _SECOND else None
            if traps and (why := traps.left(task.page, self.pages)):
                return why
        elif reason := capture.embedded.why_not(task.page):
            return reason
        return None if free else capture.budget.why_not(task, kind, url, now)

    def _rules_are_old(self, host: Host, task: Task, now: Instant) -> bool:
        """Must robots.txt be read again first?"""
        if not host.waits and now - host.read >= MAX_AGE:
            url = urljoin(self.pages.urls[task.page], "/robots.txt")
            self._queuer.owe_robots(self.capture, self.pages.hosts[task.page], url)
        return host.waits

    @property
    def idle(self) -> bool:
        """Nothing is leased."""
        return not self._leases

    @property
    def done(self) -> bool:
        """The capture is complete."""
        return self.capture.phase is Phase.DONE
