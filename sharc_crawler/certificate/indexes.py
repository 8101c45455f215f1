"""Indexes of a folder: each is that of its WARC file, or replay shows something else than what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.archive.cdxj import entries, index_path
from sharc_crawler.certificate.witness import Finding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path


def stale(folder: Path, warcs: Collection[str], damaged: Collection[str | None]) -> Iterator[Finding]:
    """Indexes that are not those of their WARC files; ``damaged`` files, and missing indexes, are passed over."""
    for name in warcs:
        index = index_path(folder / name)
        if name not in damaged and index.exists():
            made = {entry.line().encode() for entry in entries(folder / name)}
            if set(index.read_bytes().splitlines()) != made:
                yield Finding("the index is not that of its WARC file", index.name)
