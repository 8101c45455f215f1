"""A host that asks for a rest without saying so: from some request on it refuses all, each time with the same answer.

It is one that answered many pages, and now answers several in a row with 403, 404, a redirect to one place or nothing.
So does a section that is closed: the host is throttling only if a page that it had shown is refused alike, too. It is
asked for at an address of its own, which some servers do not have: after a 404 the host has a rest, and is throttling
only if a page that it had refused is shown then.
"""

from __future__ import annotations

from sharc_crawler.addresses.unlikely import look_at
from sharc_crawler.frontier.admission import Admitter
from sharc_crawler.frontier.hosts import Host, Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.traps.probing import FOUND
from sharc_crawler.frontier.visits.delaying import LATER, LEAST, MOST
from sharc_crawler.model import Fetch, Instant, Kind, Outcome, PageId, Result, Seconds, Sighting, Slot
from sharc_crawler.plural import counted

ALIKE = 5  #: pages in a row, twice as many after each time that a page was shown all the same
PAUSES = 4  #: in a row, each twice as long as the one before: a quarter of an hour
VAIN = 2  #: of these, before it is known whether they help
_PAGE, _SECOND, _OK = Kind.PAGE, Slot.SECOND, Result.OK  # looked up once


class Refusals:
    """What one host refuses."""

    __slots__ = (
        "asked", "before", "cleared", "confirmed", "due", "like", "pace", "pauses", "probes", "put_off", "suspected",
        "times", "waits",
    )  # fmt: skip

    def __init__(self) -> None:
        self.like = ""  #: what is refused at present; empty: nothing
        self.times = 0  #: pages in a row
        self.asked = ""  #: a page that was shown before, as it is asked for
        self.waits = False  #: for its answer
        self.probes = 0
        self.suspected = ""  #: how that was refused, where it may not be there
        self.put_off: set[PageId] = set()  #: pages, since then
        self.cleared = False  #: a rest did not help: nothing that may not be there is asked for again
        self.pace: Seconds = 0.0  #: at which it was asked before that
        self.before = 0  #: pages that were refused in a row before that
        self.confirmed = ""  #: how it was refused: the host throttles so
        self.pauses = 0  #: in a row, in vain
        self.due: Instant = 0.0  #: when the page that was refused last is asked for again

    def saw(self, like: str) -> None:
        """A page was answered."""
        self.times = self.times + 1 if like and like == self.like else int(bool(like))
        self.like = like
        self.pauses = self.pauses if like else 0


def likeness(outcome: Outcome) -> str:
    """What pages that are refused alike have in common; empty: it is an answer.

    >>> from sharc_crawler.model import Outcome, Result
    >>> likeness(Outcome(Result.REDIRECTED, 0.0, 1.0, 302, location="http://h/busy?from=/7"))
    'a redirect to http://h/busy'
    """
    if outcome.result is Result.REDIRECTED:
        return f"a redirect to {(outcome.location or '').partition('?')[0]}"
    return f"status {outcome.status}" if outcome.result in (Result.REFUSED, Result.GONE) else ""


def is_put_off(ledger: Ledger, admitter: Admitter, fetch: Fetch, task: Task, outcome: Outcome) -> bool:
    """A page or a probe was answered; ``True``: its host throttles, and the page is asked for again later."""
    number, capture = ledger.pages.hosts[fetch.page], ledger.capture
    known, like = capture.refusals.get(number), "" if outcome.result is _OK else likeness(outcome)
    if known and known.waits and fetch.kind is Kind.PROBE and fetch.url == known.asked:
        _probed(ledger, ledger.hosts[number], known, outcome, like)
    if fetch.kind is not _PAGE or fetch.slot is _SECOND or outcome.result is Result.FAILED:
        return False
    if not like and not (known and known.probes):  # a short row, if there was one, is over
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
    """Ask once more for a page that the host had shown, at an address that no judgement rests on."""
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
    """A page was answered while the host is suspected: was it put off, and did the rest help?"""
    if page in known.put_off and not like:
        _confirm(ledger, host, known, "after a rest it showed one of them")
    elif known.put_off and (not like or known.pauses >= VAIN):  # others are shown, or nothing is
        if like:
            ledger.capture.note(
                f"{host.name} answered {like} to page after page, and after a rest, too: they are taken"
                " for pages that are not there. If they are, a longer delay= may get them"
            )
            ledger.changed_capture()
        known.suspected, known.pauses, host.asked = "", 0, known.pace
        known.cleared = True


def _confirm(ledger: Ledger, host: Host, known: Refusals, how: str) -> None:
    known.confirmed, known.suspected = known.suspected, ""
    ledger.capture.note(
        f"{host.name} answered {known.confirmed} to page after page, and {how}: it refuses who asks too often. It was"
        " asked less often then, and for refused pages again. Before that was known,"
        f" {counted(known.before, 'page')} came out so: a longer delay= may get them"
    )
    ledger.changed_capture()


def _waits(ledger: Ledger, number: int, known: Refusals, task: Task, outcome: Outcome) -> bool:
    """Is a page asked for again that is refused as the host refuses when it throttles?"""
    host, back_off = ledger.hosts[number], ledger.politeness.back_off
    if ledger.politeness.attempts == 1 or (task.attempt > 1 and known.times == 1):
        return False  # others were shown meanwhile: it is this page
    if known.pauses >= PAUSES:
        ledger.capture.note(
            f"{host.name} refused pages for a quarter of an hour ({known.like}): the others that it"
            " refused are not captured. A longer delay= may get them"
        )
        ledger.changed_capture()
        return False
    due = outcome.ended + LATER * back_off * 2**known.pauses
    if known.times > 1:
        known.pauses += 1
        host.asked = min(max(2 * host.delay, LEAST), max(host.delay, MOST))
        host.pace.pause(due)
    known.due = due
    return True
