"""WARC files of anybody, read by warcio with a bound on the heads of records: a few bytes unpack to any number."""

from __future__ import annotations

from typing import IO

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import DecompressingBufferedReader
from warcio.exceptions import ArchiveLoadFailed

LONGEST_HEAD = 1 << 20  #: bytes, of a record with that of its HTTP message


def bounded_records(stream: IO[bytes], *, no_record_parse: bool = False) -> ArchiveIterator:
    """The records of a WARC file, compressed or not.

    Walking over them raises :class:`~warcio.exceptions.ArchiveLoadFailed` where one cannot be read, or has a longer
    head.
    """
    found = ArchiveIterator(stream, no_record_parse=no_record_parse)
    found.reader = _BoundedReader(found.fh)
    return found


class _BoundedReader(DecompressingBufferedReader):  # type: ignore[misc]
    """Heads are read line by line up to a blank one, bodies are not."""

    _read = 0  #: of a head

    def readline(self, length: int | None = None) -> bytes:
        most = LONGEST_HEAD - self._read + 1
        line: bytes = super().readline(min(length, most) if length else most)
        self._read = self._read + len(line) if line.strip() else 0
        if self._read > LONGEST_HEAD:
            raise ArchiveLoadFailed(f"the head of a record is longer than {LONGEST_HEAD:,} bytes")
        return line
