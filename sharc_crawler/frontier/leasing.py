"""Choose the next download of a free host, and lease it: leases are fetches handed out and not yet answered."""

from __future__ import annotations

import math
from collections.abc import Callable

from sharc_crawler.errors import StrategyError
from sharc_crawler.frontier.capture import SiteCapture
from sharc_crawler.frontier.finishing import Finisher
from sharc_crawler.frontier.hosts import TAKEN, TOO_MANY, Host, Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.model import (
    NO_VALIDATORS,
    Fetch,
    Instant,
    Kind,
    Outcome,
    PageId,
    Phase,
    Seconds,
    Slot,
    Validators,
    Visit,
)
from sharc_crawler.state.lifecycle import Event, State
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.strategies.door import Door

Former = Callable[[CaptureSpec, str], Validators]
Begin = Callable[[SiteCapture, Instant], Door | None]

SOON = 0.1  #: seconds until a capture busy in another thread is asked again
MAX_DOUBTED = 1_000  #: pages put off as likely traps, per decision
MAX_HELD = 64  #: pages taken from a strategy for other hosts, per decision
_DONE, _SECOND = Phase.DONE, Slot.SECOND  # local names are faster
_LEASE, _LEASED_AGAIN, _ASKED = Event.LEASE, State.LEASED_AGAIN, {Kind.PAGE, Kind.RESOURCE}


class Chooser:
    """Asks a host's queues, then the capture."""

    def __init__(self, ledger: Ledger, begin: Begin, finisher: Finisher) -> None:
        self._ledger = ledger
        self._begin = begin  # builds a capture's strategy
        self._finisher = finisher

    def choose(self, number: int, host: Host, now: Instant) -> Task | None:
        """Return the host's next task. Once the time budget is spent all retries are due, and will be refused."""
        owed = host.owed(math.inf if now >= self._ledger.capture.budget.ends else now)
        return owed or self._visit(number, host, now) or self._poll(number, host, now)

    def _visit(self, number: int, host: Host, now: Instant) -> Task | None:
        """Ask the capture for a visit, if this host may have its pages."""
        capture = self._ledger.capture
        if host.waits or not host.has_pages or capture.life.phase is _DONE:
            return None
        for _ in range(MAX_HELD):
            try:
                task = self._ask(capture, now)
            except StrategyError as error:
                from sharc_crawler.frontier.throttling import stopped  # rare

                stopped(self._ledger, error, now)
                raise
            if task is None:
                break
            other = self._ledger.pages.hosts[task.page]
            if other == number:
                return task
            self._ledger.hosts[other].held.append(task)
            self._ledger.ring.wake(other)
        return host.owed(now)  # asking the capture may have added some

    def _ask(self, capture: SiteCapture, now: Instant) -> Task | None:
        """Take one decision of the strategy; end the capture if none is left and nothing is under way."""
        if capture.owed.first and capture.owed.pending:  # if nothing is pending, waiting would never end
            return None
        strategy = self._begin(capture, now) if capture.strategy is None else capture.strategy
        mode = capture.mode
        if capture.far and strategy is not None and not (strategy.first_visits_waiting or capture.owed.pending):
            from sharc_crawler.frontier.besides_links import take_in  # on few sites only

            capture.weighing = not take_in(self._ledger, self._finisher.admitter, now)
            if capture.weighing:
                return None
        unread = capture.owed.unread and strategy is not None and not strategy.first_visits_left
        if strategy is None or ((unread or mode.waits(strategy, now)) and capture.owed.pending):
            if capture.later:
                from sharc_crawler.frontier.trying_again import ask_once_more  # only after failures

                ask_once_more(self._ledger)
            return None
        visit = self._without_traps(capture, mode.next(strategy, now), strategy, now)
        if visit is None:
            if capture.owed.pending or mode.owes_more(now):
                if not capture.later and not any(host.retries for host in self._ledger.hosts):
                    return None
                from sharc_crawler.frontier.trying_again import leaves_behind  # only after failures

                return self._ask(capture, now) if leaves_behind(self._ledger, strategy, now) else None
            over = self._finisher.complete(capture, now)
            return None if not over or capture.phase is Phase.DONE else self._ask(capture, now)  # of the next part
        if visit.slot is _SECOND and capture.phase is Phase.VISIT:
            mode.turn(now)
        capture.owed.add()
        return Task(visit.page, visit.slot, visit.plan)

    def _without_traps(self, capture: SiteCapture, visit: Visit | None, strategy: Door, now: Instant) -> Visit | None:
        """Put off visits to likely traps until nothing else is left."""
        traps, pages = capture.traps, self._ledger.pages
        if traps is None:
            return visit
        for _ in range(MAX_DOUBTED):
            if visit is None or visit.slot is _SECOND or not (doubts := traps.waits(visit.page, pages)):
                break
            self._finisher.prober.put_off(capture, visit, doubts)
            visit = capture.mode.next(strategy, now)
        if visit is not None or not capture.doubted or self._under_way(capture):
            return visit
        return self._finisher.prober.surest(capture, now)

    def _under_way(self, capture: SiteCapture) -> bool:
        """Is a download under way, other than retries that wait?"""
        waiting = len(capture.later) + sum(len(host.retries) for host in self._ledger.hosts)
        return capture.owed.pending > waiting

    def _poll(self, number: int, host: Host, now: Instant) -> Task | None:
        """Return a poll of a hub on this host that is due."""
        polls = self._ledger.polls
        hub = None if polls is None or host.waits else polls.take(number, now)
        if hub is None:
            return None
        self._ledger.capture.owed.add()
        return Task(hub, Slot.FIRST if self._ledger.pages.states[hub] == State.QUEUED else Slot.SECOND)

    def later(self, number: int, host: Host, now: Instant) -> Instant:
        """Return when the host has work without being woken; inf: never."""
        polls = self._ledger.polls
        polled = math.inf if polls is None or host.waits else polls.due(number, now)
        begun = now + SOON if self._ledger.capture.beginning or self._ledger.capture.weighing else math.inf
        return min(host.retries[0][0] if host.retries else math.inf, polled, begun)


