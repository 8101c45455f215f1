"""Refuse queued downloads: robots.txt, the budget or a trap forbids them."""

from __future__ import annotations

from sharc_crawler.frontier.budget import PREFIX
from sharc_crawler.frontier.capture import SiteCapture
from sharc_crawler.frontier.hosts import Host, Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.opening import Opener
from sharc_crawler.model import Instant, Kind, Outcome, Result, Slot, Visit
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.state.lifecycle import Event, State


def refuse(ledger: Ledger, opener: Opener, task: Task, reason: str, now: Instant) -> None:
    """Refuse a download: its page is lost without a request, or never revisited.

    ``reason``: empty if robots.txt forbids it.
    """
    capture = ledger.capture
    reason = reason or forbidden(ledger.hosts[ledger.pages.hosts[task.page]])
    capture.owed.ended()
    page_visited = ledger.pages.kinds[task.page] is Kind.PAGE and ledger.pages.states[task.page] == State.VISITED
    looked_at = page_visited and task.slot is not Slot.SECOND
    never_visited = ledger.pages.kinds[task.page] is Kind.PAGE and task.slot is not Slot.SECOND
    if (reason.startswith(PREFIX) or never_visited) and not looked_at:
        capture.budget.forgone(task, reason)
        if reason.startswith(PREFIX) and never_visited and ledger.pages.listed(task.page):
            former, capture.budget.listed = capture.budget.listed, capture.budget.listed + 1
            capture.note(_of_sitemaps(former + 1), instead_of=_of_sitemaps(former))
    ledger.pages.move(task.page, Event.LEASE)
    ledger.pages.move(task.page, Event.NO_CONTENT)
    ledger.refused(task, reason, now)
    kind = ledger.pages.kinds[task.page]
    if kind is Kind.PAGE:
        if looked_at:  # a second look before T: the first visit stands
            refused = Outcome(Result.REFUSED, now, now, error=reason)
            capture.mode.visited_again(task.page, ledger.pages.remembered(task.page), refused)
        else:
            _refuse_page(capture, task)
    elif kind is Kind.HUB:
        capture.mode.closed(task.page, reason)
    elif kind is Kind.ROBOTS:
        opener.robots_read(capture, task.page, Outcome(Result.FAILED, now, now, error=reason))
    elif kind is Kind.SITEMAP:
        capture.owed.was_read(task.page)
        capture.note(f"sitemap {ledger.pages.urls[task.page]}: {reason}")
    ledger.ring.wake_all()


def _of_sitemaps(number: int) -> str:
    return f"{counted(number, 'page')} that sitemaps name {agreeing(number, 'were')} left by the budget"


def forbidden(host: Host) -> str:
    """Return why a host's rules forbid a fetch."""
    return f"robots.txt {host.missing or host.too_slow or 'disallows it'}"


def _refuse_page(capture: SiteCapture, task: Task) -> None:
    again = task.slot is Slot.SECOND
    if capture.strategy is None or (again and capture.mode.audits(task.page)):
        return
    capture.counts.dropped += 1
    if again:
        capture.counts.revisited()
    else:
        capture.counts.visited(captured=False)
    if task.page not in capture.again:  # the strategy is through with it
        capture.strategy.finished(Visit(task.page, task.slot, task.plan), captured=again)
