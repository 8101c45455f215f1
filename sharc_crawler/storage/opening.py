"""The state of a capture's folder, opened by the store that it is kept in.

A folder says by which one: the file ``.store`` holds its name where that is not the usual one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.errors import UsageError
from sharc_crawler.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from sharc_crawler.frontier.store import FrontierStore, StoreKind

USUAL = "sqlite"
NAMED = ".store"
_trusted: set[str] = set()  #: dotted paths that a crawl's settings name


def store_kind(name: str) -> StoreKind:
    """The store of an entry point's name or a dotted path; the usual one without a search for plug-ins."""
    if name == USUAL:
        return SqliteStore
    from sharc_crawler.storage.guarded import store_of  # hardly ever

    return store_of(name)


def trust(name: str) -> None:
    """A store that the settings of this process name may be imported, whichever folder names it, too."""
    _trusted.add(name)


def store_of_folder(folder: Path) -> StoreKind:
    """The store that a folder's state is kept in; raises :class:`~sharc_crawler.errors.UsageError` for a stranger's."""
    if (name := kept_by(folder)) == USUAL:
        return SqliteStore
    from sharc_crawler.storage.guarded import store_named_in  # hardly ever

    return store_named_in(folder, name, _trusted)


def kept_by(folder: Path) -> str:
    """The name of the store that a folder's state is kept in, or would be by default."""
    path = folder / NAMED
    return (path.read_text(encoding="utf-8").strip() if path.is_file() else "") or USUAL


def holds_state(folder: Path) -> bool:
    """Does a folder hold the state of a crawl? So it does where the store that it names is not installed."""
    try:
        return store_of_folder(folder).holds(folder)
    except UsageError:
        return True


def begin_state(folder: Path, name: str) -> FrontierStore:
    """A crawl's state in a folder, new or gone on with, held by this process from now on.

    Raises :class:`~sharc_crawler.errors.Superseded` where another process holds it,
    :class:`~sharc_crawler.errors.UsageError` where it is kept in another store, or its disk takes no file or no lock.
    """
    kind, held_by = store_kind(name), kept_by(folder)
    if held_by != name and store_of_folder(folder).holds(folder):
        raise UsageError(
            f"output={str(folder)!r} holds state that is kept by store {held_by!r}, not {name!r}:"
            f" give SHARC_STORE={held_by}, or choose another folder"
        )
    try:
        store = kind(folder)
        if name == USUAL:
            (folder / NAMED).unlink(missing_ok=True)
        elif name != held_by:  # on a full disk what is written again is lost
            (folder / NAMED).write_text(f"{name}\n", encoding="utf-8")
    except OSError as error:
        why = f"the state cannot be kept there: {error.strerror or error}"
        raise UsageError(f"output={str(folder)!r}: {why}; mend that, or choose a folder on another disk") from error
    return store


def set_state_aside(folder: Path) -> None:
    """Keep what a folder holds, damaged as it is, under another name: a new state is to be made."""
    store_of_folder(folder).set_aside(folder)
