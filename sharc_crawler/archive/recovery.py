"""After a crash: a WARC file that was being written is cut after its last whole record and gets its final name."""

from __future__ import annotations

import os
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from sharc_crawler.archive.cdxj import entries, write_index
from sharc_crawler.archive.files import OPEN, SUFFIX, lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BLOCK = 1 << 16
_LENGTH = re.compile(rb"\r\nContent-Length: *(\d+)\r\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of a file that a crash left open."""

    path: Path  #: its name now; it is gone where ``records`` is 0
    records: int  #: whole records kept
    kept: int  #: bytes
    cut: int  #: bytes of a torn record at its end


def recover(folder: Path) -> list[Recovered]:
    """Finish every WARC file in a folder that a crash left open, and write its index.

    Files that a process is still writing are left alone.
    """
    finished = [_finish(path) for path in sorted(folder.glob(f"*{SUFFIX}{OPEN}"))]
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
            write_index(final, (entry.line() for entry in entries(final)))
        else:
            path.unlink()
    return Recovered(final, len(ends), kept, cut)


def record_ends(stream: BinaryIO) -> Iterator[int]:
    """Where each whole record ends, up to the first one that is torn or damaged. One gzip member per record."""
    end, rest = 0, b""
    while (member := _member(stream, rest)) is not None:
        size, rest = member
        end += size
        yield end


def _member(stream: BinaryIO, data: bytes) -> tuple[int, bytes] | None:
    """Packed size of the next record, and what was read beyond it; ``None``: there is no whole one."""
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    header, read, unpacked = b"", 0, 0
    while not unpacker.eof:
        data = data or stream.read(_BLOCK)
        try:
            out = unpacker.decompress(data)
        except zlib.error:
            return None
        if not data:
            return None
        header += out if b"\r\n\r\n" not in header else b""
        read, unpacked, data = read + len(data), unpacked + len(out), b""
    return (read - len(unpacker.unused_data), unpacker.unused_data) if unpacked == _size(header) else None


def _size(start: bytes) -> int:
    """Unpacked size of a record that starts so: header, block, two line ends."""
    header, blank, _ = start.partition(b"\r\n\r\n")
    length = _LENGTH.search(header + b"\r\n")
    return len(header) + len(blank) + int(length[1]) + 4 if length else -1
