"""Where much is made and all of it stays, Python's search for cycles of objects looks it through again and again.

Of millions it takes seconds, in which no thread runs: those are looked through no more.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MUCH = 1_000_000  #: objects made meanwhile


@contextmanager
def uncollected() -> Iterator[None]:
    """Without that search, which leaves alone for good what there is then, where that is much.

    >>> with uncollected():
    ...     gc.isenabled()
    False
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > MUCH:
            gc.freeze()
        if enabled:
            gc.enable()
