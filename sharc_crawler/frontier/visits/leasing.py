"""Leases: fetches handed out and not yet answered."""

from __future__ import annotations

from collections.abc import Callable

from sharc_crawler.frontier.hosts import TAKEN, TOO_MANY, Host, Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.model import NO_VALIDATORS, Fetch, Instant, Kind, Outcome, PageId, Seconds, Slot, Validators
from sharc_crawler.state.lifecycle import Event, State
from sharc_crawler.state.spec import CaptureSpec

Former = Callable[[CaptureSpec, str], Validators]


_LEASE, _LEASED_AGAIN, _SECOND, _ASKED = Event.LEASE, State.LEASED_AGAIN, Slot.SECOND, {Kind.PAGE, Kind.RESOURCE}


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
            from sharc_crawler.frontier.visits.delaying import rest  # few hosts need one

            rest(self._ledger, host, fetch, outcome)
        self._ledger.freed(number)
