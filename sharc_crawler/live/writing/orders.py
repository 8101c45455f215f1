"""| Reads the messages of :mod:`~sharc_crawler.live.writing.messages` in the writing process, and makes its answers."""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO

from sharc_crawler.archive.options import Original, Resource
from sharc_crawler.bodies.spool import Octets, Spool
from sharc_crawler.live.writing.errors_as_json import describe
from sharc_crawler.live.writing.messages import BLOCKS
from sharc_crawler.model import CaptureRef, Exchange

if TYPE_CHECKING:
    from socket import socket


def message_of(text: bytes) -> dict[str, Any]:
    """The order in a line of JSON; raises EOFError for half a line, as its sender is gone."""
    if not text.endswith(b"\n"):
        raise EOFError
    message: dict[str, Any] = json.loads(text)
    return message


def resources_of(order: dict[str, Any], stream: BinaryIO) -> list[Resource]:
    """The resources that follow an order; raises EOFError if the sender is gone."""
    return [
        Resource(uri, date, media_type, bytes(block_at(size, stream))) for uri, date, media_type, size in order["about"]
    ]


def block_at(place: int | str, stream: BinaryIO) -> Octets:
    """A block that follows a message, or lies in a file; raises EOFError if the sender, or its file, is gone."""
    try:
        block = Spool(Path(place)) if isinstance(place, str) else stream.read(place)
    except FileNotFoundError as error:
        raise EOFError from error
    if isinstance(place, int) and len(block) < place:
        raise EOFError
    return block


def exchange_of(order: dict[str, Any], stream: BinaryIO) -> tuple[Exchange, Original | None]:
    """The exchange to write; raises EOFError if the sender is gone."""
    blocks = [block_at(place, stream) for place in order["sizes"]]
    parts: dict[str, Any] = order["exchange"] | dict(zip(BLOCKS, blocks, strict=True))
    exchange, original = Exchange(**parts), order["original"]
    return exchange, Original(*original) if original else None


def answer_of(kept: CaptureRef | Exception) -> list[Any] | dict[str, Any]:
    """The answer to an order: the record's place, or why there is none."""
    return describe(kept) if isinstance(kept, Exception) else [kept.file, kept.offset, kept.length]


# -- a process beside the crawl ends when its crawl is gone ------------------------------------------------------------


_PR_SET_PDEATHSIG = 1


def end_with_crawl(connection: socket) -> None:
    """Have this process end when the crawl's end of the socket is closed."""
    if sys.platform == "linux":  # also ends code that lets no other thread run
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    Thread(target=_wait_and_end, args=(connection.fileno(),), daemon=True).start()


def _wait_and_end(connection: int) -> None:
    poll = select.poll()
    poll.register(connection, 0)  # wait only for the other end to close
    poll.poll()
    os._exit(0)
