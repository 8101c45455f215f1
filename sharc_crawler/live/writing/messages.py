"""What a crawl says to the process that writes its WARC files: lines of JSON, and bytes behind them; and errors."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import astuple, fields
from typing import TYPE_CHECKING, Any

from sharc_crawler.errors import DataError, SharcError, StateError, StoreFull, StoreUnavailable, Superseded, UsageError
from sharc_crawler.live.writing.space import is_full
from sharc_crawler.model import Exchange
from sharc_crawler.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.archive.originals import Original, Resource
    from sharc_crawler.spool import Octets

BLOCKS = ("request", "response", "surplus")  # of an exchange: sent as they are
_WORDS = tuple(field.name for field in fields(Exchange) if field.name not in BLOCKS)
_KINDS = {kind.__name__: kind for kind in (DataError, StateError, StoreFull, StoreUnavailable, Superseded, UsageError)}


class NotArchivedError(SharcError):
    """What was fetched could not be written."""


def line(message: dict[str, Any]) -> bytes:
    """One message; what follows it is said in it."""
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


def describe(error: Exception) -> dict[str, Any]:
    """An error, so that :func:`error_of` can raise it elsewhere."""
    cause = error.__cause__ if isinstance(error, SharcError) else error
    number = errno.ENOSPC if is_full(error) else getattr(cause, "errno", None)
    return {"kind": type(error).__name__, "said": str(error), "errno": number}


def error_of(described: dict[str, Any]) -> SharcError:
    """The error again: of the same kind where it is one of ours, full disks to be known by their cause.

    >>> error_of(describe(UsageError("level=12 is no level")))
    UsageError('level=12 is no level')
    >>> is_full(error_of(describe(OSError(errno.ENOSPC, "No space left on device"))))
    True
    """
    error = _KINDS.get(described["kind"], NotArchivedError)(described["said"])
    if described["errno"]:
        error.__cause__ = OSError(described["errno"], os.strerror(described["errno"]))
    return error
