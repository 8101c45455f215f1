"""What was handed out and is not answered yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.lifecycle import Event
from sharc_crawler.model import NO_VALIDATORS, Fetch, Slot

if TYPE_CHECKING:
    from sharc_crawler.frontier.hosts import Host, Task
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Instant, Kind, Outcome, PageId, Seconds


class Leases:
    """Leases, oldest first. Each ends once: answered, given back, or expired."""

    def __init__(self, ledger: Ledger, time: Seconds) -> None:
        self._ledger = ledger
        self._time = time
        self._open: dict[int, tuple[Fetch, Task]] = {}
        self._second = 0  # of the clock, in which the latest requests were sent
        self._asked: set[PageId] = set()  # pages that were asked for in it

    def __len__(self) -> int:
        return len(self._open)

    def grant(self, host: Host, task: Task, kind: Kind, url: str, now: Instant) -> Fetch:
        """Hand a task out: the download of its page, which is of this kind and has this URL."""
        page = task.page
        pages = self._ledger.pages
        pages.move(page, Event.LEASE)
        number = self._ledger.shared.lease()
        fetch = Fetch(
            number,
            page,
            self._ledger.capture.spec.site,
            url,
            kind,
            task.slot,
            task.plan,
            host.name,
            task.attempt,
            pages.validators(page) if task.slot is Slot.SECOND else NO_VALIDATORS,
            now,
        )
        self._open[number] = (fetch, task)
        host.pace.busy += 1
        host.pace.due = now + host.delay
        return fetch

    def answer(self, fetch: Fetch, outcome: Outcome) -> Task | None:
        """The lease has ended, and the host may be asked again, in time. ``None``: it had expired."""
        lease = self._open.pop(fetch.lease, None)
        if lease is None:
            return None
        self._free(fetch, outcome)
        self._remember(fetch.page, int(outcome.started))
        return lease[1]

    def due(self, page: PageId, now: Instant) -> Instant:
        """When a page may be asked for: in another second than before. Archives name downloads by whole seconds."""
        return self._second + 1 if page in self._asked and now < self._second + 1 else now

    def give_back(self, fetch: Fetch, now: Instant) -> None:
        """It came to nothing for a reason of our own: it is made again, and no attempt is counted."""
        lease = self._open.pop(fetch.lease, None)
        if lease is not None:
            self._queue_again(lease[1], now)

    def expire(self, now: Instant) -> None:
        """Queue again what was never answered."""
        while self._open:
            fetch, task = next(iter(self._open.values()))
            if fetch.decided + self._time > now:
                return
            del self._open[fetch.lease]
            self._queue_again(task._replace(attempt=task.attempt + 1), now)

    def expiry(self) -> Instant | None:
        """When the oldest lease expires; ``None``: there is none."""
        for fetch, _ in self._open.values():
            return fetch.decided + self._time
        return None

    def try_again(self, task: Task, outcome: Outcome) -> None:
        """Back off, twice as long each time; the page is not lost."""
        wait = self._ledger.politeness.back_off * 2 ** (task.attempt - 1)
        if outcome.retry_after is not None:
            wait = min(max(outcome.retry_after, 0.0), self._ledger.politeness.longest_pause)
        self._ledger.pages.move(task.page, Event.GIVEN_BACK)
        number = self._ledger.pages.hosts[task.page]
        self._ledger.hosts[number].retry(task._replace(attempt=task.attempt + 1), outcome.ended + wait)
        self._ledger.ring.wake(number)

    def _remember(self, page: PageId, second: int) -> None:
        if second > self._second:
            self._second = second
            self._asked.clear()
        if second == self._second:
            self._asked.add(page)

    def _queue_again(self, task: Task, now: Instant) -> None:
        number = self._ledger.pages.hosts[task.page]
        host = self._ledger.hosts[number]
        self._ledger.pages.move(task.page, Event.GIVEN_BACK)
        host.retry(task, now)
        self._ledger.freed(number)

    def _free(self, fetch: Fetch, outcome: Outcome) -> None:
        """The host may be asked again, in time."""
        number = self._ledger.pages.hosts[fetch.page]
        host = self._ledger.hosts[number]
        host.pace.pause(outcome.started + host.delay)
        if outcome.retry_after is not None:
            host.pace.pause(outcome.ended + min(outcome.retry_after, self._ledger.politeness.longest_pause))
        self._ledger.freed(number)
