"""Bodies that are too large for memory: they lie on the disk, and are read as if they were bytes.

A :class:`Spool` is searched, sliced and measured as ``bytes`` are. Who goes through all of it takes :func:`pieces`:
what was read is let go of, so that a body of gigabytes takes a few megabytes of memory.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self
from weakref import finalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
        finalize(self, _remove, self.path)
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
    """All of it from ``start`` to ``stop``, in pieces that fit into memory.

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


class Spooling:
    """A file that is written as bytes come, and read when all are there; without a folder it is gone with us."""

    def __init__(self, folder: Path | None = None, data: Iterable[bytes | memoryview] = ()) -> None:
        descriptor, name = tempfile.mkstemp(prefix="body-", dir=folder)
        self._path, self.size, self._named = Path(name), 0, folder is not None
        self._file = os.fdopen(descriptor, "r+b", buffering=0)
        if not self._named:
            _remove(self._path)
        for piece in data:
            self.write(piece)

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes; raises :class:`OSError` where there is no room for them."""
        view = memoryview(data)
        while view:
            written = self._file.write(view)
            self.size += written
            view = view[written:]

    def cut(self, count: int) -> bytes:
        """Take the last bytes off again."""
        self._file.seek(self.size - count)
        taken = self._file.read(count)
        self._file.truncate(self.size - count)
        self._file.seek(self.size - count)
        self.size -= count
        return taken

    def done(self) -> Octets:
        """All that was written."""
        if self.size and not self._named:
            return Spool(self._path, self._file)
        self._file.close()
        if not self.size:
            _remove(self._path)
            return b""
        return Spool(self._path).owned()

    def discard(self) -> None:
        """It is not needed."""
        self._file.close()
        _remove(self._path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
