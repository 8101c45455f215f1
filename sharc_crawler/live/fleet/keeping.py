"""Where all workers of a fleet keep their captures: a folder that they share, or an object store.

With an object store a worker's own folder is scratch: what counts lies in the store before its step is written, and the
next owner of a site goes on with what is there.
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
from sharc_crawler.frontier.rows import Batch
from sharc_crawler.live.setup.places import make_folder
from sharc_crawler.locks import lock
from sharc_crawler.storage.opening import holds_state


class Keeping(Protocol):
    """What a worker does with a site's folder; each method in any thread, and each raises :class:`OSError`."""

    folder: Path  #: of this worker, a folder for each site in it
    objects: str  #: URL of the object store that has to hold what is there; empty: none has

    def holds(self, folder: Path) -> str:
        """The name of the place where another capture lies; empty if none does."""

    def read(self, folder: Path, name: str) -> bytes:
        """What a file there holds; empty: it is not there."""

    def take_over(self, folder: Path, epoch: int, state: Batch | None) -> None:
        """Begin with a folder as this owner: what former ones left open is sealed, what they would put there goes.

        ``state``: what the journal has of them. Raises :class:`~sharc_crawler.errors.Superseded` where a later owner
        has begun, :class:`ElsewhereError` where nothing of theirs is there, and
        :class:`~sharc_crawler.errors.DataError` where some is not.
        """

    def gather(self, folder: Path) -> Mapping[str, int]:
        """Have all former owners' files in the folder, for the report; sizes of what lies elsewhere."""

    def deliver(self, folder: Path, ready: Path, there: Mapping[str, int], check: Callable[[], None]) -> None:
        """The site has ended, and all of it lies ready, in a folder of its owner's own.

        ``there``: what was gathered; what an old owner has put since does not count. ``check`` is called before each
        file, and raises where it is not to be put any more.
        """

    def let_go(self, folder: Path) -> None:
        """The site is another's, or has ended."""


WAY_OUT = "put back what was there, then `sharc fleet requeue`; or `drop` and `add` the site, to begin anew"


class ElsewhereError(StoreUnavailable):
    """What former workers wrote of a site does not lie where this worker keeps captures."""


class SharedFolder:
    """A folder that all workers see."""

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
            with suppress(OSError):  # something else lies there
                folder.rmdir()
            raise

    def gather(self, folder: Path) -> Mapping[str, int]:  # noqa: ARG002 - they are there
        return {}

    def deliver(self, folder: Path, ready: Path, there: Mapping[str, int], check: Callable[[], None]) -> None:  # noqa: ARG002
        put_in_place(ready, folder, check)

    def let_go(self, folder: Path) -> None:
        """Leave the folder as it is: other workers go on in it."""


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
        """Remove the folder: nothing in it counts here any more."""
        shutil.rmtree(folder, ignore_errors=True)


def counted(state: Batch | None) -> dict[str, int]:
    """The bytes of each WARC file that a journal relies on."""
    ends: dict[str, int] = {}
    for visit in state.visits if state else ():
        if ref := visit.outcome.capture:
            ends[ref.file] = max(ends.get(ref.file, 0), ref.offset + ref.length)
    return ends


def _require(relied_on: Mapping[str, int], there: Mapping[str, int], place: str) -> None:
    """Each WARC file that a journal relies on is there, as far as it does."""
    lacking = sorted(name for name, end in relied_on.items() if there.get(name, 0) < end)
    if not lacking:
        return
    if there.keys().isdisjoint(relied_on):
        raise ElsewhereError(f"{place} has no WARC file of the site's former workers")
    more = f" and {len(lacking) - 1} more" if lacking[1:] else ""
    raise DataError(f"{place} lacks what former workers wrote in {lacking[0]}{more}: {WAY_OUT}")


@contextmanager
def keeping(output: str, scratch: Path | None = None) -> Iterator[Keeping]:
    """Where ``--output`` keeps captures: in a folder, or in an object store with a folder in ``scratch``.

    Raises :class:`~sharc_crawler.errors.UsageError` for a store that cannot be used.
    """
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


_HELD = ".held"  #: locked as long as the worker, or a process of its own, lives


@contextmanager
def own_folder(prefix: str, scratch: Path | None) -> Iterator[Path]:
    """A folder in ``scratch`` (``None``: where temporary files lie), as long as it is wanted.

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
            (folder / f"{_HELD}.new").rename(folder / _HELD)  # nobody sees it before it is locked
            yield folder


def _clear(prefix: str, scratch: Path) -> None:
    """Remove what nobody holds any more."""
    for path in scratch.glob(f"{prefix}*/{_HELD}"):
        with suppress(OSError), path.open("rb") as held:  # another user's is theirs
            if lock(held.fileno()):
                shutil.rmtree(path.parent, ignore_errors=True)
