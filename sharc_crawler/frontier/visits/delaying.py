"""A host is left alone for longer, or shorter, than it was: it asks for a rest, or the delay was changed by order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sharc_crawler.frontier.hosts import AWAY

if TYPE_CHECKING:
    from sharc_crawler.frontier.hosts import Host
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Fetch, Outcome, Seconds


def rest(host: Host, fetch: Fetch, outcome: Outcome, longest: Seconds, *, left: bool) -> None:
    """Leave a host alone for as long as it asks, up to the ``longest``; where it is ``left`` out, nobody waits."""
    asked = outcome.retry_after or 0.0
    host.away = host.away + (fetch.attempt == 1) if asked > longest else 0
    out = (host.waits and host.rules is None) or (left and host.away >= AWAY)  # there is no robots.txt
    if asked and not (out and asked > longest):
        host.pace.pause(outcome.ended + min(asked, longest))


def change_delay(ledger: Ledger, delay: Seconds) -> None:
    """Change the delay of each host, counted from its last request; pauses hold on."""
    politeness = ledger.politeness = replace(ledger.politeness, delay=delay)
    for host in ledger.hosts:
        host.own = politeness.delay_of(host.name)
        at, by = host.pace.last
        if by:
            host.pace.due = max(host.pace.paused, at + by.delay)
    ledger.ring.wake_all()
