"""What failed is tried again, later each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.hosts import AWAY
from sharc_crawler.frontier.lifecycle import Event
from sharc_crawler.model import Result

if TYPE_CHECKING:
    from sharc_crawler.frontier.hosts import Task
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Outcome


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
