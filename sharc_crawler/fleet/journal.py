"""| The rows of a journal: batches of a site's steps as compressed lines of JSON."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.plain import of_json
from sharc_crawler.uncollected import uncollected

if TYPE_CHECKING:
    from sharc_crawler.state.rows import Batch

FAST, SMALL = 1, 6  #: compression levels: for each step; for many rows merged into one


def packed(lines: Sequence[str], level: int = FAST) -> bytes:
    """The body of a row, of batches as :func:`~sharc_crawler.storage.plain.to_json` makes them.

    >>> unpacked(packed(["{}", "{}"]))
    ['{}', '{}']
    """
    return zlib.compress("\n".join(lines).encode(), level)


def unpacked(body: bytes) -> list[str]:
    """The batches of a row."""
    return zlib.decompress(body).decode().split("\n")


def lines_of(bodies: Iterable[bytes]) -> Iterator[str]:
    """The batches of a journal, in order."""
    for body in bodies:
        yield from unpacked(body)


def state_of(lines: Iterable[str]) -> Batch:
    """The state that a journal describes, including links."""
    known = MemoryStore()
    with uncollected():
        for line in lines:
            known.commit(of_json(line))
    return replace(known.load(), links=list(known.links()))
