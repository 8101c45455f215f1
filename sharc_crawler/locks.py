"""Locks on files and folders: each ends when its descriptor is closed, or with its process, however that ends."""

from __future__ import annotations

import fcntl
from pathlib import Path


def lock(descriptor: int, *, shared: bool = False) -> bool:
    """Hold what is open under a descriptor, if it can be had at once; false: another process holds it."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(file: Path) -> bool:
    """Does a process hold this file at this moment?"""
    if not file.is_file():
        return False
    with file.open("rb") as held:
        return not lock(held.fileno(), shared=True)
