"""Write bodies that are too large for memory (:mod:`sharc_crawler.bodies.spool`)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from sharc_crawler.bodies.spool import Octets, Spool, remove


class Spooling:
    """A file written as bytes arrive, then read; without a folder it has no name and ends with the process."""

    def __init__(self, folder: Path | None = None, data: Iterable[bytes | memoryview] = ()) -> None:
        descriptor, name = tempfile.mkstemp(prefix="body-", dir=folder)
        self._path, self.size, self._named = Path(name), 0, folder is not None
        self._file = os.fdopen(descriptor, "r+b", buffering=0)
        if not self._named:
            remove(self._path)
        for piece in data:
            self.write(piece)

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes; raise :class:`OSError` if there is no room."""
        view = memoryview(data)
        while view:
            written = self._file.write(view)
            self.size += written
            view = view[written:]

    def cut(self, count: int) -> bytes:
        """Remove and return the last bytes."""
        self._file.seek(self.size - count)
        taken = self._file.read(count)
        self._file.truncate(self.size - count)
        self._file.seek(self.size - count)
        self.size -= count
        return taken

    def done(self) -> Octets:
        """Return all bytes written."""
        if self.size and not self._named:
            return Spool(self._path, self._file)
        self._file.close()
        if not self.size:
            remove(self._path)
            return b""
        return Spool(self._path).owned()

    def discard(self) -> None:
        """Remove the file."""
        self._file.close()
        remove(self._path)
