"""Ask a host less often: as it asks, by order, or as it refuses pages; and give it up at last.

Some hosts throttle without 429 or 503: from some request on they refuse all pages with the same answer. Such a host
answered many pages, then several in a row with 403, 404 or a redirect to one place. A closed section looks the same, so
a page that the host had shown is probed: the host throttles if that is refused alike, too. The probe has a URL of its
own, which some servers answer with 404. Then the host is paused, and it throttles if a page that it had refused is
shown afterwards.
"""

from __future__ import annotations

from dataclasses import replace

from sharc_crawler.addresses.unlikely import look_at
from sharc_crawler.errors import StoppedCaptureError
from sharc_crawler.frontier.admission import Admitter
from sharc_crawler.frontier.hosts import TOO_MANY, Host, Task
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.instants import second
from sharc_crawler.model import Fetch, Instant, Kind, Outcome, PageId, Result, Seconds, Sighting, Slot
from sharc_crawler.plural import counted
from sharc_crawler.state.lifecycle import State
from sharc_crawler.traps.common import FOUND

LATER = 12  #: multiples of the first back-off (a minute) before the last retry of a failed page
LEAST, MOST = 0.25, 30.0  #: bounds of the delay, in seconds, for a host that refuses requests
AGAIN = 0.9  #: factor of that delay after each answer
BORNE, REFUSED = 8, 3  #: answers, or refusals, in a row that are no coincidence
FAR = 2  #: multiples of a delay that the host bears: a refusal leads to no longer one, unless several in a row do


def rest(ledger: Ledger, host: Host, fetch: Fetch, outcome: Outcome) -> None:
    """Pause a host for as long as it asks, up to the longest pause; one that is left out needs no pause."""
    asked, longest = outcome.retry_after or 0.0, ledger.politeness.longest_pause
    host.away = host.away + (fetch.attempt == 1) if asked > longest else 0
    out = (host.waits and host.rules is None) or (ledger.leaves_hosts and host.away >= AWAY)  # no robots.txt yet
    if asked and not (out and asked > longest) and (fetch.attempt == 1 or host.row <= 0):  # not if this URL's alone
        host.pace.pause(outcome.ended + min(asked, longest))
    before = host.slowed_at
    if slow_down(host, fetch.attempt, outcome):
        ledger.capture.note(
            f"{host.name} refused requests as too many (429 or 503), and the crawl slowed down until it answered."
            " With a longer delay= the crawl takes no longer"
        )
    if host.slowed_at != before:
        host.pace.asked(host, outcome.sent or outcome.started)


def slow_down(host: Host, attempt: int, outcome: Outcome) -> bool:
    """Double a host's delay when it refuses a request, as TCP does, and shorten it with each answer.

    Only a refused first attempt counts, once for all requests in flight: a page that is refused again and again may be
    broken. Return whether the host refused although it was slowed down already.
    """
    if outcome.status in TOO_MANY:
        if attempt > 1 or outcome.started < host.slowed_at:
            return False
        before, host.slowed_at = host.slowed, outcome.ended
        host.row = min(host.row, 0) - 1
        host.slowest *= 2 if host.row <= -REFUSED else 1
        host.slowed = min(max(2 * host.delay, LEAST), max(host.delay, min(MOST, host.slowest)))
        return before > 0.0
    if outcome.status is not None:
        host.row = max(host.row, 0) + 1
        if host.row >= BORNE:  # some servers fail at random, however seldom they are asked
            host.slowest = min(host.slowest, FAR * max(host.delay, LEAST))
        host.slowed *= AGAIN
        if host.slowed <= max(host.own, host.asked, LEAST / 2):
            host.slowed = 0.0
    return False


def change_delay(ledger: Ledger, delay: Seconds) -> None:
    """Change the delay of each host, counted from its last request; pauses stay."""
    politeness = ledger.politeness = replace(ledger.politeness, delay=delay)
    for host in ledger.hosts:
        host.own, host.slowed = politeness.delay_of(host.name), 0.0
        at, by = host.pace.last
        if by:
            host.pace.due = max(host.pace.paused, at + by.delay)
    ledger.ring.wake_all()


# -- hosts that are given up: they answer nothing, or ask for too long a pause -----------------------------------------


AWAY = 2  #: URLs in a row with too long a Retry-After, after which it concerns the host, not the URL
SILENT, SILENCE = 10, 1_800.0  #: URLs lost in a row, and seconds, after which a host is given up


def why_silent(ledger: Ledger, host: Host, now: Instant) -> str:
    """Return why a host is given up, or an empty text. If it is a seed's host, stop the capture."""
    if (why := silence_of(host, now)) and host.name in ledger.seeded:
        stopped(ledger, error := StoppedCaptureError(why), now)
        raise error
    return why


def stopped(ledger: Ledger, error: StoppedCaptureError, now: Instant) -> None:
    """Note in the report why the capture stopped; what was captured stays."""
    ledger.capture.note(f"{second(now)}: {error}")
    ledger.commit()


def silence_of(host: Host, now: Instant) -> str:
    """Return for how long a host has answered nothing, as a reason to give it up; empty: no reason."""
    if host.away >= AWAY:
        return f"{host.name} asks for a longer wait than this crawl allows (Retry-After)"
    if host.lost < SILENT or now < host.silence + SILENCE:
        return ""
    minutes = int(now - host.silence) // 60
    return f"{host.name} has answered nothing whole for {minutes} minutes ({host.lost} URLs in a row were lost)"


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
