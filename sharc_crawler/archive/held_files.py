"""Which WARC files of a folder a writer holds, and which a crash left."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sharc_crawler.archive.files import OPEN, SUFFIX

if sys.platform != "win32":
    import fcntl


def are_finished(folder: Path) -> bool:
    """Whether no WARC file of a folder is open or lacks its index, as a crash leaves it."""
    with os.scandir(folder) as found:
        names = {entry.name for entry in found}
    warcs = (name for name in names if name.endswith((SUFFIX, SUFFIX + OPEN)))
    return all(f"{warc.removesuffix(SUFFIX)}.cdxj" in names for warc in warcs)


def lock(descriptor: int) -> bool:
    """Hold a file for this writer until the descriptor is closed; false: another writer holds it."""
    if sys.platform == "win32":  # an open file can be neither renamed nor removed there
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def in_use(folder: Path) -> Path | None:
    """A file in the folder that a writer holds open at this moment."""
    for path in folder.glob(f"*{OPEN}"):
        descriptor = os.open(path, os.O_RDWR)
        try:
            if not lock(descriptor):
                return path
        finally:
            os.close(descriptor)
    return None
