"""A WARC file that is being written: it always holds whole records, and its name says that it is open."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from weakref import finalize

from sharc_crawler.archive.files import OPEN, SUFFIX, TAKEN, append_whole, sync_folder
from sharc_crawler.archive.open_files import here
from sharc_crawler.errors import Superseded
from sharc_crawler.locks import lock

HELD: set[Path] = set()  #: the open files of this process by their ``.open`` names, including suspended ones


class WarcFile:
    """A WARC file under construction, named ``….open`` until it is closed."""

    def __init__(self, path: Path) -> None:
        self.path = path  #: its name once closed
        self.size = 0
        self._synced = 0  #: bytes that outlast a power failure
        self._lost: OSError | None = None  #: why the file could not be synced
        self._open_path = path.with_name(path.name + OPEN)
        self._descriptor: int | None = None  # None: suspended, reopened when used
        self._reopen(os.O_CREAT | os.O_EXCL)
        HELD.add(self._open_path)
        finalize(self, HELD.discard, self._open_path)  # in case the writer is dropped without closing
        sync_folder(path.parent)

    def append(self, pieces: Iterable[bytes | memoryview]) -> None:
        """Append all pieces, or raise and leave the file as it was."""
        if self._lost:
            raise self._lost
        try:
            self.size += append_whole(self._ready(), pieces, self.size)
        except OSError as error:
            raise self._named(error) from error

    def cut(self, size: int) -> None:
        """Truncate the file to a former size; only what was not synced may be removed."""
        os.ftruncate(self._ready(), size)
        self.size = size

    def sync(self) -> None:
        """Make everything appended outlast a power failure.

        If that fails, everything since the last success is cut off, and the file cannot be used any more: the system
        may have dropped unwritten data, and would not report that again.
        """
        if self._lost:
            raise self._lost
        if self._synced == self.size:
            return
        try:
            os.fsync(self._ready())
        except OSError as error:
            self._lost = self._named(error)
            if self._descriptor is not None:
                os.ftruncate(self._descriptor, self._synced)
            self._let_go()
            HELD.discard(self._open_path)
            raise self._lost from error
        self._synced = self.size

    def suspend(self) -> None:
        """Sync the file, and close its descriptor for now."""
        with suppress(OSError):  # the next use raises it
            self.sync()
        self._let_go()

    def abandon(self) -> None:
        """Close the file and leave it to another process."""
        self._let_go()
        HELD.discard(self._open_path)

    def discard(self) -> None:
        """Remove the file."""
        self.abandon()
        self._open_path.unlink()

    def check_owner(self) -> None:
        """Raise :class:`~sharc_crawler.errors.Superseded` if another process has taken the file over."""
        taken = self._open_path.with_name(self._open_path.name + TAKEN)
        if not self._open_path.exists() and (taken.exists() or self.path.exists()):
            raise Superseded(f"{self.path} is another worker's: it took the file over")

    def close(self) -> None:
        """Give the file its final name."""
        self.sync()
        self.check_owner()
        self._let_go()
        self._open_path.rename(self.path)
        HELD.discard(self._open_path)
        sync_folder(self.path.parent)

    def _ready(self) -> int:
        if self._descriptor is None:
            self._reopen(0)
        here.use(self)
        assert self._descriptor is not None, "at least the last one used is open"
        return self._descriptor

    def _reopen(self, flags: int) -> None:
        self._descriptor = os.open(self._open_path, os.O_RDWR | os.O_APPEND | flags, 0o666)
        with suppress(OSError):  # of a file system without locks
            lock(self._descriptor)
        here.use(self)

    def _let_go(self) -> None:
        here.drop(self)
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _named(self, error: OSError) -> OSError:
        return OSError(error.errno, error.strerror, str(self._open_path))


def are_finished(folder: Path) -> bool:
    """Is no WARC file of a folder left open or without its index by a crash?"""
    with os.scandir(folder) as found:
        names = {entry.name for entry in found}
    warcs = (name for name in names if name.endswith((SUFFIX, SUFFIX + OPEN)))
    return all(f"{warc.removesuffix(SUFFIX)}.cdxj" in names for warc in warcs)


def in_use(folder: Path) -> Path | None:
    """A file in the folder that a process is writing at this moment."""
    for path in folder.glob(f"*{OPEN}"):
        descriptor = os.open(path, os.O_RDWR)
        try:
            if not lock(descriptor):
                return path
        finally:
            os.close(descriptor)
    return None
