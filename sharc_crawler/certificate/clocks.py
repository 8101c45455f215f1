"""How far the servers' clocks were from the crawler's: the seconds between the Date and the WARC-Date of answers."""

from __future__ import annotations

import math
from collections.abc import Collection
from urllib.parse import urlsplit

from sharc_crawler.certificate.witness import RecordedExchange, Witness
from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.instants import unix


def clocks(witness: Witness, files: Collection[str]) -> dict[str, dict[str, int]]:
    """By host: ``least`` and ``greatest`` whole seconds from WARC-Date to Date, of the answers in these files."""
    found: dict[str, tuple[int, int]] = {}
    for exchange in witness:
        if exchange.file in files and (seconds := off(exchange)) is not None:
            least, greatest = found.get(name := host(exchange), (seconds, seconds))
            found[name] = min(least, seconds), max(greatest, seconds)
    return {name: {"least": least, "greatest": greatest} for name, (least, greatest) in sorted(found.items())}


def off(exchange: RecordedExchange) -> int | None:
    """Whole seconds from the WARC-Date of an answer to its Date; ``None``: it has none."""
    message = exchange.message
    date = http_date(header_text(message.header(b"date"))) if message is not None else None
    return None if date is None else math.floor(date - unix(exchange.date))


def host(exchange: RecordedExchange) -> str:
    """Whose clock it is."""
    return urlsplit(exchange.uri).netloc.lower()
