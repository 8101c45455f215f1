"""Ports for programs that have to be told theirs before they listen."""

from __future__ import annotations

import random
import socket

#: below those that systems give out by themselves: nobody takes one between our look and the program's start
_RANGE = range(15_000, 32_000)
_DICE = random.SystemRandom()  # processes that are forked from one would draw alike


def free_port() -> int:
    """One of 127.0.0.1 that nobody listens on."""
    while True:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port := _DICE.choice(_RANGE)))
            except OSError:
                continue
            return port
