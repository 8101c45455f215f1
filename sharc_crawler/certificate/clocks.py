"""How far the servers' clocks were from the crawler's: the seconds between the Date and the WARC-Date of answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sharc_crawler.certificate.witness import Finding
from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.instants import unix

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from sharc_crawler.certificate.witness import RecordedExchange, Witness


def clocks(witness: Witness, files: Collection[str]) -> dict[str, dict[str, int]]:
    """By host: ``least`` and ``greatest`` whole seconds from WARC-Date to Date, of the answers in these files."""
    found: dict[str, tuple[int, int]] = {}
    for exchange in witness:
        if exchange.file in files and (off := _off(exchange)) is not None:
            least, greatest = found.get(host := _host(exchange), (off, off))
            found[host] = min(least, off), max(greatest, off)
    return {host: {"least": least, "greatest": greatest} for host, (least, greatest) in sorted(found.items())}


def beyond(
    witness: Witness, files: Collection[str], stated: Mapping[str, Mapping[str, Any]], name: str
) -> Iterator[Finding]:
    """Answers whose Date is further from their WARC-Date than is stated of their server."""
    for exchange in witness:
        off = _off(exchange) if exchange.file in files else None
        if off is None:
            continue
        known = stated.get(_host(exchange))
        if known is None or not known["least"] <= off <= known["greatest"]:
            said = f"{known['least']} to {known['greatest']} s" if known else "nothing"
            what = f"its Date is {off} s from its WARC-Date, stated is {said}"
            yield Finding(what, exchange.file, exchange.offset, exchange.uri)
    if clocks(witness, files) != stated:
        yield Finding("the clocks of the servers are not as stated", name)


def _off(exchange: RecordedExchange) -> int | None:
    message = exchange.message
    date = http_date(header_text(message.header(b"date"))) if message is not None else None
    return None if date is None else math.floor(date - unix(exchange.date))


def _host(exchange: RecordedExchange) -> str:
    return urlsplit(exchange.uri).netloc.lower()
