"""Read lines of plain and gzipped files, even truncated ones."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sharc_crawler.archive.histories.gathering import Problems

_CHUNK = 1 << 16
_GZIP = b"\x1f\x8b"
_GZIP_FORMAT = 31  #: of zlib's window bits


def lines(stream: IO[bytes], file: str, problems: Problems) -> Iterator[bytes]:
    """The lines of a file without their ends, as far as they can be read; a truncated file is a problem."""
    rest, count = list[bytes](), 0  # pieces of a line: an index may be a single line
    try:
        for chunk in _decompressed(stream) if _is_gzip(stream) else iter(lambda: stream.read(_CHUNK), b""):
            rest.append(chunk)
            if b"\n" in chunk:
                *whole, left = b"".join(rest).split(b"\n")
                rest = [left]
                count += len(whole)
                yield from whole
    except zlib.error as error:
        problems.add(file, count + 1, f"cut short: {error}")
    if last := b"".join(rest):
        yield last


class CountingReader:
    """A file that reports how many bytes are read."""

    def __init__(self, stream: IO[bytes], progress: Callable[[int], None]) -> None:
        self._stream, self._progress = stream, progress

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def read(self, size: int = -1) -> bytes:
        """Read from the file."""
        data = self._stream.read(size)
        self._progress(len(data))
        return data


def ends_whole(stream: IO[bytes]) -> bool:
    """Is a file not gzipped, or readable to its end?"""
    try:
        return not _is_gzip(stream) or all(True for _ in _decompressed(stream))
    except zlib.error:
        return False


def _is_gzip(stream: IO[bytes]) -> bool:
    magic = stream.read(len(_GZIP))
    stream.seek(0)
    return magic == _GZIP


def _decompressed(stream: IO[bytes]) -> Iterator[bytes]:
    """The content of all members of a gzip file."""
    member = None
    while data := stream.read(_CHUNK):
        while data:
            member = member or zlib.decompressobj(_GZIP_FORMAT)
            yield member.decompress(data)
            data = member.unused_data
            member = None if member.eof else member
    if member:
        raise zlib.error("the gzip file ends before its text does")
