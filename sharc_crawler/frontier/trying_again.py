"""Retry failed fetches, later each time, perhaps only after T; refuse what robots.txt, the budget or a trap forbids."""

from __future__ import annotations

import math

from sharc_crawler.frontier.admission import Admitter
from sharc_crawler.frontier.capture import PREFIX, SiteCapture
from sharc_crawler.frontier.hosts import Host, Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.opening import Opener
from sharc_crawler.frontier.throttling import AWAY, LATER, is_put_off
from sharc_crawler.model import Fetch, HowMade, Instant, Kind, Outcome, Phase, Result, Seconds, Slot, Visit
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.polling.polls import Polls
from sharc_crawler.state.lifecycle import Event, State
from sharc_crawler.strategies.door import Door

PASSING = {429, 502, 503, 504}  #: statuses of failures that may pass; so may no answer at all
LASTING = ("no such host", "the TLS certificate", "TLS failed")  #: failures that do not pass in minutes
NO_TLS = "wrong version number"  #: error of a port without TLS, such as plain HTTP
#: errors that no retry changes: beyond a size limit, or a proxy that wants a password
ONCE = ("larger than", "closed by the proxy", "status 407")
RULES = 4  #: more attempts at robots.txt, on which many pages depend: five minutes in all
SITEMAPS = 2  #: more attempts at sitemaps that no claim rests on: one during visits, one at the end
MOST_DOUBLED = 30  #: doublings of a back-off: an instant crawl may last for years


def comes_again(ledger: Ledger, admitter: Admitter, fetch: Fetch, task: Task, outcome: Outcome) -> bool:
    """Is a fetch retried, as it failed or as its host throttles?"""
    if outcome.result is Result.FAILED:
        return is_tried_again(ledger, fetch, task, outcome)
    return is_put_off(ledger, admitter, fetch, task, outcome)


def is_tried_again(ledger: Ledger, fetch: Fetch, task: Task, outcome: Outcome) -> bool:
    """Are attempts left after a failure? A failure that may pass allows a page one more at the end of the visits.

    robots.txt and sitemaps, on which many pages depend, get several more; what is too large, or closed by a proxy, has
    one in all. An instant crawl retries for as long as it lasts: its hub goes on naming the page.
    """
    politeness, capture = ledger.politeness, ledger.capture
    left_alone = (outcome.retry_after or 0.0) > politeness.longest_pause
    if fetch.kind is Kind.ROBOTS and left_alone:
        return False  # the host is left out
    if (outcome.error or "").startswith(ONCE):
        return False
    if task.slot is Slot.SECOND and capture.budget.spare(outcome.ended) < 0:
        return False
    if task.attempt < politeness.attempts or task.attempt == 1:
        return task.attempt < politeness.attempts
    first = fetch.kind is Kind.PAGE and ledger.pages.states[task.page] == State.LEASED and not capture.turned
    passing = _passes(fetch, outcome)
    if (polls := ledger.shared.polls) is not None:  # a robots.txt read before stays valid
        unread = fetch.kind is Kind.ROBOTS and not ledger.hosts[ledger.pages.hosts[task.page]].rules
        return (unread or (first and passing)) and outcome.ended + (outcome.retry_after or 0.0) < polls.ends
    more = first or _more(ledger, fetch)
    return task.attempt < politeness.attempts + more and passing and not left_alone and capture.mode.whole


def _passes(fetch: Fetch, outcome: Outcome) -> bool:
    """May the failure pass in some minutes?"""
    if outcome.status is None:
        error = outcome.error or ""
        lasting = NO_TLS in error or (fetch.kind is not Kind.PAGE and error.startswith(LASTING))
        return not outcome.length and not lasting
    return outcome.status in PASSING or (fetch.kind is Kind.ROBOTS and outcome.status >= 500)


