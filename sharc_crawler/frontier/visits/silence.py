"""A host that answers nothing, or asks for too long a rest, is asked for nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.errors import StoppedCaptureError
from sharc_crawler.instants import second

if TYPE_CHECKING:
    from sharc_crawler.frontier.hosts import Host
    from sharc_crawler.frontier.ledger import Ledger
    from sharc_crawler.model import Instant

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
