"""Change processes: Poisson, over all time, and a pure function of their name.

Time is divided into cells. The changes in a cell are drawn from a generator seeded by the name and the cell's number: a
Poisson number, uniform within the cell. That is exactly a Poisson process, any part of which can be computed by itself;
whoever asks, in whatever order, sees the same world.
"""

from __future__ import annotations

import math
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.model import Instant, Rate, Seconds

PER_CELL = 8.0  #: expected changes in a cell, within a factor √2: few enough to draw, rarely none


def changes(name: str, rate: Rate, start: Instant, end: Instant) -> NDArray[np.float64]:
    """The instants of change in (start, end], ascending.

    Half open, so that adjoining intervals add up, and a page was in one state at ``start`` and ``end`` exactly if there
    is none in between.

    >>> whole = changes("a page", 0.5, 1000.0, 1060.0)
    >>> parts = [changes("a page", 0.5, 1000.0, 1013.0), changes("a page", 0.5, 1013.0, 1060.0)]
    >>> bool((whole == np.concatenate(parts)).all())
    True
    """
    if rate == 0 or end <= start:
        return np.empty(0)
    length = _cell_length(rate)
    cells = range(math.floor(start / length), math.floor(end / length) + 1)
    instants = np.concatenate([_cell(name, rate, cell) for cell in cells])
    return instants[(start < instants) & (instants <= end)]


def last_change(name: str, rate: Rate, now: Instant) -> Instant:
    """When the state at ``now`` began; ``-inf`` if nothing ever changes.

    >>> began = last_change("a page", 0.5, 1000.0)
    >>> began <= 1000.0, len(changes("a page", 0.5, began, 1000.0))
    (True, 0)
    """
    if rate == 0:
        return -math.inf
    cell = math.floor(now / _cell_length(rate))
    while not (past := [instant for instant in _cell(name, rate, cell) if instant <= now]):
        cell -= 1
    return past[-1]


def _cell_length(rate: Rate) -> Seconds:
    """A power of two, so that division by it is exact and changes stay within their cell."""
    return 2.0 ** round(math.log2(PER_CELL / rate))


@lru_cache(maxsize=65_536)
def _cell(name: str, rate: Rate, cell: int) -> tuple[float, ...]:
    seed = blake2b(f"{cell} {name}".encode(), digest_size=16).digest()
    rng = np.random.default_rng(int.from_bytes(seed, "big"))
    length = _cell_length(rate)
    return tuple(np.sort((cell + rng.random(rng.poisson(rate * length))) * length).tolist())
