"""Locks on files and folders; they end with their descriptor or process."""

from __future__ import annotations

import fcntl
from pathlib import Path


def lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file without waiting; return false if another process has locked it."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(file: Path) -> bool:
    """Is a file locked by a process?"""
    if not file.is_file():
        return False
    with file.open("rb") as held:
        return not lock(held.fileno(), shared=True)
