"""Mirror WARC files to an object store, where nothing can be appended: synced data counts once it is there, too.

A file that is being written is uploaded in parts, named by their offsets (``NAME.part-000000012345``). The finished
file is uploaded as a whole with its index, and the parts are removed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from warcio.exceptions import ArchiveLoadFailed

from sharc_crawler.archive.cdxj import write_index
from sharc_crawler.archive.files import OPEN, SUFFIX, sync_folder
from sharc_crawler.archive.indexing import entries
from sharc_crawler.archive.owners import MARK, epoch_of, former, mark_of
from sharc_crawler.archive.recovery import record_ends
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.errors import DataError

if TYPE_CHECKING:
    from sharc_crawler.archive.objects import ObjectFolder

PART = ".part-"
_NUMBERED = re.compile(rf"(.+){re.escape(PART)}(\d+)", re.DOTALL)
LARGEST = 64_000_000  #: most bytes of a mirrored WARC file, as it is uploaded a second time when finished
_INDEX = ".cdxj"


class PendingPart(NamedTuple):
    """Something to upload: a file, or the bytes of a growing one from ``start`` to ``end``."""

    name: str
    start: int = 0
    end: int | None = None  #: None: the whole file


class Mirror:
    """A folder's WARC files and indexes, copied to the object store as they grow."""

    def __init__(self, folder: Path, objects: ObjectFolder) -> None:
        self._folder, self._objects = folder, objects
        names = objects.names()
        self._parts = parts_of(names)
        self._ends = {name: end_of(parts) for name, parts in self._parts.items()}
        sizes = {entry.name: entry.stat().st_size for entry in os.scandir(folder)}
        self._whole = {name for name, size in names.items() if sizes.get(name) == size}
        self._synced: dict[str, int | None] = {}

    def synced(self) -> None:
        """Note that all files' present content is on disk. Nobody may write to them meanwhile."""
        with os.scandir(self._folder) as found:
            for entry in found:
                if entry.name.endswith(SUFFIX + OPEN):
                    self._synced[entry.name.removesuffix(OPEN)] = entry.stat().st_size
                elif entry.name.endswith((SUFFIX, _INDEX)):
                    self._synced[entry.name] = None

    def due(self) -> list[PendingPart]:
        """Synced data that is not in the store, finished files first, each before its index."""
        whole = [name for name, size in self._synced.items() if size is None and name not in self._whole]
        grown = [
            PendingPart(name, have, size)
            for name, size in self._synced.items()
            if size is not None and size > (have := self._ends.get(name, 0))
        ]
        return [*map(PendingPart, sorted(whole, reverse=True)), *grown]  # ….warc.gz before ….cdxj

    def put(self, due: PendingPart) -> None:
        """Upload a part; raises :class:`OSError`.

        If another process finished the WARC file meanwhile, raises :class:`FileExistsError`: its file counts.
        """
        path = self._folder / due.name
        if due.end is None:
            self._objects.put_file(f".{due.name}", path)  # may take long, so the owner is checked afterwards
            self._check_own(due.name, f".{due.name}")
            if due.name.endswith(SUFFIX) and self._objects.size(due.name) not in (None, path.stat().st_size):
                raise FileExistsError(f"{self._objects.url}/{due.name} was finished by another process")
            self._objects.move(f".{due.name}", due.name)
            self._whole.add(due.name)
            self._objects.remove(self._parts.pop(due.name, {}))
            return
        part = f"{due.name}{PART}{due.start:012d}"
        self._objects.put(part, _read(path, due.start, due.end))
        if not due.start:  # the first part begins a file that a new owner would not know
            self._check_own(due.name, part)
        self._parts.setdefault(due.name, {})[part] = due.end - due.start
        self._ends[due.name] = due.end

    def _check_own(self, name: str, put: str) -> None:
        """Remove what was uploaded after another owner had taken the site over, and raise FileExistsError."""
        epoch = epoch_of(name)
        if epoch is not None and self._objects.size(mark_of(epoch)) is None:
            self._objects.remove([put])
            raise FileExistsError(f"{self._objects.url}/{name} came too late: epoch {epoch} of its site is over")


def _read(path: Path, start: int, end: int) -> bytes:
    growing = path.with_name(path.name + OPEN)
    try:
        stream = growing.open("rb")
    except FileNotFoundError:  # it was finished meanwhile
        stream = path.open("rb")
    with stream:
        stream.seek(start)
        return stream.read(end - start)


def parts_of(names: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """The parts of unfinished files: file name → part name → size, in order.

    >>> parts_of({"a.warc.gz.part-000000000000": 9, "b.warc.gz": 3, "a.warc.gz.part-000000000009": 4})
    {'a.warc.gz': {'a.warc.gz.part-000000000000': 9, 'a.warc.gz.part-000000000009': 4}}
    """
    found: dict[str, dict[str, int]] = {}
    for name in sorted(names):
        if part := _NUMBERED.fullmatch(name):
            found.setdefault(part[1], {})[name] = names[name]
    return found


def end_of(parts: Mapping[str, int]) -> int:
    """How many bytes of a file its parts hold without a gap; parts may overlap.

    >>> end_of({"a.part-000000000000": 9, "a.part-000000000009": 4, "a.part-000000000020": 4})
    13
    """
    end = 0
    for name, size in parts.items():
        start = int(name.rpartition(PART)[2])
        if start > end:
            break
        end = max(end, start + size)
    return end


def join(objects: ObjectFolder, name: str, parts: Mapping[str, int], folder: Path, least: int = 0) -> Path:
    """Join a file from its parts, up to its last whole record, and write its index.

    A damaged file gets no index; verification says where the damage is. ``least``: bytes that must be there, else it
    raises :class:`~sharc_crawler.errors.DataError`.
    """
    path, end = folder / name, 0
    draft = path.with_name(f".{name}.{os.getpid()}")
    try:
        with draft.open("w+b") as stream:
            for part in _without_gap(parts):
                stream.seek(int(part.rpartition(PART)[2]))
                stream.write(objects.get(part))
            stream.seek(0)
            for whole in record_ends(stream):
                end = whole
            stream.truncate(end)
            stream.flush()
            os.fsync(stream.fileno())
        if end < least:
            raise DataError(f"{objects.url}/{name}: {end:,} bytes are there in whole records, and {least:,} count")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(folder)
    with suppress(ArchiveLoadFailed):
        write_index(path, entries(path))
    return path


def _without_gap(parts: Mapping[str, int]) -> Iterable[str]:
    end = end_of(parts)
    return [part for part in parts if int(part.rpartition(PART)[2]) < end]


def seal(objects: ObjectFolder, folder: Path, counted: Mapping[str, int], epoch: int) -> list[Path]:
    """Finish the files that former owners left in parts; returns their paths.

    ``counted``: file → bytes that the journal relies on. Objects that former owners did not move to their places are
    removed. Raises :class:`~sharc_crawler.errors.Superseded` if there is an owner of a later epoch.
    """
    marks = [name for name in former(objects.names(), epoch) if name.startswith(".") and name.endswith(f"/{MARK}")]
    objects.remove(marks)  # former owners remove what they upload from now on
    names = objects.names()
    of_them, sealed = former(names, epoch), []
    objects.remove([name for name in of_them if name.startswith(".")])
    for name, parts in parts_of({name: names[name] for name in of_them}).items():
        if name not in names:
            path = join(objects, name, parts, folder, counted.get(name, 0))
            objects.put_file(name, path)
            if index_path(path).exists():  # a damaged file has none
                objects.put_file(index_path(path).name, index_path(path))
            sealed.append(path)
        objects.remove(parts)
    return sealed
