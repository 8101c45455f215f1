"""Suffixes of WARC files, and writing to files so that they stay whole."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

SUFFIX = ".warc.gz"
OPEN = ".open"  #: appended to the name while the file is being written
TAKEN = ".taken"  #: appended to that while another process seals the file, so that its former owner does not find it


def append_whole(descriptor: int, pieces: Iterable[bytes | memoryview], size: int) -> int:
    """Append all pieces to a file of ``size`` bytes, or raise and leave the file as it was. Returns the bytes added.

    Nothing is buffered: after a failed write on a full disk, no rest of it may follow later.
    """
    added = 0
    try:
        for data in pieces:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            added += len(data)
    except BaseException:
        os.ftruncate(descriptor, size)
        raise
    return added


def forget_drafts(folder: Path) -> None:
    """Remove the drafts of a killed process; nobody else may be writing to the folder.

    >>> from tempfile import mkdtemp; from pathlib import Path
    >>> folder = Path(mkdtemp())
    >>> for name in (".report.json.4711", ".htaccess", "report.json"):
    ...     (folder / name).touch()
    >>> forget_drafts(folder)
    >>> sorted(path.name for path in folder.iterdir())
    ['.htaccess', 'report.json']
    """
    for path in folder.glob(".*.*"):
        if path.suffix[1:].isdecimal() and path.is_file():
            path.unlink()


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlast a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
