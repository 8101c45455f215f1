"""Payloads that pages share: one that had the same as another is stored with that one."""

from __future__ import annotations

from sharc_crawler.certificate.witness import SERVERS_WORD, RecordedExchange, Witness
from sharc_crawler.urls import canonical


class SharedPayloads:
    """Pages whose payload is stored with another page that had the same: a 304 of theirs refers there, too.

    A 304 does not vouch for its own payload. One that refers to a download of its own page, in a capture that is not at
    hand, does for others: that payload is not shown here, and counts as such.
    """

    def __init__(self, *witnesses: Witness) -> None:
        self._found = {
            hash((canonical(exchange.uri), exchange.digest))
            for witness in witnesses
            for exchange in witness
            if exchange.digest and (exchange.profile != SERVERS_WORD or _of_its_own(exchange))
        }

    def had(self, uri: str, digest: str | None) -> bool:
        """Whether a payload with this digest was an answer of this page."""
        return digest is not None and hash((canonical(uri), digest)) in self._found


def _of_its_own(exchange: RecordedExchange) -> bool:
    return exchange.holder is not None and canonical(exchange.holder[0]) == canonical(exchange.uri)
