"""Waiting for threads and processes: as long as a busy machine may need, and no longer than what hangs for good."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen

PATIENCE = 300.0  #: seconds; nothing is expected to take a tenth of it, even where twenty others want the processor


def until(condition: Callable[[], object], process: Popen | None = None) -> None:
    """Wait until it holds, or until the process, if there is one, has ended."""
    deadline = time.monotonic() + PATIENCE
    while not condition() and (process is None or process.poll() is None):
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.005)
