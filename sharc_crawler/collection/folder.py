"""| The layout of a collection's folder."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sharc_crawler.archive.drafts import replace_file
from sharc_crawler.collection.terms import FILE, MASKS, CollectionTerms, SiteTerms, first_terms, read_terms
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.model import Instant, Phase
from sharc_crawler.storage.beside import open_state
from sharc_crawler.storage.folders import RUNNING
from sharc_crawler.storage.gathered import is_collection
from sharc_crawler.storage.opening import holds_state
from sharc_crawler.storage.trying_again import is_unreached

CAPTURES, HISTORY = "captures", "history.db"
ADDING, REMOVING = ".adding", ".removing"  #: suffixes of hidden folders that are being copied or removed
_TIME = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class CollectedCapture:
    """A capture in a collection, complete or not."""

    site: str  #: name of the site's folder
    time: Instant  #: when it was begun
    folder: Path


class Collection:
    """A collection's folder.

    >>> from pathlib import Path; from tempfile import mkdtemp
    >>> from sharc_crawler.collection.terms import CollectionTerms
    >>> found = Collection(Path(mkdtemp()), CollectionTerms())
    >>> found.capture_folder("a.example", 0.0).relative_to(found.folder).as_posix()
    'captures/a.example/19700101T000000Z'
    """

    def __init__(self, folder: Path, terms: CollectionTerms | None = None) -> None:
        """With the terms in its file; raises what :func:`~sharc_crawler.collection.terms.read_terms` does."""
        self.folder = folder
        self.terms = read_terms(folder) if terms is None else terms

    @classmethod
    def begin(cls, folder: Path, site: SiteTerms, settings: Mapping[str, str] | None = None) -> Collection:
        """A new collection with one site, and settings for each crawl; raises UsageError."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            replace_file(folder / FILE, first_terms(site, settings))
        except OSError as error:
            why = f"collection={str(folder)!r} cannot be made: {error.strerror}; choose another folder"
            raise UsageError(why) from error
        return cls(folder)

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Whether a folder is a collection."""
        return is_collection(folder)

    @property
    def history(self) -> Path:
        """The history that all captures add to."""
        return self.folder / HISTORY

    def masks(self, name: str) -> Path | None:
        """The file of a site's masks; ``None``: there is none."""
        path = self.folder / MASKS / f"{name}.json"
        return path if path.is_file() else None

    def capture_folder(self, name: str, time: Instant) -> Path:
        """The folder of a site's capture that begins at an instant."""
        return self.folder / CAPTURES / name / datetime.fromtimestamp(time, UTC).strftime(_TIME)

    def names(self) -> list[str]:
        """The sites with captures, sorted, including ones that are no longer in the file."""
        folder = self.folder / CAPTURES
        return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []

    def captures(self, name: str | None = None) -> Iterator[CollectedCapture]:
        """The captures of a site, or of all, oldest first."""
        for site in self.names() if name is None else [name]:
            folder = self.folder / CAPTURES / site
            for path in sorted(folder.iterdir()) if folder.is_dir() else ():
                time = _time_of(path)
                if time is not None and holds_state(path):
                    yield CollectedCapture(site, time, path)

    def last(self, name: str) -> CollectedCapture | None:
        """A site's last capture, complete or not. One of the future counts if it is unfinished, or the only one."""
        now, last = time.time(), None
        for capture in self.captures(name):
            if last is None or capture.time <= now or not is_over(capture.folder):
                last = capture
        return last


def check_new(folder: Path) -> None:
    """Raise UsageError unless a collection can be begun in the folder: it is missing or empty."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"collection={str(folder)!r} is no folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(
            f"collection={str(folder)!r} holds other things and no {FILE}: name another folder; what is a capture"
            " becomes a collection's by `sharc collection add`"
        )


def package_path(collection: Collection) -> Path:
    """The default path of a collection's package."""
    return collection.folder / f"{collection.folder.resolve().name}.wacz"


def is_over(folder: Path) -> bool:
    """Whether a capture is complete, with report and certificate. One that reached nobody is not.

    A capture with damaged state counts as over: nothing continues it by itself.
    """
    if (folder / RUNNING).exists():
        return False
    try:
        with open_state(folder) as store:
            captures = store.captures()
            if captures and all(row.phase is Phase.DONE for row in captures.values()):
                return not any(is_unreached(store, number) for number in captures)
            store.load()
    except DataError:
        return True
    return False


def _time_of(folder: Path) -> Instant | None:
    try:
        return datetime.strptime(folder.name, _TIME).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
