"""Checkpoints of a growing WARC file, so that a resumed capture need not parse it again from its beginning.

Beside a file that is being written, ``.NAME.checkpoint`` holds the lines of its index. From time to time a mark follows
with the number of bytes and records covered so far, and a checksum of these bytes. For finished files the last
checkpoint is kept in the folder's ``.checksums``. A checkpoint counts only if its checksum fits: that is far quicker
than unpacking and parsing every record.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from sharc_crawler.archive.cdxj import IndexEntry, write_lines
from sharc_crawler.archive.files import OPEN, SUFFIX
from sharc_crawler.archive.rows import Rows

ROWS = 1_000  #: a checkpoint is due after this many rows of the index
BYTES = 1 << 23  #: or this many bytes of the file
CHECKSUMS = ".checksums"
_MARK = b"#"  #: begins the line that ends a checkpoint; no line of an index begins so
_PIECE = 1 << 20


class Checkpoint(NamedTuple):
    """A known beginning of a WARC file."""

    size: int  #: bytes
    records: int
    checksum: int  #: CRC-32 of these bytes
    lines: Sequence[bytes] = ()  #: of the index


NOTHING = Checkpoint(0, 0, 0)


class GrowingIndex:
    """The index of a growing file, with its checkpoints. Errors of writing them are ignored: they only save time."""

    def __init__(self, warc: Path) -> None:
        self._warc = warc
        self._path = _path_of(warc)
        self._entries = Rows(warc.parent)
        self._size = self._checksum = self._rows = self._lines = 0
        self._path.unlink(missing_ok=True)

    def append(self, entry: IndexEntry) -> None:
        """Add an entry."""
        self._entries.append(*entry)

    def keep(self, size: int, records: int) -> None:
        """Note that so many bytes and records of the file are on disk, and write a checkpoint if one is due."""
        rows = self._entries
        if len(rows) - self._rows < ROWS and size - self._size < BYTES:
            return
        with suppress(OSError), self._path.open("ab") as out:
            checksum = _checksum(self._warc.with_name(self._warc.name + OPEN), self._size, size, self._checksum)
            text = b"".join(_made(rows, self._rows))
            lines = zlib.crc32(text, self._lines)
            out.write(text + b"%b %d %d %d %d\n" % (_MARK, size, records, checksum, lines))
            self._size, self._checksum, self._rows, self._lines = size, checksum, len(rows), lines

    def write(self) -> None:
        """Write the index beside the file, reusing the lines in checkpoints."""
        found, noted = _noted(self._path)
        known = noted if found.size == self._size and len(noted) == self._rows else []
        write_lines(self._warc, [*known, *_made(self._entries, len(known))])

    def close(self, size: int) -> None:
        """The file is finished, with this size and its final name."""
        if not self._size:
            return
        with suppress(OSError):
            checksum = _checksum(self._warc, self._size, size, self._checksum)
            remember(self._warc, Checkpoint(size, 0, checksum))
        self._path.unlink(missing_ok=True)


def last(warc: Path, stream: IO[bytes]) -> Checkpoint:
    """The last checkpoint of an open file, if its checksum fits; ``warc``: the file's final name."""
    found, lines = _noted(_path_of(warc))
    return found._replace(lines=lines) if vouched_for(stream, found) else NOTHING


def _noted(path: Path) -> tuple[Checkpoint, list[bytes]]:
    """The last whole checkpoint in a file, and the lines before it."""
    found, kept, whole, lines = NOTHING, list[bytes](), 0, 0
    with suppress(OSError, ValueError), path.open("rb") as noted:  # the last line may be cut off
        for line in noted:
            if not line.startswith(_MARK):
                kept.append(line)
                lines = zlib.crc32(line, lines)
                continue
            size, records, checksum, own = map(int, line[1:].split())
            if own != lines:
                break
            found, whole = Checkpoint(size, records, checksum), len(kept)
    return found, kept[:whole]


def _made(rows: Rows, start: int) -> Iterator[bytes]:
    return (IndexEntry.of(rows[number]).written() for number in range(start, len(rows)))


def forget(warc: Path) -> None:
    """Remove the checkpoints of a finished file."""
    _path_of(warc).unlink(missing_ok=True)


def remember(warc: Path, checkpoint: Checkpoint) -> None:
    """Keep the last checkpoint of a finished file."""
    with warc.with_name(CHECKSUMS).open("a", encoding="utf-8") as out:
        out.write(f"{warc.name} {checkpoint.size} {checkpoint.checksum}\n")


def remembered(folder: Path) -> dict[str, Checkpoint]:
    """The kept checkpoints of finished files by name, not compared with the files."""
    found = {}
    with suppress(OSError), (folder / CHECKSUMS).open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            with suppress(ValueError):
                name, size, checksum = line.split(" ")
                found[name] = Checkpoint(int(size), 0, int(checksum))
    return found


def vouched_for(stream: IO[bytes], checkpoint: Checkpoint, progress: Callable[[int], None] = lambda _: None) -> int:
    """The size of a checkpoint if its checksum fits the file's bytes, else 0.

    ``progress`` is given how many bytes were read.
    """
    return checkpoint.size if _checksum_of(stream, 0, checkpoint.size, progress=progress) == checkpoint.checksum else 0


def _checksum(path: Path, start: int, end: int, before: int) -> int:
    with path.open("rb") as stream:
        return _checksum_of(stream, start, end, before)


def _checksum_of(
    stream: IO[bytes], start: int, end: int, before: int = 0, progress: Callable[[int], None] = lambda _: None
) -> int:
    """The CRC-32 of the bytes between two offsets, continued from ``before``; -1: the file is shorter."""
    stream.seek(start)
    while start < end and (piece := stream.read(min(_PIECE, end - start))):
        before = zlib.crc32(piece, before)
        start += len(piece)
        progress(start)
    return before if start == end else -1


def _path_of(warc: Path) -> Path:
    return warc.with_name(f".{warc.name.removesuffix(SUFFIX)}.checkpoint")
