"""| Copies a capture made elsewhere into a collection, and adds it to the history."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from sharc_crawler.archive.warc_names import safe_name
from sharc_crawler.collection.folder import ADDING, Collection, check_new, is_over
from sharc_crawler.collection.terms import CollectionTerms, SiteTerms
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.locks import lock
from sharc_crawler.plural import counted
from sharc_crawler.state.rows import CaptureRow
from sharc_crawler.storage.beside import open_state


class KnownCaptureError(UsageError):
    """The collection has this capture (``same``), or another one of the site begun in the same second."""

    def __init__(self, capture: Path, place: Path, *, same: bool) -> None:
        super().__init__(f"capture={str(capture)!r} is in the collection already: {place}")
        self.same = same


def add(folder: Path, capture: Path, learn: Callable[[Path, Path], None]) -> Path:
    """Copy a complete capture into a collection, which is made if missing; returns the copy's folder.

    ``learn`` gets the copy and the history before the copy is in place: if it raises, no capture is added that the
    history lacks. Raises :class:`~sharc_crawler.errors.UsageError` for a capture that is unfinished, of several sites,
    or there already, and :class:`~sharc_crawler.errors.DataError` if it cannot be copied; nothing of it is left then.
    """
    row = _row(capture)
    if folder.resolve().is_relative_to(capture.resolve()):
        raise UsageError(f"collection={str(folder)!r} lies in the capture {str(capture)!r}: name another folder")
    spec = row.spec
    own = {"scope": spec.scope} if spec.scope != "host" else {}
    if not Collection.is_in(folder):
        check_new(folder)
        Collection.begin(folder, SiteTerms("", spec.site, spec.seeds, own))
    collection = Collection(folder)
    name = next((site.name for site in collection.terms.sites if site.site == spec.site), safe_name(spec.site))
    place = collection.capture_folder(name, row.started)
    if place.exists():
        raise KnownCaptureError(capture, place, same=_row(place).spec.settings.get("run") == spec.settings.get("run"))
    place.parent.mkdir(parents=True, exist_ok=True)
    for half in place.parent.glob(f".{place.name}.*{ADDING}"):
        with _held(half) as abandoned:
            if abandoned:  # the copying process was killed
                shutil.rmtree(half)
    draft = Path(mkdtemp(ADDING, f".{place.name}.", place.parent))  # unique: another process may add it, too
    with _held(draft):
        try:
            shutil.copytree(capture, draft, dirs_exist_ok=True)
            learn(draft, collection.history)
            draft.rename(place)
        except OSError as error:
            raise DataError(f"capture={str(capture)!r} cannot be copied to {place}: {_first(error)}") from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return place


@contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Lock a folder; yields ``False`` if another process holds it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield lock(descriptor)
    finally:
        os.close(descriptor)


def _first(error: OSError) -> object:
    """The error of the first file that could not be copied."""
    return error.args[0][0][-1] if isinstance(error, shutil.Error) else error.strerror or error


def stands_in(terms: CollectionTerms, capture: Path) -> bool:
    """Whether the capture's site is in the collection's file."""
    return _row(capture).spec.site in {site.site for site in terms.sites}


def _row(capture: Path) -> CaptureRow:
    with open_state(capture) as store:
        rows = list(store.captures().values())
    if len(rows) != 1:
        raise UsageError(
            f"capture={str(capture)!r} holds {counted(len(rows), 'capture')}: a collection has one in a folder"
        )
    if not is_over(capture):
        raise UsageError(f"capture={str(capture)!r} is not complete: go on with it first, by the same command")
    return rows[0]
