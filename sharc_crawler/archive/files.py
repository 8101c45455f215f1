"""Files on disk: what their names say, and adding to one so that it stays whole."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

SUFFIX = ".warc.gz"
OPEN = ".open"  #: added to the name while the file is being written
TAKEN = ".taken"  #: added to that while somebody else seals the file; its former owner finds it no more


def append_whole(descriptor: int, pieces: Iterable[bytes | memoryview], size: int) -> int:
    """Write all of it at the end of a file of so many bytes, or raise and leave the file as it was.

    Nothing is buffered: what a full disk refuses must not follow later, behind what was cut off. Returns how many bytes
    were added.
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
    """Remove what a process that was killed had begun to write here; nobody else writes in the folder now.

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
