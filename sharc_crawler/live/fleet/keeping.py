"""Where the workers of a fleet keep captures: in a shared folder or in an object store.

With an object store a worker's own folder is scratch: files lie in the store before their step is written, and the next
owner of a site continues from there.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Protocol

from sharc_crawler.archive.delivery import deliver, fetch
from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.mirror import seal
from sharc_crawler.archive.objects import ObjectFolder, is_url
from sharc_crawler.archive.owners import MARK, mark_of
from sharc_crawler.archive.taking_over import put_in_place, take_over
from sharc_crawler.errors import DataError, StoreUnavailable, UsageError
from sharc_crawler.live.setup.places import make_folder
from sharc_crawler.locks import lock
from sharc_crawler.state.rows import Batch
from sharc_crawler.storage.opening import holds_state


class Keeping(Protocol):
    """What a worker does with a site's folder. All methods may run in any thread, and raise :class:`OSError`."""

    folder: Path  #: of this worker, a folder for each site in it
    objects: str  #: URL of the object store; "": none

    def holds(self, folder: Path) -> str:
        """The name of the place where another capture lies; "": there is none."""

    def read(self, folder: Path, name: str) -> bytes:
        """The content of a file; empty if it is missing."""

    def take_over(self, folder: Path, epoch: int, state: Batch | None) -> None:
        """Become the folder's owner: seal what former owners left open, and keep them from writing more.

        ``state``: the journal's. Raises :class:`~sharc_crawler.errors.Superseded` if a later owner has begun,
        :class:`ElsewhereError` if no file of former owners is here, and DataError if some are missing.
        """

    def gather(self, folder: Path) -> Mapping[str, int]:
        """Fetch all former owners' files into the folder, for the report; returns the sizes of remote ones."""

    def deliver(self, folder: Path, ready: Path, there: Mapping[str, int], check: Callable[[], None]) -> None:
        """Put everything of an ended site, which lies ``ready`` in its owner's own folder, in place.

        ``there``: the result of :meth:`gather`; what a former owner has put there since does not count. ``check`` is
        called before each file, and raises if the site is another's.
        """

    def let_go(self, folder: Path) -> None:
        """The site is another worker's, or has ended."""


WAY_OUT = "put back what was there, then `sharc fleet requeue`; or `drop` and `add` the site, to begin anew"


class ElsewhereError(StoreUnavailable):
    """The files of a site's former workers are not where this worker keeps captures."""


class SharedFolder:
    """A folder that all workers share."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.objects = folder, ""

    def holds(self, folder: Path) -> str:
        return str(folder) if folder.is_dir() and (holds_state(folder) or any(folder.glob(f"*{SUFFIX}*"))) else ""

    def read(self, folder: Path, name: str) -> bytes:
        return (folder / name).read_bytes() if (folder / name).exists() else b""

    def take_over(self, folder: Path, epoch: int, state: Batch | None) -> None:
        make_folder(folder)
        take_over(folder, epoch)
        try:
            _require(
                counted(state), {path.name: path.stat().st_size for path in folder.glob(f"*{SUFFIX}")}, str(folder)
            )
        except ElsewhereError:
            with suppress(OSError):  # something else has that name
                folder.rmdir()
            raise

    def gather(self, folder: Path) -> Mapping[str, int]:  # noqa: ARG002 - they are there
        return {}

    def deliver(self, folder: Path, ready: Path, there: Mapping[str, int], check: Callable[[], None]) -> None:  # noqa: ARG002
        put_in_place(ready, folder, check)

    def let_go(self, folder: Path) -> None:
        """Leave the folder as it is: other workers use it."""


class SharedObjects:
    """A folder of an object store; ``scratch``: this worker's own."""

    def __init__(self, objects: ObjectFolder, scratch: Path) -> None:
        self._objects = objects
        self.folder, self.objects = scratch, objects.url

    def _of(self, folder: Path) -> ObjectFolder:
        return self._objects.below(folder.relative_to(self.folder).as_posix())

    def holds(self, folder: Path) -> str:
        there = self._of(folder)
        return there.url if any(not name.startswith(".") for name in there.names()) else ""

    def read(self, folder: Path, name: str) -> bytes:
        there = self._of(folder)
        return b"" if there.size(name) is None else there.get(name)

    def take_over(self, folder: Path, epoch: int, state: Batch | None) -> None:
        self.let_go(folder)
        make_folder(folder)
        there = self._of(folder)
        seal(there, folder, counted(state), epoch)
        _require(counted(state), there.names(), there.url)
        there.put(mark_of(epoch), b"%d" % epoch)

    def gather(self, folder: Path) -> Mapping[str, int]:
        there = self._of(folder).names()
        fetch(self._of(folder), folder)
        return there

    def deliver(self, folder: Path, ready: Path, there: Mapping[str, int], check: Callable[[], None]) -> None:
        objects, own = self._of(folder), ready.parent.name
        deliver(ready, objects, there, check, by=own)
        objects.remove([f"{own}/{MARK}"])

    def let_go(self, folder: Path) -> None:
        """Remove the scratch folder."""
        shutil.rmtree(folder, ignore_errors=True)


