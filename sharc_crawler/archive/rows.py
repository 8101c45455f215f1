"""Rows of text in a temporary file: what is written down for each page of a capture costs no memory for its text."""

from __future__ import annotations

from array import array
from os import SEEK_END
from tempfile import TemporaryFile
from typing import TYPE_CHECKING
from weakref import finalize

if TYPE_CHECKING:
    from collections.abc import Iterator


class Rows:
    """Rows of fields, by number; the file goes with them.

    >>> rows = Rows()
    >>> rows.append("http://h/", None, 9)
    >>> rows[0], len(rows)
    (['http://h/', None, '9'], 1)
    """

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - closed with the rows
        self._starts = array("Q", [0])
        finalize(self, self._file.close)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def append(self, *fields: object) -> None:
        """One more row: texts without tabs and line ends, numbers, ``None``."""
        row = "\t".join(["" if field is None else str(field) for field in fields]).encode("utf-8", "surrogatepass")
        self._file.write(row + b"\n")
        self._starts.append(self._starts[-1] + len(row) + 1)

    def __getitem__(self, number: int) -> list[str | None]:
        self._file.seek(self._starts[number])
        row = self._file.readline()
        self._file.seek(0, SEEK_END)
        return _fields(row)

    def __iter__(self) -> Iterator[list[str | None]]:
        self._file.seek(0)
        try:
            yield from map(_fields, self._file)
        finally:
            self._file.seek(0, SEEK_END)


def _fields(row: bytes) -> list[str | None]:
    return [field or None for field in row.removesuffix(b"\n").decode("utf-8", "surrogatepass").split("\t")]
