"""Which download comes next on a host that is free: what it owes, a capture's next visit, a hub's poll."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sharc_crawler.frontier.hosts import Task
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.modes.attested import Redownloader
from sharc_crawler.model import Phase, Slot

if TYPE_CHECKING:
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.finishing import Finisher
    from sharc_crawler.frontier.hosts import Host
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.frontier.modes.attested import Checker
    from sharc_crawler.frontier.modes.two_visits import Replanner
    from sharc_crawler.frontier.opening import Opener
    from sharc_crawler.model import Instant

MAX_HELD = 64  #: pages taken from a strategy for hosts that are not free, per decision


class Chooser:
    """Asks the captures of a host, in turn."""

    def __init__(
        self, ledger: Ledger, opener: Opener, finisher: Finisher, checker: Checker, replanner: Replanner
    ) -> None:
        self._ledger = ledger
        self._opener = opener
        self._finisher = finisher
        self._checker = checker
        self._redownloader = Redownloader(ledger, checker)
        self._replanner = replanner

    def choose(self, number: int, host: Host, now: Instant) -> Task | None:
        """The best thing to do on this host."""
        return host.owed(now) or self._visit(number, host, now) or self._poll(number, host, now)

    def _visit(self, number: int, host: Host, now: Instant) -> Task | None:
        """Ask the captures whose pages may lie on this host, in turn."""
        if host.waits:
            return None
        for capture_number in list(host.captures):
            capture = self._ledger.captures[capture_number]
            if capture.phase is Phase.DONE:
                del host.captures[capture_number]
                continue
            for _ in range(MAX_HELD):
                task = self._ask(capture, now)
                if task is None:
                    break
                other = self._ledger.pages.hosts[task.page]
                if other == number:
                    if len(host.captures) > 1:  # the next capture's turn comes first
                        host.captures[capture_number] = host.captures.pop(capture_number)
                    return task
                self._ledger.hosts[other].held.append(task)
                self._ledger.ring.wake(other)
        return host.owed(now)  # what the captures have come to owe while they were asked

    def _ask(self, capture: SiteCapture, now: Instant) -> Task | None:
        """One decision of a capture's strategy; ends the capture when there is none left and nothing is under way."""
        if capture.opening or (capture.attesting and self._redownloader.redownload(capture)):
            return None
        if capture.held is not None:
            task, capture.held = capture.held, None
            return task
        strategy = self._opener.begin(capture, now) if capture.strategy is None else capture.strategy
        if capture.pending and capture.phase is Phase.VISIT and strategy.revisits and len(strategy) == 1:
            return None  # T waits for what a page alone embeds on other hosts: no other page has to wait with it
        if self._replanner.under_way(capture, strategy, now):
            return None
        if capture.attesting and strategy.revisits_ahead() and self._checker.begin_reference(capture):
            return None
        visit = strategy.next(now)
        if visit is None:
            busy = capture.pending or self._ledger.polls.open(capture.number, now) or self._checker.check(capture)
            if busy:
                return None
            self._finisher.complete(capture, now)
            return None if capture.phase is Phase.DONE else self._ask(capture, now)  # the next part of the site
        if capture.attesting and strategy.past_reference and self._checker.begin_reference(capture):
            capture.pending += 1
            capture.held = Task(visit.page, visit.slot, visit.plan)
            return None
        if visit.slot is Slot.SECOND and capture.phase is Phase.VISIT:
            self._finisher.turn(capture, now)
        capture.pending += 1
        return Task(visit.page, visit.slot, visit.plan)

    def _poll(self, number: int, host: Host, now: Instant) -> Task | None:
        """Nothing new is to be fetched on this host: has one of its hubs something?"""
        hub = None if host.waits else self._ledger.polls.take(number, now)
        if hub is None:
            return None
        self._ledger.captures[self._ledger.pages.captures[hub]].pending += 1
        return Task(hub, Slot.FIRST if self._ledger.pages.states[hub] == State.QUEUED else Slot.SECOND)

    def later(self, number: int, host: Host, now: Instant) -> Instant:
        """When the host has something to do by itself; inf: never."""
        polled = math.inf if host.waits else self._ledger.polls.due(number, now)
        return min(host.retries[0][0], polled) if host.retries else polled
