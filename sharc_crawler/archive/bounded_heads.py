"""Read untrusted WARC files with warcio, with a limit on the heads of records: a few bytes may unpack to any number."""

from __future__ import annotations

from typing import IO

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import DecompressingBufferedReader
from warcio.exceptions import ArchiveLoadFailed

LONGEST_HEAD = 1 << 20  #: most bytes of a record's head together with its HTTP message's


def bounded_records(stream: IO[bytes], *, no_record_parse: bool = False) -> ArchiveIterator:
    """The records of a WARC file, compressed or not.

    Iterating raises :class:`~warcio.exceptions.ArchiveLoadFailed` for a record that is unreadable or has a longer head.
    """
    found = ArchiveIterator(stream, no_record_parse=no_record_parse)
    found.reader = _BoundedReader(found.fh)
    return found


class _BoundedReader(DecompressingBufferedReader):  # type: ignore[misc]
    """Counts the bytes that are read by lines: those of heads, up to a blank line."""

    _read = 0  #: bytes of the current head

    def readline(self, length: int | None = None) -> bytes:
        most = LONGEST_HEAD - self._read + 1
        line: bytes = super().readline(min(length, most) if length else most)
        self._read = self._read + len(line) if line.strip() else 0
        if self._read > LONGEST_HEAD:
            raise ArchiveLoadFailed(f"the head of a record is longer than {LONGEST_HEAD:,} bytes")
        return line
