"""Which WARC files of a folder a writer holds, and which a crash left."""

from __future__ import annotations

import os
from pathlib import Path

from sharc_crawler.archive.files import OPEN, SUFFIX
from sharc_crawler.locks import lock


def are_finished(folder: Path) -> bool:
    """Whether no WARC file of a folder is open or lacks its index, as a crash leaves it."""
    with os.scandir(folder) as found:
        names = {entry.name for entry in found}
    warcs = (name for name in names if name.endswith((SUFFIX, SUFFIX + OPEN)))
    return all(f"{warc.removesuffix(SUFFIX)}.cdxj" in names for warc in warcs)


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
