"""Rows of text in a temporary file: what is written down for each page of a capture costs no memory for its text."""

from __future__ import annotations

from array import array
from tempfile import TemporaryFile
from typing import TYPE_CHECKING
from weakref import finalize

from sharc_crawler.archive.files import append_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Rows:
    """Rows of fields, by number; the file, which has no name in its folder, goes with them.

    What a full disk refuses is not written, nor half of it.

    >>> from pathlib import Path
    >>> rows = Rows(Path())
    >>> rows.append("http://h/", None, 9)
    >>> rows[0], len(rows)
    (['http://h/', None, '9'], 1)
    """

    def __init__(self, folder: Path) -> None:
        self._file = TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115 - closed with the rows
        self._starts = array("Q", [0])
        finalize(self, self._file.close)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def append(self, *fields: object) -> None:
        """One more row: texts without tabs and line ends, numbers, ``None``."""
        row = "\t".join(["" if field is None else str(field) for field in fields]).encode("utf-8", "surrogatepass")
        end = self._starts[-1]
        self._file.seek(end)
        append_whole(self._file.fileno(), row, end)
        self._starts.append(end + len(row))

    def __getitem__(self, number: int) -> list[str | None]:
        start, end = self._starts[number], self._starts[number + 1]
        self._file.seek(start)
        return [field or None for field in self._file.read(end - start).decode("utf-8", "surrogatepass").split("\t")]

    def __iter__(self) -> Iterator[list[str | None]]:
        return (self[number] for number in range(len(self)))
