"""Files on disk: the names of WARC files, who holds them, and writing so that a file is whole or said to be open."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import Self

    from sharc_crawler.model import Instant

SUFFIX = ".warc.gz"
OPEN = ".open"  #: added to the name while the file is being written
TAKEN = ".taken"  #: added to that while somebody else seals the file; its former owner finds it no more

_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")
_LONGEST = 80


def safe_name(name: str) -> str:
    """A name that is safe in a file name everywhere; a name that had to be changed is told apart by a digest.

    >>> safe_name("www.example.org"), safe_name("../etc/passwd")
    ('www.example.org', 'etc-passwd-e96c47ea')
    """
    safe = _UNSAFE.sub("-", name).strip(".-")[:_LONGEST]
    if safe == name and safe:
        return safe
    return f"{safe or 'site'}-{hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()[:8]}"


def file_name(site: str, run: str, serial: int, started: Instant) -> str:
    """The name of a capture's n-th file.

    >>> file_name("example.org", "r1", 0, 1795000000)
    'example.org-20261118110640-00000-r1.warc.gz'
    """
    return (
        f"{safe_name(site)}-{datetime.fromtimestamp(started, UTC):%Y%m%d%H%M%S}-{serial:05d}-{safe_name(run)}{SUFFIX}"
    )


_EPOCH = r"(?:\.epoch-\d+)?"  #: in the name of a run: which of a site's owners wrote, where there was more than one
_NAME = re.compile(rf"(.+)-\d{{14}}-(\d{{5,}})-([A-Za-z0-9.-]+?){_EPOCH}{re.escape(SUFFIX)}")


def series_of(name: str) -> tuple[str, str] | None:
    """Site and run in the name of a file, as they are written there; ``None``: not a name of ours.

    >>> series_of("example.org-20261118110640-00000-r1.warc.gz")
    ('example.org', 'r1')
    >>> series_of("example.org-20261118110640-00000-r1.epoch-0007.warc.gz")
    ('example.org', 'r1')
    """
    match = _NAME.fullmatch(name)
    return (match[1], match[3]) if match else None


def files_of(folder: Path, site: str, run: str) -> list[tuple[int, Path]]:
    """A run's files of all its owners, open ones too, as (serial, path) in the order of writing."""
    beginning = f"{safe_name(site)}-"
    ending = f"{re.escape(safe_name(run))}{_EPOCH}{re.escape(SUFFIX)}(?:{re.escape(OPEN)})?"
    pattern = re.compile(rf"{re.escape(beginning)}\d{{14}}-(\d{{5,}})-{ending}")
    with os.scandir(folder) as entries:  # there are as many series as sites, and each looks for its own
        names = [entry.name for entry in entries if entry.name.startswith(beginning)]
    return sorted((int(match[1]), folder / name) for name in names if (match := pattern.fullmatch(name)))


def lock(descriptor: int) -> bool:
    """Hold a file for this writer until the descriptor is closed; false: another writer holds it."""
    if sys.platform == "win32":  # an open file can be neither renamed nor removed there
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


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


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlast a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append_whole(descriptor: int, pieces: Iterable[bytes | memoryview], size: int) -> int:
    """Write all of it at the end of a file of so many bytes, or raise and leave the file as it was.

    Nothing is buffered: what a full disk refuses must not follow later, behind what was cut off. Returns how many bytes
    were added.
    """
    added = 0
    try:
        for data in pieces:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            added += len(data)
    except BaseException:
        os.ftruncate(descriptor, size)
        raise
    return added


def replace_file(path: Path, text: str | bytes) -> None:
    """Write a file whole or not at all; a reader never sees half of it."""
    with Drafts() as drafts, drafts.open(path) as file:
        file.write(text if isinstance(text, bytes) else text.encode("utf-8", "replace"))


def forget_drafts(folder: Path) -> None:
    """Remove what a process that was killed had begun to write here; nobody else writes in the folder now.

    >>> from tempfile import mkdtemp; from pathlib import Path
    >>> folder = Path(mkdtemp())
    >>> for name in (".report.json.4711", ".htaccess", "report.json"):
    ...     (folder / name).touch()
    >>> forget_drafts(folder)
    >>> sorted(path.name for path in folder.iterdir())
    ['.htaccess', 'report.json']
    """
    for path in folder.glob(".*.*"):
        if path.suffix[1:].isdecimal() and path.is_file():
            path.unlink()


class Drafts:
    """Files that are written together: they replace what was there when the last of them is on the disk, or none does.

    >>> from tempfile import mkdtemp; from pathlib import Path
    >>> path = Path(mkdtemp()) / "a"
    >>> with Drafts() as drafts:
    ...     with drafts.open(path) as file:
    ...         _ = file.write(b"text")
    ...     path.exists(), drafts.of(path).read_bytes()
    (False, b'text')
    >>> path.read_bytes()
    b'text'
    """

    def __init__(self) -> None:
        self._paths: list[Path] = []

    def __enter__(self) -> Self:
        return self

    def of(self, path: Path) -> Path:
        """Where the draft of a file lies until then."""
        return path.with_name(f".{path.name}.{os.getpid()}")

    @contextmanager
    def open(self, path: Path) -> Iterator[IO[bytes]]:
        """Write one of them."""
        self._paths.append(path)
        with self.of(path).open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())

    def drop(self) -> None:
        """Nothing is replaced after all."""
        for path in self._paths:
            self.of(path).unlink(missing_ok=True)
        self._paths.clear()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            for path in self._paths if kind is None else ():
                self.of(path).replace(path)
        finally:
            for path in self._paths:
                self.of(path).unlink(missing_ok=True)
