"""What failed is tried again, later each time; after T, where all other pages would age as they wait for it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sharc_crawler.frontier.hosts import AWAY
from sharc_crawler.frontier.lifecycle import Event, State
from sharc_crawler.model import Kind, Phase, Result, Visit

if TYPE_CHECKING:
    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Instant, Outcome
    from sharc_crawler.strategies.door import Door


def try_again(ledger: Ledger, task: Task, outcome: Outcome) -> None:
    """Back off after a failure, twice as long each time; the page is not lost."""
    wait = ledger.politeness.back_off * 2 ** (task.attempt - 1) if outcome.result is Result.FAILED else 0.0
    if outcome.retry_after is not None:
        longest = ledger.politeness.longest_pause
        wait = outcome.retry_after if outcome.retry_after <= longest else longest + wait  # behind another URL
    ledger.pages.move(task.page, Event.GIVEN_BACK)
    number = ledger.pages.hosts[task.page]
    host = ledger.hosts[number]
    if ledger.leaves_hosts and host.away >= AWAY:
        wait = 0.0  # for nothing: it is refused
    host.retry(task._replace(attempt=task.attempt + 1), outcome.ended + wait)
    ledger.ring.wake(number)


def leaves_behind(ledger: Ledger, strategy: Door, now: Instant) -> bool:
    """Does T wait for the retries of first visits alone, and is it better not to? They come after T then.

    Nothing is claimed of such a page. It is better where more pages are expected to change while T waits than are
    tried again, and where these hardly lead to others: where none of the later half of the visits did.
    """
    capture = ledger.capture
    if capture.phase is not Phase.VISIT or not capture.mode.whole or not strategy.revisits or strategy.attests:
        return False
    waiting = [(due, task) for host in ledger.hosts for due, _, task in host.retries]
    failed = {task.page: due for due, task in waiting if task.attempt > 1 and _is_first(ledger, task)}
    if not failed or len(waiting) < capture.owed.pending:
        return False
    if _changing(ledger, now, min(failed.values())) <= len(failed) or _finds_pages(ledger):
        return False
    capture.lost_records(capture.again | failed.keys())
    for _, task in waiting:
        if task.page in failed:
            strategy.finished(Visit(task.page, task.slot, task.plan), captured=False)
    return True


def _is_first(ledger: Ledger, task: Task) -> bool:
    """The first visit of a page, not another look at it."""
    first = ledger.pages.kinds[task.page] is Kind.PAGE and ledger.pages.states[task.page] == State.QUEUED
    return first and task.page not in ledger.capture.again


def _changing(ledger: Ledger, now: Instant, until: Instant) -> float:
    """How many pages are expected to be as they were visited now, and not ``until`` then."""
    visits = [(ledger.pages.rates[page], ledger.pages.started[page]) for page in ledger.pages.pages_in(State.VISITED)]
    return sum(math.exp(rate * (visit - now)) - math.exp(rate * (visit - until)) for rate, visit in visits)


def _finds_pages(ledger: Ledger) -> bool:
    """Was a page of the later half of the visits the first to name another?"""
    pages = ledger.pages
    visited = pages.pages_in(State.VISITED)
    named = {pages.parents[page] for page in range(len(pages)) if pages.kinds[page] is Kind.PAGE}
    last = max((pages.started[page] for page in visited if page in named), default=0.0)
    return 2 * sum(pages.started[page] > last for page in visited) < len(visited)
