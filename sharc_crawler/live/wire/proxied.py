"""| Requests through a proxy, which resolves names itself."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IHostResolution, IResolutionReceiver
from zope.interface import implementer  # type: ignore[import-untyped]

from sharc_crawler.archive.records import WITHHELD

if TYPE_CHECKING:
    from sharc_crawler.live.wire.addresses import AddressRules, Target
    from sharc_crawler.live.wire.names import Found

logger = logging.getLogger(__name__)

PROXIED = (
    "Requests go through a proxy, which looks names up itself: names that are private by our own look-up are refused,"
    " and the guard against private addresses ends there. Let the proxy refuse its own network's, too."
)
_CREDENTIALS = re.compile(rb"\r\nProxy-Authorization:[^\r\n]*", re.IGNORECASE)


class ProxyRules:
    """Refuses names that our own look-up finds to be private; others are the proxy's responsibility."""

    def __init__(self, rules: AddressRules) -> None:
        self._rules = rules
        logger.warning(PROXIED)

    async def check(self, target: Target) -> None:
        """Raise `AddressRefusedError` for a name of a private machine."""
        for address in await addresses_of(target.host):
            self._rules.check(target, address)


def without_credentials(sent: bytes) -> tuple[bytes, str]:
    """The request as archived, and what its record says of that."""
    kept = _CREDENTIALS.sub(b"", sent)
    return kept, WITHHELD if kept != sent else ""


async def addresses_of(name: str) -> Found:
    """The addresses that the reactor's resolver knows of a host; empty: none."""
    from twisted.internet import reactor

    found: list[str] = []
    done: Deferred[None] = Deferred()

    @implementer(IResolutionReceiver)
    class Receiver:
        def resolutionBegan(self, resolution: IHostResolution) -> None:  # noqa: N802
            pass

        def addressResolved(self, address: Any) -> None:  # noqa: N802
            found.append(address.host)

        def resolutionComplete(self) -> None:  # noqa: N802
            done.callback(None)

    reactor.nameResolver.resolveHostName(Receiver(), name)
    await maybe_deferred_to_future(done)
    return tuple(found)
