"""Indexes of a folder: each is that of its WARC file, or replay shows something else than what is in it."""

from __future__ import annotations

from itertools import pairwise
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from sharc_crawler.archive.cdxj import index_path
from sharc_crawler.archive.indexing import entries_of
from sharc_crawler.archive.lines import CountingReader
from sharc_crawler.certificate.witness import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray


def stale(
    folder: Path, warcs: Collection[str], damaged: Collection[str | None], progress: Callable[[int], None]
) -> Iterator[Finding]:
    """Indexes that are not those of their WARC files; ``damaged`` files, and missing indexes, are passed over.

    ``progress`` is given the bytes of WARC files as they are read.
    """
    for name in warcs:
        index = index_path(folder / name)
        if name not in damaged and index.exists():
            made = _hashes(_lines(folder / name, progress))
            with index.open("rb") as lines:
                stored = _hashes(lines)
            with index.open("rb") as lines:
                in_order = all(one < other for one, other in pairwise(lines))
            if not np.array_equal(made, stored):
                yield Finding("the index is not that of its WARC file", index.name)
            elif not in_order:
                yield Finding("the index is not in order, so that replay finds no pages", index.name)


def _lines(warc: Path, progress: Callable[[int], None]) -> Iterator[bytes]:
    with warc.open("rb") as file:
        for entry in entries_of(cast("IO[bytes]", CountingReader(file, progress)), warc.name):
            yield f"{entry.line()}\n".encode()


def _hashes(lines: Iterable[bytes]) -> NDArray[np.int64]:
    """Eight bytes of each line, sorted: there are as many as records."""
    return np.sort(np.fromiter(map(hash, lines), np.int64))
