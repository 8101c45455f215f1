"""A WARC file while it is written: it holds whole records, and its name says that it is open."""

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

HELD: set[Path] = set()  #: the files that this process is writing, suspended ones too, by their names while open


class WarcFile:
    """A WARC file under construction, named ``….open`` until it is closed."""

    def __init__(self, path: Path) -> None:
        self.path = path  #: its name once closed
        self.size = 0
        self._synced = 0  #: bytes that outlast a power failure
        self._lost: OSError | None = None  #: why the file could not be synced
        self._open_path = path.with_name(path.name + OPEN)
        self._descriptor: int | None = None  # suspended: it is opened again when it is used
        self._reopen(os.O_CREAT | os.O_EXCL)
        HELD.add(self._open_path)
        finalize(self, HELD.discard, self._open_path)  # a writer that was given up holds nothing
        sync_folder(path.parent)

    def append(self, pieces: Iterable[bytes | memoryview]) -> None:
        """Write all of it or raise and leave the file as it was."""
        if self._lost:
            raise self._lost
        try:
            self.size += append_whole(self._ready(), pieces, self.size)
        except OSError as error:
            raise self._named(error) from error

    def cut(self, size: int) -> None:
        """Take back what was appended last, and was not synced: the file has so many bytes again."""
        os.ftruncate(self._ready(), size)
        self.size = size

    def sync(self) -> None:
        """Have all that was appended on the disk.

        Where that fails, what was appended since the last time is cut off, and nothing more is taken: the system may
        have forgotten what it could not write, and would not say so again.
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
        """Let go of the descriptor for now. What is not on the disk goes there first; where it cannot, it is lost."""
        with suppress(OSError):  # the next use raises it
            self.sync()
        self._let_go()

    def abandon(self) -> None:
        """Hold the file no longer."""
        self._let_go()
        HELD.discard(self._open_path)

    def discard(self) -> None:
        """Remove the file."""
        self.abandon()
        self._open_path.unlink()

    def check_owner(self) -> None:
        """Raise :class:`~sharc_crawler.errors.Superseded` where another process has taken the file over."""
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
    """Whether no WARC file of a folder is open or lacks its index, as a crash leaves it."""
    with os.scandir(folder) as found:
        names = {entry.name for entry in found}
    warcs = (name for name in names if name.endswith((SUFFIX, SUFFIX + OPEN)))
    return all(f"{warc.removesuffix(SUFFIX)}.cdxj" in names for warc in warcs)


def in_use(folder: Path) -> Path | None:
    """A file in the folder that a writer holds open at this moment."""
    for path in folder.glob(f"*{OPEN}"):
        descriptor = os.open(path, os.O_RDWR)
        try:
            if not lock(descriptor):
                return path
        finally:
            os.close(descriptor)
    return None
