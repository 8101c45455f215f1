"""After a crash: a WARC file that was being written is cut after its last whole record and gets its final name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from sharc_crawler.archive.cdxj import entries, index_path, write_index
from sharc_crawler.archive.files import OPEN, SUFFIX, lock
from sharc_crawler.archive.members import Record, records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of a file that a crash left open."""

    path: Path  #: its name now; it is gone where ``records`` is 0
    records: int  #: whole records kept
    kept: int  #: bytes
    cut: int  #: bytes of a torn record at its end


def recover(folder: Path) -> list[Recovered]:
    """Finish every WARC file in a folder that a crash left open, and write the indexes that are missing.

    Files that a process is still writing are left alone.
    """
    finished = [_finish(path) for path in sorted(folder.glob(f"*{SUFFIX}{OPEN}"))]
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        if not index_path(path).exists():
            write_index(path, entries(path))
    return [found for found in finished if found is not None]


def _finish(path: Path) -> Recovered | None:
    with path.open("r+b") as stream:
        if not lock(stream.fileno()):
            return None
        ends = list(record_ends(stream))
        kept = ends[-1] if ends else 0
        cut = os.fstat(stream.fileno()).st_size - kept
        stream.truncate(kept)
        os.fsync(stream.fileno())
        final = path.with_name(path.name.removesuffix(OPEN))
        if ends:
            path.rename(final)
        else:
            path.unlink()
    return Recovered(final, len(ends), kept, cut)


def record_ends(stream: BinaryIO) -> Iterator[int]:
    """Where each whole record ends, up to the first one that is torn or damaged."""
    for record in records(stream):
        if not isinstance(record, Record):
            return
        yield record.end
