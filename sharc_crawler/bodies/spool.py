"""Bodies too large for memory: files on disk that are used like bytes.

A :class:`Spool` is searched, sliced and measured like ``bytes``. To read all of it use :func:`pieces`, which frees
memory as it goes: a body of gigabytes takes a few megabytes of memory.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Self
from weakref import finalize

LARGE = 4 << 20  #: bytes kept in memory; larger bodies are written to disk as they arrive
_STEP = 1 << 20
_LET_GO = 16 << 20  #: bytes read before memory is freed


class Spool(mmap.mmap):
    """The bytes of a file that is not empty and does not change.

    Raises :class:`OSError` if it cannot be read.
    """

    path: Path
    folder: Path | None  #: its folder; ``None``: the file has no name

    def __new__(cls, path: Path, nameless: IO[bytes] | None = None) -> Self:
        """Map a file; it is not removed with this object unless it has no name or is :meth:`owned`."""
        with nameless or path.open("rb") as file:
            made = super().__new__(cls, file.fileno(), 0, access=mmap.ACCESS_READ)
        made.path, made.folder = path, None if nameless else path.parent
        return made

    def owned(self) -> Self:
        """Remove the file when this object is garbage."""
        finalize(self, remove, self.path)
        return self

    def let_go(self) -> None:
        """Free the memory of pages that were read."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.madvise(mmap.MADV_DONTNEED)


Octets = bytes | Spool


def in_memory(data: Octets) -> int:
    """Return the number of bytes in memory."""
    return 0 if isinstance(data, Spool) else len(data)


def pieces(data: Octets | memoryview, start: int = 0, stop: int | None = None) -> Iterator[bytes | memoryview]:
    """Yield the bytes from ``start`` to ``stop``, in pieces that fit into memory.

    >>> b"".join(pieces(b"abcdef", 1, 5))
    b'bcde'
    """
    stop = len(data) if stop is None else min(stop, len(data))
    if not isinstance(data, Spool):
        yield memoryview(data)[start:stop]
        return
    for at in range(start, stop, _STEP):
        yield data[at : min(at + _STEP, stop)]
        if at % _LET_GO < _STEP:
            data.let_go()
    data.let_go()


def remove(path: Path) -> None:
    """Remove a file, if it exists."""
    with suppress(OSError):
        path.unlink()
