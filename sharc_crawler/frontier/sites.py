"""The frontiers of many sites in one process: whose turn it is, and which one an answer is for.

A site waits in a heap until it is due or woken; waiting sites cost nothing. Sites share the paces of machines
(:class:`~sharc_crawler.frontier.frontier.Shared`), so that two sites on one machine ask it no more often than one. They
share links, too: a URL out of one site's scope is offered to the site that has a seed on its host.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from sharc_crawler.addresses.urls import machine_of
from sharc_crawler.errors import SiteError, StoppedCaptureError, StoreUnavailable, Superseded, UsageError
from sharc_crawler.frontier.frontier import LEASE_TIME, Frontier, Shared
from sharc_crawler.frontier.hosts import Pace, Politeness
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.model import Done, Fetch, Instant, Judgement, Outcome, Seconds, Sighting, Wait

if TYPE_CHECKING:
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.polling.polls import Polls
    from sharc_crawler.polling.terms import Terms
    from sharc_crawler.state.rows import Batch
    from sharc_crawler.state.spec import CaptureSpec
    from sharc_crawler.state.store import StepStore

SLACK = 64  #: outdated heap entries allowed beyond two per site
NOT_KEPT = (OSError, StoreUnavailable, Superseded)  #: errors when a site's state cannot be written
OF_ONE = (*NOT_KEPT, StoppedCaptureError)  #: errors that stop one site, not the others


@contextmanager
def of_one(site: str) -> Iterator[None]:
    """Raise errors within as this site's :class:`~sharc_crawler.errors.SiteError`."""
    try:
        yield
    except OF_ONE as error:
        raise SiteError(site, error) from error


