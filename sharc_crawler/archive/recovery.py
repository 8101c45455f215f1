"""Recover from a crash: cut open WARC files after their last whole exchange, and give them their final names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sharc_crawler.archive import checkpoints
from sharc_crawler.archive.cdxj import write_index, write_lines
from sharc_crawler.archive.files import OPEN, SUFFIX
from sharc_crawler.archive.indexing import entries, entries_of
from sharc_crawler.archive.members import Record, records
from sharc_crawler.archive.warc_file import HELD
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.errors import DataError
from sharc_crawler.locks import lock

_ANSWERS = ("response", "revisit")


@dataclass(frozen=True, slots=True)
class Recovered:
    """A recovered file."""

    path: Path  #: its final path; it was removed if ``records`` is 0
    records: int  #: number of whole records
    kept: int  #: bytes of these
    cut: int  #: bytes cut from its end: torn records, or an answer without its request
    noted: int = 0  #: bytes confirmed by its last checkpoint


def recover(folder: Path) -> list[Recovered]:
    """Finish all WARC files in a folder that a crash left open, and write missing indexes.

    Files that a process is still writing are left alone. Raises :class:`~sharc_crawler.errors.DataError` for a damaged
    file without an index.
    """
    finished = finish(folder)
    there = _named(folder)
    for name in there:
        if name.endswith(SUFFIX) and index_path(folder / name).name not in there:
            from warcio.exceptions import ArchiveLoadFailed  # rarely needed

            try:
                write_index(folder / name, entries(folder / name))
            except ArchiveLoadFailed as error:
                raise DataError(f"{folder / name} is damaged, and gets no index: sharc verify says where") from error
    return finished


def finish(folder: Path) -> list[Recovered]:
    """Finish all WARC files in a folder that a crash left open, but none that a process is still writing."""
    finished = [_finish(folder / name) for name in _named(folder) if name.endswith(f"{SUFFIX}{OPEN}")]
    return [found for found in finished if found is not None]


def _named(folder: Path) -> dict[str, None]:
    """The names in a folder, sorted, as a dict for fast look-ups: there may be thousands."""
    with os.scandir(folder) as found:
        return dict.fromkeys(sorted(entry.name for entry in found))


def _finish(path: Path) -> Recovered | None:
    if path in HELD:
        return None
    final = path.with_name(path.name.removesuffix(OPEN))
    with path.open("r+b") as stream:
        if not lock(stream.fileno()):
            return None
        known = checkpoints.last(final, stream)
        starts, ends, answer = [0], [known.size], False
        for record in records(stream, known.size):
            if isinstance(record, Record):
                starts.append(record.offset)
                ends.append(record.end)
                answer = record.kind in _ANSWERS
        if answer:  # the request after it was lost, so it was never reported as written
            del starts[-1], ends[-1]
        cut = os.fstat(stream.fileno()).st_size - ends[-1]
        stream.truncate(ends[-1])
        os.fsync(stream.fileno())
        if known.size and starts[1:] == ends[:-1]:  # not damaged, so that it need not be mended
            stream.seek(known.size)
            write_lines(final, [*known.lines, *(entry.written() for entry in entries_of(stream, final.name))])
            checkpoints.remember(final, known)
        if ends[-1]:
            path.rename(final)
        else:
            path.unlink()
        checkpoints.forget(final)
    return Recovered(final, known.records + len(ends) - 1, ends[-1], cut, known.size)


def record_ends(stream: BinaryIO) -> Iterator[int]:
    """The end of each whole record, also after damaged places."""
    return (record.end for record in records(stream) if isinstance(record, Record))
