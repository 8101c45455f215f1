"""State that lies elsewhere, safe, and is copied into a folder to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.storage.sqlite import FILE_NAME, SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.frontier.store import FrontierStore


def begin_copy(folder: Path) -> FrontierStore:
    """State that lies elsewhere, safe, and is copied here to be read; as :func:`begin_state`, but nothing is synced."""
    return SqliteStore(folder, copies=True)


def move_copy(folder: Path, to: Path) -> None:
    """Give a folder the state that was copied into another one, and is closed; what it had is replaced."""
    (folder / FILE_NAME).replace(to / FILE_NAME)
