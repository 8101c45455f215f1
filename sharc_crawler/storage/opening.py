"""Open the state of a capture's folder with the store that it is kept in.

The file ``.store`` in the folder has the name of the store, unless it is the default one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.errors import UsageError
from sharc_crawler.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from sharc_crawler.state.store import FrontierStore, StoreKind

USUAL = "sqlite"
NAMED = ".store"
_trusted: set[str] = set()  #: dotted paths of stores in the settings of this process


def store_kind(name: str) -> StoreKind:
    """The store with an entry point's name or a dotted path; the default one is found without searching plug-ins."""
    if name == USUAL:
        return SqliteStore
    from sharc_crawler.storage.guarded import store_of  # hardly ever

    return store_of(name)


def trust(name: str) -> None:
    """Allow a store named in settings to be imported also if a folder names it."""
    _trusted.add(name)


def store_of_folder(folder: Path) -> StoreKind:
    """The store of a folder's state; raises :class:`~sharc_crawler.errors.UsageError` for one that is not trusted."""
    if (name := kept_by(folder)) == USUAL:
        return SqliteStore
    from sharc_crawler.storage.guarded import store_named_in  # hardly ever

    return store_named_in(folder, name, _trusted)


def kept_by(folder: Path) -> str:
    """The name of the store of a folder's state, or the default one."""
    path = folder / NAMED
    return (path.read_text(encoding="utf-8").strip() if path.is_file() else "") or USUAL


def holds_state(folder: Path) -> bool:
    """Does a folder hold the state of a crawl? True also if its store is not installed."""
    try:
        return store_of_folder(folder).holds(folder)
    except UsageError:
        return True


def begin_state(folder: Path, name: str) -> FrontierStore:
    """Open or begin a crawl's state in a folder, and hold it.

    Raises :class:`~sharc_crawler.errors.Superseded` if another process holds it,
    :class:`~sharc_crawler.errors.UsageError` if it is kept in another store, or the disk fails.
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
        elif name != held_by:  # not rewritten needlessly, as a full disk would truncate it
            (folder / NAMED).write_text(f"{name}\n", encoding="utf-8")
    except OSError as error:
        why = f"the state cannot be kept there: {error.strerror or error}"
        raise UsageError(f"output={str(folder)!r}: {why}; mend that, or choose a folder on another disk") from error
    return store


def set_state_aside(folder: Path) -> None:
    """Rename a folder's damaged state, so that a new one can be made."""
    store_of_folder(folder).set_aside(folder)
