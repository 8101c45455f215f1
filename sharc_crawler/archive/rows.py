"""Rows of text in a temporary file: what is written down for each page of a capture costs no memory for its text."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from weakref import WeakValueDictionary, finalize

from sharc_crawler.archive.files import append_whole


class _File:
    """A file without a name, for all rows of the folders on one disk: a thousand sites are no thousand files."""

    def __init__(self, folder: Path) -> None:
        self._file = TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115 - closed with the last rows
        self._end = 0
        finalize(self, self._file.close)

    def append(self, data: bytes) -> int:
        """Append bytes; returns the offset at which they begin."""
        start = self._end
        self._file.seek(start)
        append_whole(self._file.fileno(), [data], start)
        self._end += len(data)
        return start

    def read(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        return self._file.read(length)


_files: WeakValueDictionary[int, _File] = WeakValueDictionary()  # by disk


def _file_in(folder: Path) -> _File:
    disk = folder.stat().st_dev
    file = _files.get(disk)
    if file is None:
        file = _files[disk] = _File(folder)
    return file


class Rows:
    """Rows of fields, by number; the file, which has no name in its folder, goes with the last of them.

    What a full disk refuses is not written, nor half of it.

    >>> from pathlib import Path
    >>> rows = Rows(Path())
    >>> rows.append("http://h/", None, 9)
    >>> rows[0], len(rows)
    (['http://h/', None, '9'], 1)
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._starts = array("Q")
        self._lengths = array("L")

    @cached_property
    def _file(self) -> _File:
        return _file_in(self._folder)  # with the first row: a certificate's WARC file has none in its index

    def __len__(self) -> int:
        return len(self._starts)

    def append(self, *fields: object) -> None:
        """Append a row: texts without tabs and line ends, numbers, ``None``."""
        row = "\t".join(["" if field is None else str(field) for field in fields]).encode("utf-8", "surrogatepass")
        self._starts.append(self._file.append(row))
        self._lengths.append(len(row))

    def __getitem__(self, number: int) -> list[str | None]:
        row = self._file.read(self._starts[number], self._lengths[number])
        return [field or None for field in row.decode("utf-8", "surrogatepass").split("\t")]

    def __iter__(self) -> Iterator[list[str | None]]:
        return (self[number] for number in range(len(self)))
