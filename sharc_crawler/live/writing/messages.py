"""What a crawl says to the process that writes its WARC files: lines of JSON, and bytes behind them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, fields
from typing import TYPE_CHECKING, Any

from sharc_crawler.bodies.spool import Octets, Spool
from sharc_crawler.errors import SharcError
from sharc_crawler.model import Exchange

if TYPE_CHECKING:
    from sharc_crawler.archive.options import Original, Resource

BLOCKS = ("request", "response", "surplus")  # of an exchange: sent as they are
_WORDS = tuple(field.name for field in fields(Exchange) if field.name not in BLOCKS)


class NotArchivedError(SharcError):
    """What was fetched could not be written."""


def line(message: dict[str, Any]) -> bytes:
    """A message as a line, which says what follows it."""
    return json.dumps(message).encode() + b"\n"


def order_to_keep(site: str, exchange: Exchange, original: Original | None, number: int = 0) -> list[bytes]:
    """Write this exchange; ``original``: by the server's word (304) it is still what was written then."""
    blocks: list[Octets] = [getattr(exchange, name) for name in BLOCKS]
    order = {
        "do": "keep",
        "number": number,
        "site": site,
        "exchange": {name: getattr(exchange, name) for name in _WORDS},
        "original": original and astuple(original),
        "sizes": list(map(place_of, blocks)),
    }
    return [line(order), *(block for block in blocks if isinstance(block, bytes) and block)]


def order_to_describe(site: str, resources: Sequence[Resource], number: int = 0) -> list[bytes]:
    """Write these, of which one future tells."""
    about = [(one.uri, one.date, one.media_type, len(one.block)) for one in resources]
    return [line({"do": "describe", "number": number, "site": site, "about": about}), *(one.block for one in resources)]


def place_of(block: Octets) -> int | str:
    """How long what follows a message is, or in which file it lies."""
    return str(block.path) if isinstance(block, Spool) else len(block)
