"""Switch off Python's garbage collection while many lasting objects are made.

For millions of objects each collection takes seconds, in which no thread runs.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MUCH = 1_000_000  #: new objects from which on they are exempted for good


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage within; exempt all objects from later collections if many were made.

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
