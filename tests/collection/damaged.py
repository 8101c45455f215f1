"""A capture's files, damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.archive.cdxj import REVISIT, read_index

if TYPE_CHECKING:
    from pathlib import Path


def damage(folder: Path, name: str) -> Path:
    """A bit of the first answer that was stored in full of a URL with this name in it; returns the WARC file."""
    entries = (one for index in sorted(folder.glob("*.cdxj")) for one in read_index(index))
    entry = next(one for one in entries if name in one.url and one.mime != REVISIT)
    warc = folder / entry.file
    data = bytearray(warc.read_bytes())
    data[entry.offset + entry.length // 2] ^= 4
    warc.write_bytes(data)
    return warc
