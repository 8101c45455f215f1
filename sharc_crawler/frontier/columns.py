"""Columns of a table with many rows: bytes, not objects."""

from __future__ import annotations

from array import array
from typing import Generic, TypeVar

T = TypeVar("T", bound=str)


class Texts:
    """Texts by row, one after the other in one buffer.

    >>> texts = Texts()
    >>> texts.append("http://h/"); texts.append("http://h/a")
    >>> texts[1], len(texts)
    ('http://h/a', 2)
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._ends = array("Q", [0])

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, text: str) -> None:
        """One more row."""
        self._buffer += text.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._buffer))

    def __getitem__(self, row: int) -> str:
        return self._buffer[self._ends[row] : self._ends[row + 1]].decode("utf-8", "surrogatepass")


class Names(Generic[T]):
    """One of at most 255 different names per row.

    >>> names = Names()
    >>> names.append("page"); names.append("sitemap"); names.append("page")
    >>> names[2], len(names)
    ('page', 3)
    """

    def __init__(self) -> None:
        self._codes = bytearray()
        self._names: list[T] = []
        self._code_of: dict[T, int] = {}

    def __len__(self) -> int:
        return len(self._codes)

    def append(self, name: T) -> None:
        """One more row."""
        code = self._code_of.setdefault(name, len(self._names))
        if code == len(self._names):
            self._names.append(name)
        self._codes.append(code)

    def __getitem__(self, row: int) -> T:
        return self._names[self._codes[row]]
