"""Hosts that throttle without 429 or 503: from some request on they refuse all pages with the same answer.

Such a host answered many pages, then several in a row with 403, 404 or a redirect to one place. A closed section looks
the same, so a page that the host had shown is probed: the host throttles if that is refused alike, too. The probe has a
URL of its own, which some servers answer with 404. Then the host is paused, and it throttles if a page that it had
refused is shown afterwards.
"""

from __future__ import annotations

from sharc_crawler.addresses.unlikely import look_at
from sharc_crawler.frontier.admission import Admitter
from sharc_crawler.frontier.hosts import Host, Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.probing import FOUND
from sharc_crawler.frontier.visits.delaying import LATER, LEAST, MOST
from sharc_crawler.model import Fetch, Instant, Kind, Outcome, PageId, Result, Seconds, Sighting, Slot
from sharc_crawler.plural import counted
from sharc_crawler.state.lifecycle import State

ALIKE = 5  #: pages refused in a row before a probe; doubled after each probe
PAUSES = 4  #: in a row, each twice as long as the last: a quarter of an hour in all
VAIN = 2  #: pauses before it is known whether they help
_PAGE, _SECOND, _OK = Kind.PAGE, Slot.SECOND, Result.OK  # local names are faster


class Refusals:
    """The refusals of one host."""

    __slots__ = (
        "asked", "before", "cleared", "confirmed", "due", "like", "pace", "pauses", "probes", "put_off", "suspected",
        "times", "waits",
    )  # fmt: skip

    def __init__(self) -> None:
        self.like = ""  #: how it refuses at present; empty: it does not
        self.times = 0  #: pages refused so in a row
        self.asked = ""  #: URL of the probe for a page shown before
        self.waits = False  #: the probe is not answered yet
        self.probes = 0
        self.suspected = ""  #: how the probe was refused, while that may mean "not found"
        self.put_off: set[PageId] = set()  #: pages refused since then
        self.cleared = False  #: a pause did not help: 404s count as "not found"
        self.pace: Seconds = 0.0  #: the delay that robots.txt asked for, before it was raised
        self.before = 0  #: pages refused in a row before the probe
        self.confirmed = ""  #: how the host throttles, once that is known
        self.pauses = 0  #: pauses in a row that did not help
        self.due: Instant = 0.0  #: when the page refused last is retried

    def saw(self, like: str) -> None:
        """Count how a page was answered."""
        self.times = self.times + 1 if like and like == self.like else int(bool(like))
        self.like = like
        self.pauses = self.pauses if like else 0


def likeness(outcome: Outcome) -> str:
    """Return how a page was refused, for comparison; empty if it was not.

    >>> from sharc_crawler.model import Outcome, Result
    >>> likeness(Outcome(Result.REDIRECTED, 0.0, 1.0, 302, location="http://h/busy?from=/7"))
    'a redirect to http://h/busy'
    """
    if outcome.result is Result.REDIRECTED:
        return f"a redirect to {(outcome.location or '').partition('?')[0]}"
    return f"status {outcome.status}" if outcome.result in (Result.REFUSED, Result.GONE) else ""


def is_put_off(ledger: Ledger, admitter: Admitter, fetch: Fetch, task: Task, outcome: Outcome) -> bool:
    """Examine an answer to a page or probe; is the page retried later since its host throttles?"""
    number, capture = ledger.pages.hosts[fetch.page], ledger.capture
    known, like = capture.refusals.get(number), "" if outcome.result is _OK else likeness(outcome)
    if known and known.waits and fetch.kind is Kind.PROBE and fetch.url == known.asked:
        _probed(ledger, ledger.hosts[number], known, outcome, like)
    if fetch.kind is not _PAGE or fetch.slot is _SECOND or outcome.result is Result.FAILED:
        return False
    if not like and not (known and known.probes):  # a short row ends
        capture.refusals.pop(number, None)
        return False
    known = known or capture.refusals.setdefault(number, Refusals())
    known.saw(like)
    if known.suspected:
        _after_rest(ledger, ledger.hosts[number], known, task.page, like)
    if like and like in (known.confirmed, known.suspected):
        known.put_off.add(task.page)
        return _waits(ledger, number, known, task, outcome)
    if known.times >= ALIKE * 2**known.probes and not known.waits:
        _probe(ledger, admitter, number, known, outcome.ended)
    return False


def _probe(ledger: Ledger, admitter: Admitter, number: int, known: Refusals, now: Instant) -> None:
    """Probe a page that the host had shown, by a URL that no judgement rests on."""
    pages, capture = ledger.pages, ledger.capture
    shown = [page for page in pages.pages_in(State.VISITED) if pages.hosts[page] == number]
    for page in () if capture.turned else shown[known.probes :][:1]:
        known.asked = look_at(pages.urls[page])
        known.waits = bool(admitter.admit(capture, [Sighting(known.asked, Kind.PROBE, FOUND)], now).new)
    known.probes += 1


def _probed(ledger: Ledger, host: Host, known: Refusals, outcome: Outcome, like: str) -> None:
    known.waits = False
    gone = outcome.result is Result.GONE
    if like and like == known.like and not (gone and known.cleared):
        known.suspected, known.pace, known.before = like, host.asked, known.times
        if not gone:
            _confirm(ledger, host, known, "to one that it had shown before")


def _after_rest(ledger: Ledger, host: Host, known: Refusals, page: PageId, like: str) -> None:
    """While the host is suspected: did the pause help?"""
    if page in known.put_off and not like:
        _confirm(ledger, host, known, "after a rest it showed one of them")
    elif known.put_off and (not like or known.pauses >= VAIN):  # only other pages are shown, or none
        if like:
            ledger.capture.note(
                f"{host.name} answered {like} to page after page, and after a rest, too: they are taken"
                " for pages that are not there. If they are, a longer delay= may get them"
            )
        known.suspected, known.pauses, host.asked = "", 0, known.pace
        known.cleared = True


def _confirm(ledger: Ledger, host: Host, known: Refusals, how: str) -> None:
    known.confirmed, known.suspected = known.suspected, ""
    ledger.capture.note(
        f"{host.name} answered {known.confirmed} to page after page, and {how}: it refuses who asks too often. It was"
        " asked less often then, and for refused pages again. Before that was known,"
        f" {counted(known.before, 'page')} came out so: a longer delay= may get them"
    )


def _waits(ledger: Ledger, number: int, known: Refusals, task: Task, outcome: Outcome) -> bool:
    """Is a page retried that was refused as the host throttles?"""
    host, back_off = ledger.hosts[number], ledger.politeness.back_off
    if ledger.politeness.attempts == 1 or (task.attempt > 1 and known.times == 1):
        return False  # other pages were shown meanwhile: only this one is refused
    if known.pauses >= PAUSES:
        ledger.capture.note(
            f"{host.name} refused pages for a quarter of an hour ({known.like}): the others that it"
            " refused are not captured. A longer delay= may get them"
        )
        return False
    due = outcome.ended + LATER * back_off * 2**known.pauses
    if known.times > 1:
        known.pauses += 1
        host.asked = min(max(2 * host.delay, LEAST), max(host.delay, MOST))
        host.pace.pause(due)
    known.due = due
    return True