class Sites:
    """Many frontiers, one per site, with the verbs of one."""

    def __init__(
        self,
        politeness: Politeness | None = None,
        parts: Parts | None = None,
        lease_time: Seconds = LEASE_TIME,
        terms: Terms | None = None,
        machine: Callable[[str], str] = machine_of,
        pace: Callable[[str], Pace] = lambda _: Pace(),
    ) -> None:
        self.politeness = politeness or Politeness()
        self._parts = parts or Parts()
        self._lease_time = lease_time
        self._shared: Shared = Shared(terms, machine, pace)
        self._shared.woken, self._shared.outside = self._woken, self._offer
        self._frontiers: dict[str, Frontier] = {}
        self._by_ledger: dict[Ledger, Frontier] = {}
        self._at: dict[str, list[Frontier]] = {}  #: by the host of a seed
        self._ready: deque[Frontier] = deque()
        self._is_ready: set[Frontier] = set()
        self._due: dict[Frontier, Instant] = {}  #: when each waiting site is due
        self._heap: list[tuple[Instant, int, Frontier]] = []
        self._turns = count()
        self._unfinished: list[Frontier] = []  # at least the last one is
        self._held: set[Frontier] = set()  #: sites on hold
        self.held_up = ""  #: why the crawl is held up, for the status line

    def __iter__(self) -> Iterator[Frontier]:
        return iter(self._frontiers.values())

    def __len__(self) -> int:
        return len(self._frontiers)

    def __contains__(self, site: str) -> bool:
        return site in self._frontiers

    def __getitem__(self, site: str) -> Frontier:
        return self._frontiers[site]

    def of(self, fetch: Fetch) -> Frontier:
        """Return the frontier that granted a lease."""
        return self._frontiers[fetch.site]

    @property
    def polls(self) -> Polls | None:
        """The polls of an instant crawl, for all its sites; ``None`` for other crawls."""
        return self._shared.polls

    @property
    def leased(self) -> int:
        """The number of leases granted: downloads begun, repeated ones and robots.txt included."""
        return self._shared.last

    # -- sites come ------------------------------------------------------------------------------------------------

    def open(self, spec: CaptureSpec, now: Instant, store: StepStore | None = None, *, seeded: bool = True) -> Frontier:
        """Begin a site's capture with its state in ``store``; see :meth:`Frontier.open`."""
        frontier = self.new(store)
        with self._begun(frontier):
            frontier.open(spec, now, seeded)
        return self._added(frontier)

    def restore(self, saved: Batch, now: Instant, store: StepStore | None = None) -> Frontier:
        """Resume a site's capture; see :meth:`Frontier.restore`."""
        frontier = self.new(store)
        with self._begun(frontier):
            frontier.restore(saved, now)
        return self._added(frontier)

    def restored(self, frontier: Frontier, saved: Batch) -> Frontier:
        """Resume a frontier of :meth:`new` after :meth:`Frontier.recall` ran, in any thread."""
        with self._begun(frontier):
            frontier.recalled(saved)
        return self._added(frontier)

    @contextmanager
    def _begun(self, frontier: Frontier) -> Iterator[None]:
        """Drop the unwritten changes of a frontier that could not begin."""
        try:
            yield
        except BaseException:
            self._shared.unwritten.discard(frontier.ledger)
            raise

    def new(self, store: StepStore | None) -> Frontier:
        """Make a frontier that is not in the crawl yet."""
        return Frontier(self.politeness, store, self._parts, self._lease_time, shared=self._shared)

    def _added(self, frontier: Frontier) -> Frontier:
        spec = frontier.capture.spec
        if spec.site in self._frontiers:
            raise UsageError(f"site={spec.site!r} is captured twice in one crawl")
        self._frontiers[spec.site] = self._by_ledger[frontier.ledger] = frontier
        for host in {self._parts.host_of(key) for url in spec.seeds if (key := self._parts.canonical(url))}:
            self._at.setdefault(host, []).append(frontier)
        self._unfinished.append(frontier)
        self._woken(frontier.ledger)
        return frontier

    # -- sites rest, and go --------------------------------------------------------------------------------------------

    def hold(self, site: str) -> None:
        """Pause a site: its last step is not safe yet, or the site will be handed over."""
        self._held.add(frontier := self._frontiers[site])
        self._leave_hosts(frontier)

    def go_on(self, site: str) -> None:
        """Resume a site that was on hold."""
        frontier = self._frontiers[site]
        self._held.discard(frontier)
        frontier.ledger.ring.wake_all()  # it left all queues for machines
        self._woken(frontier.ledger)

    def stop(self, site: str) -> None:
        """Stop a site that cannot continue; fetches under way still end."""
        frontier = self._frontiers[site]
        frontier.stopped = True
        self._leave_hosts(frontier)

    @staticmethod
    def _leave_hosts(frontier: Frontier) -> None:
        """Take a site out of the queues for machines that it shares."""
        for host in frontier.ledger.hosts:
            host.pace.leave(frontier.ledger.ring)
            host.pace.offer()

    def remove(self, site: str) -> None:
        """Remove a site that has ended or was handed over."""
        frontier = self._frontiers.pop(site)
        del self._by_ledger[frontier.ledger]
        self._leave_hosts(frontier)
        for others in self._at.values():
            if frontier in others:
                others.remove(frontier)
        if frontier in self._unfinished:
            self._unfinished.remove(frontier)
        if frontier in self._is_ready:
            self._ready.remove(frontier)
        for known in (self._is_ready, self._held):
            known.discard(frontier)
        self._due.pop(frontier, None)
        self._shared.unwritten.discard(frontier.ledger)

    # -- the verbs -------------------------------------------------------------------------------------------------

    def next(self, now: Instant) -> Fetch | Wait | Done:
        """Return the next fetch at ``now``, a wait, or that all is done; ready sites take turns.

        Raises :class:`~sharc_crawler.errors.SiteError` for a site that cannot continue or be written.
        """
        while (due := self._earliest()) is not None and due <= now:
            self._woken(self._heap[0][2].ledger)
        while self._ready:
            frontier = self._ready[0]
            if frontier in self._held or frontier.stopped:
                self._is_ready.discard(self._ready.popleft())
                continue
            with of_one(frontier.capture.spec.site):
                decision = frontier.next(now)
            if isinstance(decision, Fetch):
                self._ready.rotate(-1)
                return decision
            self._is_ready.discard(self._ready.popleft())
            if isinstance(decision, Wait):
                self._wait(frontier, decision.until)
        due = self._earliest()
        return Done() if due is None else Wait(due)

    def finished(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting] = ()) -> Judgement | None:
        """See :meth:`Frontier.finished`."""
        return self.of(fetch).finished(fetch, outcome, links)

    def named(self, fetch: Fetch, outcome: Outcome, links: Sequence[Sighting]) -> None:
        """See :meth:`Frontier.named`."""
        self.of(fetch).named(fetch, outcome, links)

    def give_back(self, fetch: Fetch, now: Instant, sent: Instant = 0.0) -> None:
        """See :meth:`Frontier.give_back`."""
        self.of(fetch).give_back(fetch, now, sent)

    def commit(self) -> None:
        """Write changes that could not be written before, and notes."""
        for ledger in list(self._shared.unwritten):
            with of_one(ledger.capture.spec.site):
                ledger.commit()

    def pass_over(self, site: str) -> None:
        """Do not try to write a site's changes again before it changes."""
        self._shared.unwritten.discard(self._frontiers[site].ledger)

    @contextmanager
    def one_step(self, site: str) -> Iterator[None]:
        """Write all that is done to a site within in one transaction."""
        with of_one(site), self._frontiers[site].ledger.one_step():
            yield

    def note(self, text: str, instead_of: str = "") -> None:
        """Add a note to the reports of all captures that are not complete."""
        for frontier in self:
            frontier.note(text, instead_of)
            self._shared.unwritten.add(frontier.ledger)

    def change_delay(self, delay: Seconds) -> None:
        """Change the delay of all sites; see :meth:`Frontier.change_delay`."""
        self.politeness = replace(self.politeness, delay=delay)
        for frontier in self:
            frontier.change_delay(delay)

    @property
    def ripe(self) -> Instant | None:
        """When the first site is due; ``None`` if one is ready, none waits, or a fetch is under way."""
        if self._ready or not all(frontier.idle for frontier in self):
            return None
        return self._earliest()

    @property
    def done(self) -> bool:
        """Is every capture complete or stopped?"""
        while self._unfinished and (self._unfinished[-1].done or self._unfinished[-1].stopped):
            self._unfinished.pop()
        return not self._unfinished

    # -- whose turn it is ------------------------------------------------------------------------------------------

    def _woken(self, ledger: Ledger) -> None:
        """Make a site ready: it may have work."""
        frontier = self._by_ledger.get(ledger)
        if frontier is None or frontier in self._is_ready:  # not added yet, or ready already
            return
        self._due.pop(frontier, None)
        if frontier in self._held or frontier.stopped:
            return
        self._is_ready.add(frontier)
        self._ready.append(frontier)

    def _earliest(self) -> Instant | None:
        """Return when the first site is due; ``None`` if none waits."""
        while self._heap and self._due.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def _wait(self, frontier: Frontier, until: Instant) -> None:
        self._due[frontier] = until
        if len(self._heap) > 2 * len(self._due) + SLACK:
            self._heap = [(due, next(self._turns), waiting) for waiting, due in self._due.items()]
            heapq.heapify(self._heap)
        else:
            heapq.heappush(self._heap, (until, next(self._turns), frontier))

    def _offer(self, sighting: Sighting, key: str, depth: int) -> None:
        """Offer an out-of-scope URL of one site to the other sites of this crawl.

        Its depth is kept, so that endless trails between two sites end as they do within one.
        """
        for other in self._at.get(self._parts.host_of(key), ()):
            capture = other.capture
            if key not in capture.seen and capture.mode.whole and capture.scope.why_not(key) is None:
                with suppress(*NOT_KEPT):  # the error comes up when that site is written next
                    other.schedule([sighting], capture.started, depth)
