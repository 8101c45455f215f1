"""Commands that run until Ctrl-C or SIGTERM, as ``sharc demo`` does: either signal ends them with exit code 0."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def until_stopped() -> Iterator[None]:
    """Leave the block at Ctrl-C or SIGTERM, wherever it is, and go on behind it."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    former = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    except KeyboardInterrupt:
        return
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
