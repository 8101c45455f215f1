"""What failed is tried again, later each time; after T, where all other pages would age as they wait for it."""

from __future__ import annotations

import math

from sharc_crawler.frontier.admission import Admitter
from sharc_crawler.frontier.capture import SiteCapture
from sharc_crawler.frontier.hosts import Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.lifecycle import Event, State
from sharc_crawler.frontier.visits.delaying import AWAY, LATER
from sharc_crawler.model import Fetch, HowMade, Instant, Kind, Outcome, Phase, Result, Seconds, Slot, Visit
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.polling.polls import Polls
from sharc_crawler.strategies.door import Door

PASSING = {429, 502, 503, 504}  #: what says that there may be an answer later; so does no answer at all
LASTING = ("no such host", "the TLS certificate", "TLS failed")  #: failures that do not pass in minutes
NO_TLS = "wrong version number"  #: a port that speaks another protocol, as to plain HTTP
#: of what has one attempt: what is over a limit is so at each, and a proxy that wants a password goes on to want it
ONCE = ("larger than", "closed by the proxy", "status 407")
RULES = 4  #: more attempts at what many pages hang on: five minutes in all
SITEMAPS = 2  #: the same, of sitemaps that no claim rests on: one on the way and one at the end
MOST_DOUBLED = 30  #: times a back-off is: an instant crawl may last for years


def comes_again(ledger: Ledger, admitter: Admitter, fetch: Fetch, task: Task, outcome: Outcome) -> bool:
    """Is it asked for again, whether it failed or is refused by a host that throttles?"""
    if outcome.result is Result.FAILED:
        return is_tried_again(ledger, fetch, task, outcome)
    from sharc_crawler.frontier.visits.throttling import is_put_off  # where many pages are refused

    return is_put_off(ledger, admitter, fetch, task, outcome)


def is_tried_again(ledger: Ledger, fetch: Fetch, task: Task, outcome: Outcome) -> bool:
    """After a failure: are attempts left? There are more where it may pass: of a page one, at the end of the visits.

    What is too large, or closed by a proxy, has one in all. Of robots.txt and sitemaps, which many pages hang on, there
    are several. An instant crawl has as many as there is time for: its hub goes on naming the page.
    """
    politeness, capture = ledger.politeness, ledger.capture
    left_alone = (outcome.retry_after or 0.0) > politeness.longest_pause
    if fetch.kind is Kind.ROBOTS and left_alone:
        return False  # its host is left out
    if (outcome.error or "").startswith(ONCE):
        return False
    if task.slot is Slot.SECOND and capture.budget.spare(outcome.ended) < 0:
        return False
    if task.attempt < politeness.attempts or task.attempt == 1:
        return task.attempt < politeness.attempts
    first = fetch.kind is Kind.PAGE and ledger.pages.states[task.page] == State.LEASED and not capture.turned
    passing = _passes(fetch, outcome)
    if (polls := ledger.shared.polls) is not None:  # what was read of robots.txt before holds on
        unread = fetch.kind is Kind.ROBOTS and not ledger.hosts[ledger.pages.hosts[task.page]].rules
        return (unread or (first and passing)) and outcome.ended + (outcome.retry_after or 0.0) < polls.ends
    more = first or _more(ledger, fetch)
    return task.attempt < politeness.attempts + more and passing and not left_alone and capture.mode.whole


def _passes(fetch: Fetch, outcome: Outcome) -> bool:
    """May it be answered in some minutes?"""
    if outcome.status is None:
        error = outcome.error or ""
        lasting = NO_TLS in error or (fetch.kind is not Kind.PAGE and error.startswith(LASTING))
        return not outcome.length and not lasting
    return outcome.status in PASSING or (fetch.kind is Kind.ROBOTS and outcome.status >= 500)


def _more(ledger: Ledger, fetch: Fetch) -> int:
    """Attempts beyond those of a page, at what has not been read before; a plan of a crawl is wanted at once."""
    capture = ledger.capture
    if capture.spec.mode == "survey" or capture.turned or fetch.slot is Slot.SECOND:
        return 0
    if fetch.kind is Kind.SITEMAP:
        return RULES if capture.mode.attests else SITEMAPS
    unread = fetch.kind is Kind.ROBOTS and ledger.hosts[ledger.pages.hosts[fetch.page]].rules is None
    return RULES if unread else 0


