"""What the process that writes WARC files hears (:mod:`~sharc_crawler.live.writing.messages`), and its answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sharc_crawler.archive.originals import Original, Resource
from sharc_crawler.live.writing.errors_told import describe
from sharc_crawler.live.writing.messages import BLOCKS
from sharc_crawler.model import Exchange
from sharc_crawler.spool import Spool

if TYPE_CHECKING:
    from sharc_crawler.model import CaptureRef
    from sharc_crawler.spool import Octets


def message_of(text: bytes) -> dict[str, Any]:
    """The order in a line of JSON.

    Raises :class:`EOFError` for half a one: whoever sends it has gone meanwhile.
    """
    if not text.endswith(b"\n"):
        raise EOFError
    message: dict[str, Any] = json.loads(text)
    return message


def resources_of(order: dict[str, Any], stream: BinaryIO) -> list[Resource]:
    """The resources that follow an order on the stream.

    Raises :class:`EOFError` where whoever sends it has gone meanwhile.
    """
    return [
        Resource(uri, date, media_type, bytes(block_at(size, stream))) for uri, date, media_type, size in order["about"]
    ]


def block_at(place: int | str, stream: BinaryIO) -> Octets:
    """What follows a message, or lies in a file.

    Raises :class:`EOFError` where whoever sends it has gone meanwhile, and its files with it.
    """
    try:
        block = Spool(Path(place)) if isinstance(place, str) else stream.read(place)
    except FileNotFoundError as error:
        raise EOFError from error
    if isinstance(place, int) and len(block) < place:
        raise EOFError
    return block


def exchange_of(order: dict[str, Any], stream: BinaryIO) -> tuple[Exchange, Original | None]:
    """What is to be kept.

    Raises :class:`EOFError` where whoever sends it has gone meanwhile.
    """
    blocks = [block_at(place, stream) for place in order["sizes"]]
    parts: dict[str, Any] = order["exchange"] | dict(zip(BLOCKS, blocks, strict=True))
    exchange, original = Exchange(**parts), order["original"]
    return exchange, Original(*original) if original else None


def answer_of(kept: CaptureRef | Exception) -> list[Any] | dict[str, Any]:
    """Where an exchange lies, or why it was not written."""
    return describe(kept) if isinstance(kept, Exception) else [kept.file, kept.offset, kept.length]
