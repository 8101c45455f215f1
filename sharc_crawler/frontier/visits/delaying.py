"""A host is left alone: for longer, or shorter, than it was, as it asks or by order; or for good."""

from __future__ import annotations

from dataclasses import replace

from sharc_crawler.errors import StoppedCaptureError
from sharc_crawler.frontier.hosts import TOO_MANY, Host
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.instants import second
from sharc_crawler.model import Fetch, Instant, Outcome, Seconds

LATER = 12  #: times the first back-off, a minute, at least until a page that failed is asked for once more
LEAST, MOST = 0.25, 30.0  #: seconds between two requests to a host that refuses them
AGAIN = 0.9  #: of that, after each answer
BORNE, REFUSED = 8, 3  #: answers, or refusals, in a row that are no chance
FAR = 2  #: times the delay that is borne: no refusal asks for more, unless they are no chance


def rest(ledger: Ledger, host: Host, fetch: Fetch, outcome: Outcome) -> None:
    """Leave a host alone for as long as it asks, up to the longest pause; where it is left out, nobody waits."""
    asked, longest = outcome.retry_after or 0.0, ledger.politeness.longest_pause
    host.away = host.away + (fetch.attempt == 1) if asked > longest else 0
    out = (host.waits and host.rules is None) or (ledger.leaves_hosts and host.away >= AWAY)  # there is no robots.txt
    if asked and not (out and asked > longest) and (fetch.attempt == 1 or host.row <= 0):  # else it is this URL's
        host.pace.pause(outcome.ended + min(asked, longest))
    before = host.slowed_at
    if slow_down(host, fetch.attempt, outcome):
        ledger.capture.note(
            f"{host.name} refused requests as too many (429 or 503), and was asked less often until it answered them."
            " A longer delay= is kinder, and takes no longer"
        )
        ledger.changed_capture()
    if host.slowed_at != before:
        host.pace.asked(host, outcome.sent or outcome.started)


def slow_down(host: Host, attempt: int, outcome: Outcome) -> bool:
    """Ask a host half as often that refuses a request, as TCP does, and more often again with each answer.

    A URL refused at its first attempt counts, once for all that is in flight. What is refused again and again is no
    reason: the page may be broken. ``True``: it was refused though the host was asked less often already.
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
        if host.row >= BORNE:  # some servers fail at random: asked less often, they would fail as often
            host.slowest = min(host.slowest, FAR * max(host.delay, LEAST))
        host.slowed *= AGAIN
        if host.slowed <= max(host.own, host.asked, LEAST / 2):
            host.slowed = 0.0
    return False


def change_delay(ledger: Ledger, delay: Seconds) -> None:
    """Change the delay of each host, counted from its last request; pauses hold on."""
    politeness = ledger.politeness = replace(ledger.politeness, delay=delay)
    for host in ledger.hosts:
        host.own, host.slowed = politeness.delay_of(host.name), 0.0
        at, by = host.pace.last
        if by:
            host.pace.due = max(host.pace.paused, at + by.delay)
    ledger.ring.wake_all()


# -- a host that answers nothing, or asks for too long a rest, is asked for nothing more -------------------------------


AWAY = 2  #: URLs in a row whose Retry-After is longer than is waited, after which it is the host's, not the URL's
SILENT, SILENCE = 10, 1_800.0  #: URLs lost in a row, and seconds, after which a host is asked for nothing more


def why_silent(ledger: Ledger, host: Host, now: Instant) -> str:
    """Why a host is asked for nothing more; empty: it is. A capture whose seed lies there is stopped."""
    if (why := silence_of(host, now)) and host.name in ledger.seeded:
        stopped(ledger, error := StoppedCaptureError(why), now)
        raise error
    return why


def stopped(ledger: Ledger, error: StoppedCaptureError, now: Instant) -> None:
    """What was captured so far stays; readers of its report learn why it is not complete."""
    ledger.capture.note(f"{second(now)}: {error}")
    ledger.changed_capture()
    ledger.commit()


def silence_of(host: Host, now: Instant) -> str:
    """What a host was asked for in vain, and how long."""
    if host.away >= AWAY:
        return f"{host.name} asks for a longer wait than this crawl allows (Retry-After)"
    if host.lost < SILENT or now < host.silence + SILENCE:
        return ""
    minutes = int(now - host.silence) // 60
    return f"{host.name} has answered nothing whole for {minutes} minutes ({host.lost} URLs in a row were lost)"
