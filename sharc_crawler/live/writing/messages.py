"""| Messages of a crawl to its writing process: lines of JSON, each followed by bytes."""

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

BLOCKS = ("request", "response", "surplus")  # parts of an exchange that are sent as they are
_WORDS = tuple(field.name for field in fields(Exchange) if field.name not in BLOCKS)


class NotArchivedError(SharcError):
    """An exchange could not be written."""


def line(message: dict[str, Any]) -> bytes:
    """A message as a line; it says what follows."""
    return json.dumps(message).encode() + b"\n"


def order_to_keep(site: str, exchange: Exchange, original: Original | None, number: int = 0) -> list[bytes]:
    """An order to write an exchange; ``original``: the earlier record that a 304 confirms."""
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
    """An order to write resources, answered together."""
    about = [(one.uri, one.date, one.media_type, len(one.block)) for one in resources]
    return [line({"do": "describe", "number": number, "site": site, "about": about}), *(one.block for one in resources)]


def place_of(block: Octets) -> int | str:
    """The length of a block that follows a message, or the file that holds it."""
    return str(block.path) if isinstance(block, Spool) else len(block)