def _more(ledger: Ledger, fetch: Fetch) -> int:
    """Return how many more attempts than a page unread robots.txt and sitemaps get; none in a survey."""
    capture = ledger.capture
    if capture.spec.mode == "survey" or capture.turned or fetch.slot is Slot.SECOND:
        return 0
    if fetch.kind is Kind.SITEMAP:
        return RULES if capture.mode.attests else SITEMAPS
    unread = fetch.kind is Kind.ROBOTS and ledger.hosts[ledger.pages.hosts[fetch.page]].rules is None
    return RULES if unread else 0


def try_again(ledger: Ledger, task: Task, outcome: Outcome) -> None:
    """Queue a failed task again, after a back-off that doubles each time; the last time at the end of the visits."""
    politeness, number = ledger.politeness, ledger.pages.hosts[task.page]
    host, again = ledger.hosts[number], task._replace(attempt=task.attempt + 1)
    ledger.pages.move(task.page, Event.GIVEN_BACK)
    last, wait = task.attempt >= politeness.attempts, _wait(ledger, task, outcome)
    if outcome.result not in (Result.FAILED, Result.NOT_MODIFIED) and number in ledger.capture.refusals:
        host.retry(task._replace(attempt=2), ledger.capture.refusals[number].due)
    elif last and ledger.shared.polls is not None:
        host.retry(again, _among_polls(ledger, ledger.shared.polls, task, outcome))
    elif last and outcome.result is Result.FAILED and not _waits_at_its_host(ledger, task, outcome):
        host.over(outcome)
        ledger.ring.wake_all()  # others may wait for it
        if not _has_its_turn(ledger.capture, task):
            ledger.capture.later.append((outcome.ended + max(wait, LATER * politeness.back_off), again))
        return
    elif ledger.leaves_hosts and host.away >= AWAY:
        host.retry(again, outcome.ended)  # it will be refused
    else:
        longer = last and outcome.result is Result.FAILED
        least = max(LATER * politeness.back_off, _back_off(ledger, task)) if longer else 0.0
        host.retry(again, outcome.ended + max(wait, least))
    ledger.ring.wake(number)


def _back_off(ledger: Ledger, task: Task) -> Seconds:
    return ledger.politeness.back_off * 2.0 ** min(task.attempt - 1, MOST_DOUBLED)


def _wait(ledger: Ledger, task: Task, outcome: Outcome) -> Seconds:
    """Return how long a task waits, by its failures and its Retry-After."""
    wait = _back_off(ledger, task) if outcome.result is Result.FAILED else 0.0
    if outcome.retry_after is None:
        return wait
    longest = ledger.politeness.longest_pause
    return outcome.retry_after if outcome.retry_after <= longest else longest + wait  # so that other URLs come first


def _among_polls(ledger: Ledger, polls: Polls, task: Task, outcome: Outcome) -> Instant:
    """Return when an instant crawl retries: until its end, and at least as often as it may poll."""
    host = ledger.hosts[ledger.pages.hosts[task.page]]
    robots = ledger.pages.kinds[task.page] is Kind.ROBOTS
    if robots and task.attempt == ledger.politeness.attempts and host.name in ledger.seeded:
        ledger.capture.owed.was_read(host.name)  # other hosts' visits no longer wait
    longest = polls.terms.every if robots else polls.terms.longest  # as often as its hubs are polled
    wait = max(min(_back_off(ledger, task), longest), outcome.retry_after or 0.0)
    return min(outcome.ended + wait, polls.ends)


def _has_its_turn(capture: SiteCapture, task: Task) -> bool:
    """Was it a hub visited before its turn? Then it is a hub no longer, and is visited in its turn."""
    if capture.strategy is None or not capture.strategy.waits_for(task.page):
        return False
    capture.owed.ended()
    capture.mode.closed(task.page, "")
    return True


