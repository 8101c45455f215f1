"""Choose the next download of a free host: what it owes, the capture's next visit, or a hub's poll."""

from __future__ import annotations

import math
from collections.abc import Callable

from sharc_crawler.errors import StrategyError
from sharc_crawler.frontier.capture import SiteCapture
from sharc_crawler.frontier.hosts import Host, Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.visits.finishing import Finisher
from sharc_crawler.model import Instant, Phase, Slot, Visit
from sharc_crawler.state.lifecycle import State
from sharc_crawler.strategies.door import Door

Begin = Callable[[SiteCapture, Instant], Door | None]

SOON = 0.1  #: seconds until a capture busy in another thread is asked again
MAX_DOUBTED = 1_000  #: pages put off as likely traps, per decision
MAX_HELD = 64  #: pages taken from a strategy for other hosts, per decision
_DONE, _SECOND = Phase.DONE, Slot.SECOND  # local names are faster


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
                from sharc_crawler.frontier.visits.delaying import stopped  # rare

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
            from sharc_crawler.frontier.visits.nearer import take_in  # on few sites only

            capture.weighing = not take_in(self._ledger, self._finisher.admitter, now)
            if capture.weighing:
                return None
        unread = capture.owed.unread and strategy is not None and not strategy.first_visits_left
        if strategy is None or ((unread or mode.waits(strategy, now)) and capture.owed.pending):
            if capture.later:
                from sharc_crawler.frontier.visits.trying_again import ask_once_more  # only after failures

                ask_once_more(self._ledger)
            return None
        visit = self._without_traps(capture, mode.next(strategy, now), strategy, now)
        if visit is None:
            if capture.owed.pending or mode.owes_more(now):
                if not capture.later and not any(host.retries for host in self._ledger.hosts):
                    return None
                from sharc_crawler.frontier.visits.trying_again import leaves_behind  # only after failures

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