class Leases:
    """Leases, oldest first. Each ends once: answered, given back, or expired."""

    def __init__(self, ledger: Ledger, time: Seconds, former: Former, believed: Callable[[], bool]) -> None:
        self._ledger = ledger
        self._former, self._believed = former, believed
        self._time = time
        self._open: dict[int, tuple[Fetch, Task]] = {}
        self._let_go: dict[int, bool] = {}  # leases answered while a browser still loads: do other visits wait for it?
        self._second = 0  # second of the clock in which the latest request was sent
        self._asked: set[PageId] = set()  # pages requested in that second

    def __len__(self) -> int:
        return len(self._open)

    def grant(self, host: Host, task: Task, kind: Kind, url: str, now: Instant) -> Fetch:
        """Lease a task: the download of its page, which has this kind and URL."""
        page = task.page
        pages = self._ledger.pages
        pages.move(page, _LEASE)
        number = self._ledger.shared.last = self._ledger.shared.last + 1
        site, known = self._ledger.capture.spec.site, self._known(task, kind, url)
        fetch = Fetch(number, page, site, url, kind, task.slot, task.plan, host.name, task.attempt, known, now)
        self._open[number] = (fetch, task)
        host.pace.busy += 1
        if task.attempt != TAKEN:
            host.pace.asked(host, now)
        return fetch

    def _known(self, task: Task, kind: Kind, url: str) -> Validators:
        """Return the validators to send: the visit's for a revisit, a former capture's for a first visit."""
        capture = self._ledger.capture
        if task.slot is _SECOND:
            return self._ledger.pages.validators(task.page) if self._believed() else NO_VALIDATORS
        if self._ledger.pages.states[task.page] == _LEASED_AGAIN:
            return NO_VALIDATORS
        if kind in _ASKED and capture.mode.asks_by_former(kind, task.slot):
            return self._former(capture.spec, url)
        return NO_VALIDATORS

    def answer(self, fetch: Fetch, outcome: Outcome) -> Task | None:
        """End a lease, free its host, and return its task; ``None`` if the lease had expired."""
        lease = self._open.pop(fetch.lease, None)
        if lease is None:
            return None
        if not self._let_go or not self._over(fetch):
            self._free(fetch, outcome)
        if (second := int(outcome.started)) > self._second:
            self._second = second
            self._asked.clear()
        if second == self._second:
            self._asked.add(fetch.page)
        return lease[1]

    def task(self, fetch: Fetch) -> Task | None:
        """Return a lease's task; ``None`` if the lease has ended."""
        lease = self._open.get(fetch.lease)
        return lease and lease[1]

    def let_go(self, fetch: Fetch, outcome: Outcome) -> None:
        """Free the host of a fetch whose exchange is over, though its visit is not; no visit is decided until then."""
        if fetch.lease in self._open and fetch.lease not in self._let_go:
            self._let_go[fetch.lease] = True
            self._ledger.capture.owed.before_visits(f"lease {fetch.lease}")
            self._free(fetch, outcome)

    def _over(self, fetch: Fetch) -> bool:
        """End a visit; was its host freed before?"""
        self.hold_up_no_more(fetch)
        return self._let_go.pop(fetch.lease, None) is not None

    def hold_up_no_more(self, fetch: Fetch) -> None:
        """Let other visits be decided before this one ends."""
        if self._let_go.get(fetch.lease):
            self._let_go[fetch.lease] = False
            self._ledger.capture.owed.was_read(f"lease {fetch.lease}")
            self._ledger.ring.wake_all()

    def due(self, page: PageId, now: Instant) -> Instant:
        """Return when a page may be requested: in another second than before, as archives index by seconds."""
        apart = self._ledger.politeness.apart and page in self._asked
        return max(now, self._second + 1) if apart else now

    def give_back(self, fetch: Fetch, now: Instant, sent: Instant) -> None:
        """Queue a fetch again that failed for a reason of our own; no attempt is counted."""
        lease = self._open.pop(fetch.lease, None)
        if lease is not None:
            host = self._ledger.hosts[self._ledger.pages.hosts[fetch.page]]
            host.pace.asked(host, sent)
            self._queue_again(*lease, now)

    def expire(self, now: Instant) -> None:
        """Queue again the fetches whose leases expired."""
        while self._open:
            fetch, task = next(iter(self._open.values()))
            if fetch.decided + self._time > now:
                return
            del self._open[fetch.lease]
            self._queue_again(fetch, task._replace(attempt=task.attempt + 1), now)

    def expiry(self) -> Instant | None:
        """Return when the oldest lease expires; ``None`` if there is none."""
        for fetch, _ in self._open.values():
            return fetch.decided + self._time
        return None

    def _queue_again(self, fetch: Fetch, task: Task, now: Instant) -> None:
        number = self._ledger.pages.hosts[task.page]
        host = self._ledger.hosts[number]
        self._ledger.pages.move(task.page, Event.GIVEN_BACK)
        host.retry(task._replace(attempt=max(task.attempt, 1)), now)
        if self._over(fetch):
            self._ledger.ring.wake(number)
        else:
            self._ledger.freed(number)

    def _free(self, fetch: Fetch, outcome: Outcome) -> None:
        """Free the host, after its delay."""
        number = self._ledger.pages.hosts[fetch.page]
        host = self._ledger.hosts[number]
        host.pace.asked(host, outcome.sent or outcome.started)
        if outcome.retry_after or host.away or host.slowed or outcome.status in TOO_MANY:
            from sharc_crawler.frontier.throttling import rest  # few hosts need one

            rest(self._ledger, host, fetch, outcome)
        self._ledger.freed(number)
