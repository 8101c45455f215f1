"""Change a host's delay, as it asks or by order, or give it up."""

from __future__ import annotations

from dataclasses import replace

from sharc_crawler.errors import StoppedCaptureError
from sharc_crawler.frontier.hosts import TOO_MANY, Host
from sharc_crawler.frontier.ledger import Ledger
from sharc_crawler.instants import second
from sharc_crawler.model import Fetch, Instant, Outcome, Seconds

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
