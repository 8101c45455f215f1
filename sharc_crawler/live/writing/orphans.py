"""A process beside the crawl ends when its crawl is gone, whatever code of a plug-in's it is in, as at a crash."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from socket import socket

_PR_SET_PDEATHSIG = 1


def end_with_crawl(connection: socket) -> None:
    """Have this process end when nobody is left at the other end of its socket to the crawl."""
    if sys.platform == "linux":  # code that lets no other thread run ends, too
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    Thread(target=_wait_and_end, args=(connection.fileno(),), daemon=True).start()


def _wait_and_end(connection: int) -> None:
    poll = select.poll()
    poll.register(connection, 0)  # what comes is not waited for, only that nobody is left
    poll.poll()
    os._exit(0)
