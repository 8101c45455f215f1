"""The frontier of one site capture: three verbs, no sockets, no clock.

``schedule``: URLs were seen. ``next``: what to fetch now (a lease), or how long to wait, or that all is done.
``finished``: a fetch ended so, with these links, in one step. What the simulator evaluates is, object for object, what
crawls.

Promises: a lease that is not answered in time is queued again; a host is never asked sooner than its delay after its
last request began, nor more often at once than it bears, whoever asks; it is done once all its pages are finished.
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
from sharc_crawler.frontier.hosts import TAKEN, Host, Pace, Politeness, Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.opening import Opener
from sharc_crawler.frontier.parts import Parts
from sharc_crawler.frontier.visits.choosing import SOON, Chooser
from sharc_crawler.frontier.visits.finishing import Ended, Finisher
from sharc_crawler.frontier.visits.leasing import Leases
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
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.rows import Batch
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.frontier.store import StepStore
    from sharc_crawler.frontier.visits.loading import PageLoads
    from sharc_crawler.polling.polls import Polls
    from sharc_crawler.polling.terms import Terms


class Shared:
    """What the frontiers of one process share: the paces of machines, the numbers of leases, the polls' budget."""

    def __init__(
        self,
        terms: Terms | None = None,
        machine: Callable[[str], str] = machine_of,
        pace: Callable[[str], Pace] = lambda _: Pace(),
    ) -> None:
        self._machine = machine  #: which hosts are one
        self._new_pace = pace  #: of a machine
        #: by machine: who captures two sites of it asks it no more often than for one
        self._paces: dict[str, Pace] = {}
        self.terms = terms  #: of an instant crawl
        self.polls: Polls | None = None  #: its polls, once there are some
        self.last = 0  #: the number of the lease granted last
        self.unwritten: set[Ledger] = set()  #: whose last changes could not be written, or are to be soon
        self.woken: Callable[[Ledger], None] = lambda _: None  #: a frontier that had no host to ask has one
        #: a page that is not this frontier's may be another's: by its canonical URL, so many links from a seed
        self.outside: Callable[[Sighting, str, int], None] = lambda *_: None

    def pace(self, host: str) -> Pace:
        """The pace of the machine that a host is on; may be called in any thread."""
        machine = self._machine(host)
        pace = self._paces.get(machine)
        return pace or self._paces.setdefault(machine, self._new_pace(machine))


_LOSSES = {Result.REFUSED, Result.GONE, Result.REDIRECTED}
_FAILED, _PAGE, _ROBOTS, _SECOND = Result.FAILED, Kind.PAGE, Kind.ROBOTS, Slot.SECOND  # looked up once
LEASE_TIME: Seconds = 3600.0
FEW = 3  #: pages of a host that fail once more in a row, after which it is not asked for the others
KNOWN = 10  #: captured pages from which on a site is known to answer
MAX_REFUSED = 2_000  #: pages that robots.txt, a budget or a trap closes, per decision


