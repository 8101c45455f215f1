"""| Whether a folder holds captures with all of their state, and whether an object store holds others."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.model import Slot
from sharc_crawler.state.rows import Batch
from sharc_crawler.storage.beside import load_state, open_state
from sharc_crawler.storage.opening import holds_state


def is_whole(folder: Path) -> bool:
    """Whether there is readable state with a capture, and no revisit without its visit."""
    try:
        state = load_state(folder) if has_captures(folder) else Batch()
    except DataError:
        return False
    visited = {row.page for row in state.visits if row.slot is not Slot.SECOND}
    return bool(state) and all(row.page in visited for row in state.visits)


def has_captures(output: Path) -> bool:
    """Whether there is state with a capture; raises DataError if it is damaged."""
    if not output.is_dir() or not holds_state(output):
        return False
    with open_state(output) as store:
        return bool(store.captures())


def check_objects(url: str, output: Path, folders: Iterable[Path]) -> None:
    """Raise UsageError if an object store holds WARC files of captures that are to begin in these folders.

    A folder with WARC files of its own goes on: its state is to be made again from them.
    """
    from sharc_crawler.archive.objects import ObjectFolder  # only if there is one

    empty = (folder for folder in folders if not (has_captures(folder) or any(folder.glob(f"*{SUFFIX}*"))))
    fresh = {folder.relative_to(output).as_posix() for folder in empty}
    try:
        names = ObjectFolder(url).names() if fresh else {}
    except OSError as error:
        raise UsageError(f"objects={url!r} cannot be used: {error}") from error
    if any(SUFFIX in name and (name.rpartition("/")[0] or ".") in fresh for name in names):
        raise UsageError(
            f"objects={url!r} holds a capture that output={str(output)!r} does not: choose another folder there, or get"
            f" that one with `sharc fetch {url} {output}` and go on"
        )
