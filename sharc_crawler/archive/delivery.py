"""Copy a capture's folder to an object store and back, without files that are there already."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from sharc_crawler.archive.files import OPEN, SUFFIX
from sharc_crawler.archive.mirror import join, parts_of
from sharc_crawler.errors import DataError

if TYPE_CHECKING:
    from sharc_crawler.archive.objects import ObjectFolder

_NEVER_CHANGED = (SUFFIX, ".cdxj")  #: files that never change under their final names
_OF_A_PROCESS = (OPEN, "-wal", "-shm", ".tmp")  #: files of a running process


def deliver(
    folder: Path,
    objects: ObjectFolder,
    there: Mapping[str, int] | None = None,
    check: Callable[[], None] = lambda: None,
    by: str = "",
) -> int:
    """Upload a folder's files and those of folders in it; returns how many.

    WARC files that are in the store already are left there; all others are uploaded again. Nobody may write to the
    folder meanwhile. ``there``: sizes of the objects when the folder was made, if others may have uploaded since.
    ``check`` is called before each file, and raises to stop. ``by``: upload into this folder of the store first; each
    object is moved to its place after ``check`` was called again.
    """
    names, done = objects.names() if there is None else there, 0
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        if not (name.endswith(_NEVER_CHANGED) and names.get(name) == path.stat().st_size):
            check()
            if by:
                objects.put_file(f"{by}/{name}", path)
                check()
                objects.move(f"{by}/{name}", name)
            else:
                objects.put_file(name, path)
            done += 1
    return done


def _files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(_OF_A_PROCESS):
                yield Path(parent, name)


def fetch(objects: ObjectFolder, folder: Path, progress: Callable[[str, int], None] = lambda *_: None) -> int:
    """Download what the folder does not hold; returns the number of files. The store is not changed.

    An unfinished WARC file is joined from its parts, up to its last whole record. ``progress`` is given each file's
    name and size. Raises :class:`~sharc_crawler.errors.DataError`, and downloads nothing, if an object's name leads out
    of the folder.
    """
    names, done = _shown(objects), 0
    if outside := next((name for name in names if ".." in PurePosixPath(name).parts), None):
        raise DataError(f"{objects.url} holds {outside!r}, whose name leads out of it: nothing is fetched")
    parts = {part for of in parts_of(names).values() for part in of}
    for name, size in names.items():
        path = folder / name
        if name in parts or (path.is_file() and path.stat().st_size == size and name.endswith(_NEVER_CHANGED)):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            objects.get_file(name, draft)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        progress(name, size)
        done += 1
    return done + _unfinished(objects, names, folder, progress)


def _shown(objects: ObjectFolder) -> dict[str, int]:
    """The objects in their places, without those that a fleet's owner uploaded but did not move."""
    return {name: size for name, size in objects.names().items() if not re.search(r"(^|/)\.epoch-\d+/", name)}


def _unfinished(
    objects: ObjectFolder, names: dict[str, int], folder: Path, progress: Callable[[str, int], None]
) -> int:
    files = {name: parts for name, parts in parts_of(names).items() if name not in names}
    for name, parts in files.items():
        above, _, last = name.rpartition("/")
        (folder / above).mkdir(parents=True, exist_ok=True)
        here = {part.rpartition("/")[2]: size for part, size in parts.items()}
        path = join(objects.below(above or "."), last, here, folder / above)
        progress(name, path.stat().st_size)
    return len(files)