class Frontier:
    """One site capture over hosts with their own politeness; ``shared``: with other sites' frontiers."""

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
        self.stopped = False  #: it can go on no more, and is asked for nothing

    @property
    def capture(self) -> SiteCapture:
        """What has been opened, or restored."""
        return self.ledger.capture

    @property
    def polls(self) -> Polls | None:
        """The hubs of an instant crawl and when they are polled; all its sites share them."""
        return self._shared.polls

    def open(self, spec: CaptureSpec, now: Instant, seeded: bool = True) -> SiteCapture:
        """Begin the site capture with its seeds; ``seeded=False``: what it captures is scheduled by hand."""
        capture = self._opener.open(spec, now, seeded)
        self.ledger.commit()
        return capture

    def schedule(self, sightings: Sequence[Sighting], now: Instant, depth: int = 0) -> int:
        """URLs were seen outside of any fetch; the number of those that are new. What is out of scope is left.

        ``depth``: so many links from a seed of another site.
        """
        new = self._admitter.admit(self.capture, sightings, now, depth=depth).new
        self._admitter.ingest(self.capture, sightings, now)
        self.ledger.ring.wake_all()
        self.ledger.commit()
        return new

    def change_delay(self, delay: Seconds) -> None:
        """From each host's last request on; what robots.txt asks for, and exceptions by host, stay."""
        from sharc_crawler.frontier.visits.delaying import change_delay  # by order alone

        change_delay(self.ledger, delay)

    def note(self, text: str, instead_of: str = "") -> None:
        """What a reader of the report must know, unless the capture is complete."""
        if not self.done:
            self.capture.note(text, instead_of)
            self.ledger.changed_capture()

    def restore(self, saved: Batch, now: Instant) -> None:
        """Go on where a former frontier was cut off, at any moment: what was in flight is queued again."""
        self.recall(saved, now)
        self.recalled(saved)

    def recall(self, saved: Batch, now: Instant) -> None:
        """What takes long of that; nobody else is concerned, so that any thread may do it."""
        from sharc_crawler.frontier.restoring.restorer import Restorer  # only where there is something to go on with

        Restorer(self.ledger, self._opener).restore(saved, now)

    def recalled(self, saved: Batch) -> None:
        """The rest."""
        self._shared.last = max([self._shared.last, *(visit.lease for visit in saved.visits)])
        self.ledger.commit()

    def next(self, now: Instant) -> Fetch | Wait | Done:
        """The best thing to do at ``now``."""
        self._leases.expire(now)
        polls, ring = self._shared.polls, self.ledger.ring
        if polls is not None and (free := polls.budget.ready(now)) > now:
            return Wait(free)
        ring.ripen(now)
        ends = self.ledger.capture.budget.ends if self.ledger.hosts else math.inf
        refused = 0
        while (number := ring.head()) is not None:
            host = self.ledger.hosts[number]
            if refused == MAX_REFUSED:  # others wait for their turn
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
                host.pace.offer()  # who waits for it need not wait for this host
        self.ledger.commit()
        times = [time for time in (ring.earliest(), self._leases.expiry()) if time is not None]
        return Wait(min(times)) if times else Done()

    def finished(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting] = ()) -> Judgement | None:
        """A leased fetch ended so, with these links. The judgement, where this finished a page's last visit.

        An answer to a lease that has expired meanwhile is ignored: the page is queued again.
        """
        task = self._leases.answer(fetch, outcome)
        if task is None:
            return None
        ledger = self.ledger
        capture = ledger.capture
        again, lost = False, outcome.result in _LOSSES and capture.counts.captured >= KNOWN
        if outcome.result is _FAILED or lost or capture.refusals:
            from sharc_crawler.frontier.visits.trying_again import comes_again  # where something failed

            again = comes_again(ledger, self._admitter, fetch, task, outcome)
        again = again or capture.mode.asks_again(task.page, task.slot, outcome)
        if task.attempt != TAKEN:
            capture.budget.ended(task, fetch.url, outcome, finished=not again)
        judgement = None
        if again:
            ledger.visited(fetch, task, outcome, finished=False)
            from sharc_crawler.frontier.visits.trying_again import try_again  # where something failed

            try_again(ledger, task, outcome)
        else:
            ledger.hosts[self.pages.hosts[task.page]].over(outcome)
            judgement = self._finisher.finish(Ended(capture, fetch, task, outcome), links)
        ledger.commit()
        return judgement

    def named(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting]) -> None:
        """A leased fetch will end so, and names these besides those that :meth:`finished` is told: a long sitemap.

        Where it never ends, it is made again, and names them again.
        """
        task = self._leases.task(fetch)
        if task is not None:
            self._finisher.name(Ended(self.capture, fetch, task, outcome), links)
            self.ledger.commit()

    @cached_property
    def loads(self) -> PageLoads:
        """What pages load whose visits are under way, in browsers."""
        from sharc_crawler.frontier.visits.loading import PageLoads  # only where there are some

        return PageLoads(self.ledger, self._parts.canonical, self._admitter, self._leases)

    def give_back(self, fetch: Fetch, now: Instant, sent: Instant = 0.0) -> None:
        """A leased fetch came to nothing for a reason of our own: it is made again, and no attempt is counted.

        ``sent``: by when its request had left, if it had.
        """
        self._leases.give_back(fetch, now, sent)

    def _lease(self, host: Host, task: Task, now: Instant) -> Fetch | None:
        """Hand a task out; ``None`` where robots.txt or the budget forbids it."""
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
            from sharc_crawler.frontier.visits.delaying import why_silent  # where something failed

            silent = why_silent(self.ledger, host, now)
        if reason := silent or self._why_not(capture, task, kind, url, now, free=taken):
            self._refuse(task, reason, now)
            return None
        if taken:
            return self._leases.grant(host, task._replace(attempt=TAKEN), kind, url, now)
        if (due := self._leases.due(task.page, now)) > now:
            host.pace.pause(due)  # the host waits: an order is kept
            host.retry(task, due)
            return None
        if (polls := self._shared.polls) is not None:
            polls.spend(now)
        capture.budget.leased(task, kind)
        return self._leases.grant(host, task, kind, url, now)

    def _refuse(self, task: Task, reason: str, now: Instant) -> None:
        from sharc_crawler.frontier.visits.refusing import refuse  # many captures are refused nothing

        refuse(self.ledger, self._opener, task, reason, now)

    def _takes(self, capture: SiteCapture, task: Task, kind: Kind, url: str) -> bool:
        """Does a former answer stand for a page, which is not asked for then?"""
        if kind is not Kind.PAGE or task.slot is not Slot.ONLY:
            return False
        look = self._parts.taken(capture.spec, url)
        return look is not None and capture.mode.takes(task.page, url, look)

    def _why_not(
        self, capture: SiteCapture, task: Task, kind: Kind, url: str, now: Instant, *, free: bool
    ) -> str | None:
        """Why a capture no longer wants what it had queued; ``None``: it does. What is ``free`` needs no budget."""
        once_more = self.ledger.politeness.attempts + (
            2 if kind is Kind.SITEMAP else 1
        )  # a sitemap's first is on the way
        if task.attempt >= once_more and (self.polls is None or now >= self.polls.ends):
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
        """Must robots.txt be read again before anything else?"""
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
