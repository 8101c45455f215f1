"""The servers' clocks as a certificate states them, held against the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sharc_crawler.certificate.clocks import clocks, host, off
from sharc_crawler.certificate.witness import Finding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from sharc_crawler.certificate.witness import Witness


def beyond(
    witness: Witness, files: Collection[str], stated: Mapping[str, Mapping[str, Any]], name: str
) -> Iterator[Finding]:
    """Answers whose Date is further from their WARC-Date than is stated of their server."""
    for exchange in witness:
        seconds = off(exchange) if exchange.file in files else None
        if seconds is None:
            continue
        known = stated.get(host(exchange))
        if known is None or not known["least"] <= seconds <= known["greatest"]:
            said = f"{known['least']} to {known['greatest']} s" if known else "nothing"
            what = f"its Date is {seconds} s from its WARC-Date, stated is {said}"
            yield Finding(what, exchange.file, exchange.offset, exchange.uri)
    if clocks(witness, files) != stated:
        yield Finding("the clocks of the servers are not as stated", name)