def _waits_at_its_host(ledger: Ledger, task: Task, outcome: Outcome) -> bool:
    """Is it retried after its back-off, not at the end? This is noted once.

    Visits no longer wait for a failed sitemap, unless claims rest on sitemaps.
    """
    capture, page, first = ledger.capture, task.page, task.attempt == ledger.politeness.attempts
    kind, why = ledger.pages.kinds[page], outcome.error or f"status {outcome.status}"
    waits = kind is Kind.ROBOTS or (kind is Kind.SITEMAP and capture.mode.attests)
    if not waits and not (kind is Kind.SITEMAP and first):
        return False
    until = "before any page of its host" if waits else "while pages were visited, and at the end of the visits"
    if not waits:
        capture.owed.was_read(page)  # visits wait no longer; T does
        capture.owed.unread.add(page)
        ledger.ring.wake_all()
    if first:
        capture.note(
            HowMade(
                f"{ledger.pages.urls[page]} could not be read at first ({why}). It was requested again, for some"
                f" minutes, {until}"
            )
        )
    return True


def leaves_behind(ledger: Ledger, strategy: Door, now: Instant) -> bool:
    """Does T wait only for retries of first visits, and is it better not to? Then these come after T.

    Nothing is claimed of such a page. It is better if more pages are expected to change while T waits than are retried,
    and if the retried ones hardly lead to others: if no page visited in the later half did.
    """
    capture = ledger.capture
    ask_once_more(ledger)
    if capture.phase is not Phase.VISIT or not capture.mode.whole or not strategy.revisits or strategy.attests:
        return False
    waiting = [(due, task) for host in ledger.hosts for due, _, task in host.retries]
    failed = {task.page: due for due, task in waiting if task.attempt > 1 and _is_first(ledger, task)}
    if not failed or len(waiting) < capture.owed.pending or capture.owed.unread:
        return False
    if _changing(ledger, now, max(now, min(failed.values()))) <= len(failed) or _finds_pages(ledger):
        return False
    capture.again |= failed.keys()  # they are downloaded, but the strategy has finished with them
    for _, task in waiting:
        if task.page in failed:
            strategy.finished(Visit(task.page, task.slot, task.plan), captured=False)
    return True


def ask_once_more(ledger: Ledger) -> None:
    """If nothing else is under way, owe failed tasks once more, when their hosts have had time to recover."""
    capture = ledger.capture
    if not capture.later or len(capture.later) < capture.owed.pending:
        return
    tasks, capture.later = capture.later, []
    for due, task in tasks:
        number = ledger.pages.hosts[task.page]
        ledger.hosts[number].lost = 0  # count failures of these retries only
        ledger.hosts[number].retry(task, due)
        ledger.ring.wake(number)
    if pages := sum(ledger.pages.kinds[task.page] is Kind.PAGE for _, task in tasks):
        capture.note(
            f"{counted(pages, 'page')} that had failed {counted(ledger.politeness.attempts, 'time')}"
            f" {agreeing(pages, 'were')} kept for one more attempt at the end of the visits"
        )


def _is_first(ledger: Ledger, task: Task) -> bool:
    """Is it a page's first visit, not a second look?"""
    first = ledger.pages.kinds[task.page] is Kind.PAGE and ledger.pages.states[task.page] == State.QUEUED
    return first and task.page not in ledger.capture.again


def _changing(ledger: Ledger, now: Instant, until: Instant) -> float:
    """Return how many visited pages are expected to be unchanged now, but changed at ``until``."""
    visits = [(ledger.pages.rates[page], ledger.pages.started[page]) for page in ledger.pages.pages_in(State.VISITED)]
    return sum(math.exp(rate * (visit - now)) - math.exp(rate * (visit - until)) for rate, visit in visits)


def _finds_pages(ledger: Ledger) -> bool:
    """Did a page visited in the later half name another page first?"""
    pages = ledger.pages
    visited = pages.pages_in(State.VISITED)
    named = {pages.parents[page] for page in range(len(pages)) if pages.kinds[page] is Kind.PAGE}
    last = max((pages.started[page] for page in visited if page in named), default=0.0)
    return 2 * sum(pages.started[page] > last for page in visited) < len(visited)


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