def counted(state: Batch | None) -> dict[str, int]:
    """The bytes of each WARC file that a journal relies on."""
    ends: dict[str, int] = {}
    for visit in state.visits if state else ():
        if ref := visit.outcome.capture:
            ends[ref.file] = max(ends.get(ref.file, 0), ref.offset + ref.length)
    return ends


def _require(relied_on: Mapping[str, int], there: Mapping[str, int], place: str) -> None:
    """Raise unless all WARC files that a journal relies on are there, and long enough."""
    lacking = sorted(name for name, end in relied_on.items() if there.get(name, 0) < end)
    if not lacking:
        return
    if there.keys().isdisjoint(relied_on):
        raise ElsewhereError(f"{place} has no WARC file of the site's former workers")
    more = f" and {len(lacking) - 1} more" if lacking[1:] else ""
    raise DataError(f"{place} lacks what former workers wrote in {lacking[0]}{more}: {WAY_OUT}")


@contextmanager
def keeping(output: str, scratch: Path | None = None) -> Iterator[Keeping]:
    """Where ``--output`` keeps captures: a folder, or an object store and ``scratch``. Raises UsageError."""
    if not is_url(output):
        yield SharedFolder(Path(output))
        return
    objects = ObjectFolder(output)
    try:
        objects.names()
    except OSError as error:
        raise UsageError(f"--output={output!r} cannot be used: {error}") from error
    with own_folder("sharc-fleet-", scratch) as folder:
        yield SharedObjects(objects, folder)


# -- folders of a worker's own: they go with it ------------------------------------------------------------------------


_HELD = ".held"  #: locked as long as the worker, or one of its processes, lives


@contextmanager
def own_folder(prefix: str, scratch: Path | None) -> Iterator[Path]:
    """A temporary folder in ``scratch`` (``None``: the system's), removed at the end.

    >>> with own_folder("sharc-doctest-", None) as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """
    _clear(prefix, scratch or Path(gettempdir()))
    with TemporaryDirectory(prefix=prefix, dir=scratch) as name:
        folder = Path(name)
        with (folder / f"{_HELD}.new").open("wb") as held:
            lock(held.fileno())
            (folder / f"{_HELD}.new").rename(folder / _HELD)  # renamed when locked, so that nobody finds it unlocked
            yield folder


def _clear(prefix: str, scratch: Path) -> None:
    """Remove folders that no process holds any more."""
    for path in scratch.glob(f"{prefix}*/{_HELD}"):
        with suppress(OSError), path.open("rb") as held:  # another user's folder is left alone
            if lock(held.fileno()):
                shutil.rmtree(path.parent, ignore_errors=True)
