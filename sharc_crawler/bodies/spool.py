"""Bodies that are too large for memory: they lie on the disk, and are read as if they were bytes.

A :class:`Spool` is searched, sliced and measured as ``bytes`` are. Who goes through all of it takes :func:`pieces`:
what was read is let go of, so that a body of gigabytes takes a few megabytes of memory.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Self
from weakref import finalize

LARGE = 4 << 20  #: bytes that are kept in memory; more go to the disk as they come
_STEP = 1 << 20
_LET_GO = 16 << 20  #: bytes that may be read before memory is let go of


class Spool(mmap.mmap):
    """The bytes of a file that is not empty and stays as it is.

    Raises :class:`OSError` where it cannot be read.
    """

    path: Path
    folder: Path | None  #: where it lies; ``None``: it has no name

    def __new__(cls, path: Path, nameless: IO[bytes] | None = None) -> Self:
        """Read a file; it stays when this is gone, unless it has no name or is :meth:`owned`."""
        with nameless or path.open("rb") as file:
            made = super().__new__(cls, file.fileno(), 0, access=mmap.ACCESS_READ)
        made.path, made.folder = path, None if nameless else path.parent
        return made

    def owned(self) -> Self:
        """Have the file removed as soon as nobody needs it."""
        finalize(self, remove, self.path)
        return self

    def let_go(self) -> None:
        """What was read need not stay in memory."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self.madvise(mmap.MADV_DONTNEED)


Octets = bytes | Spool


def in_memory(data: Octets) -> int:
    """Bytes of it that take memory."""
    return 0 if isinstance(data, Spool) else len(data)


def pieces(data: Octets | memoryview, start: int = 0, stop: int | None = None) -> Iterator[bytes | memoryview]:
    """The bytes from ``start`` to ``stop``, in pieces that fit into memory.

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
    """Remove a file, if it is there."""
    with suppress(OSError):
        path.unlink()
