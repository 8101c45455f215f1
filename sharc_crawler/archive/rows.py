"""Rows of text in a temporary file, so that they take hardly any memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from weakref import WeakValueDictionary, finalize

from sharc_crawler.archive.files import append_whole


class _File:
    """A temporary file for the rows of all folders on a disk: a thousand sites share one file."""

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


_files: WeakValueDictionary[int, _File] = WeakValueDictionary()  # disk → file


def _file_in(folder: Path) -> _File:
    disk = folder.stat().st_dev
    file = _files.get(disk)
    if file is None:
        file = _files[disk] = _File(folder)
    return file


class Rows:
    """Rows of fields, by number, in a file that is removed after use.

    On a full disk a row is not written, not even in part.

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
        return _file_in(self._folder)  # opened for the first row, as some files' indexes have none

    def __len__(self) -> int:
        return len(self._starts)

    def append(self, *fields: object) -> None:
        """Append a row of numbers, ``None``, and texts without tabs and line ends."""
        row = "\t".join(["" if field is None else str(field) for field in fields]).encode("utf-8", "surrogatepass")
        self._starts.append(self._file.append(row))
        self._lengths.append(len(row))

    def __getitem__(self, number: int) -> list[str | None]:
        row = self._file.read(self._starts[number], self._lengths[number])
        return [field or None for field in row.decode("utf-8", "surrogatepass").split("\t")]

    def __iter__(self) -> Iterator[list[str | None]]:
        return (self[number] for number in range(len(self)))