def try_again(ledger: Ledger, task: Task, outcome: Outcome) -> None:
    """Back off after a failure, twice as long each time, until the end at last; the page is not lost."""
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
        ledger.ring.wake_all()  # others may have waited for it
        if not _has_its_turn(ledger.capture, task):
            ledger.capture.later.append((outcome.ended + max(wait, LATER * politeness.back_off), again))
        return
    elif ledger.leaves_hosts and host.away >= AWAY:
        host.retry(again, outcome.ended)  # for nothing: it is refused
    else:
        longer = last and outcome.result is Result.FAILED
        least = max(LATER * politeness.back_off, _back_off(ledger, task)) if longer else 0.0
        host.retry(again, outcome.ended + max(wait, least))
    ledger.ring.wake(number)


def _back_off(ledger: Ledger, task: Task) -> Seconds:
    return ledger.politeness.back_off * 2.0 ** min(task.attempt - 1, MOST_DOUBLED)


def _wait(ledger: Ledger, task: Task, outcome: Outcome) -> Seconds:
    """How long it waits, by its failures and by what its host asks for."""
    wait = _back_off(ledger, task) if outcome.result is Result.FAILED else 0.0
    if outcome.retry_after is None:
        return wait
    longest = ledger.politeness.longest_pause
    return outcome.retry_after if outcome.retry_after <= longest else longest + wait  # behind another URL


def _among_polls(ledger: Ledger, polls: Polls, task: Task, outcome: Outcome) -> Instant:
    """When an instant crawl asks again, which does so until its end, no more seldom than it may poll."""
    host = ledger.hosts[ledger.pages.hosts[task.page]]
    robots = ledger.pages.kinds[task.page] is Kind.ROBOTS
    if robots and task.attempt == ledger.politeness.attempts and host.name in ledger.seeded:
        ledger.capture.owed.was_read(host.name)  # visits of other hosts wait no longer
    longest = polls.terms.every if robots else polls.terms.longest  # its hubs would be polled as often
    wait = max(min(_back_off(ledger, task), longest), outcome.retry_after or 0.0)
    return min(outcome.ended + wait, polls.ends)


def _has_its_turn(capture: SiteCapture, task: Task) -> bool:
    """A hub was visited before its turn: it is no hub any more, and is asked for again when that comes."""
    if capture.strategy is None or not capture.strategy.waits_for(task.page):
        return False
    capture.owed.ended()
    capture.mode.closed(task.page, "")
    return True


def _waits_at_its_host(ledger: Ledger, task: Task, outcome: Outcome) -> bool:
    """Is it asked for again when its time has come, not at the end? Said once; visits wait for no sitemap any longer.

    They do where pages are claimed by sitemaps.
    """
    capture, page, first = ledger.capture, task.page, task.attempt == ledger.politeness.attempts
    kind, why = ledger.pages.kinds[page], outcome.error or f"status {outcome.status}"
    waits = kind is Kind.ROBOTS or (kind is Kind.SITEMAP and capture.mode.attests)
    if not waits and not (kind is Kind.SITEMAP and first):
        return False
    until = "before any page of its host" if waits else "while pages were visited, and at the end of the visits"
    if not waits:
        capture.owed.was_read(page)  # as far as visits are concerned
        capture.owed.unread.add(page)
        ledger.ring.wake_all()
    if first:
        capture.note(
            HowMade(
                f"{ledger.pages.urls[page]} was not had at once ({why}). It was asked for again, for some minutes,"
                f" {until}"
            )
        )
        ledger.changed_capture()
    return True


def leaves_behind(ledger: Ledger, strategy: Door, now: Instant) -> bool:
    """Does T wait for the retries of first visits alone, and is it better not to? They come after T then.

    Nothing is claimed of such a page. It is better where more pages are expected to change while T waits than are
    tried again, and where these hardly lead to others: where none of the later half of the visits did.
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
    capture.again |= failed.keys()  # the strategy is through with them, and they are downloaded all the same
    for _, task in waiting:
        if task.page in failed:
            strategy.finished(Visit(task.page, task.slot, task.plan), captured=False)
    return True


def ask_once_more(ledger: Ledger) -> None:
    """If nothing else is under way, what failed is owed again, each host's once it has had time to recover."""
    capture = ledger.capture
    if not capture.later or len(capture.later) < capture.owed.pending:
        return
    tasks, capture.later = capture.later, []
    for due, task in tasks:
        number = ledger.pages.hosts[task.page]
        ledger.hosts[number].lost = 0  # of these alone
        ledger.hosts[number].retry(task, due)
        ledger.ring.wake(number)
    _say(ledger, sum(ledger.pages.kinds[task.page] is Kind.PAGE for _, task in tasks))


def _say(ledger: Ledger, pages: int) -> None:
    if not pages:
        return
    ledger.capture.note(
        f"{counted(pages, 'page')} that had failed {counted(ledger.politeness.attempts, 'time')}"
        f" {agreeing(pages, 'were')} kept for one more attempt at the end of the visits"
    )
    ledger.changed_capture()


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
