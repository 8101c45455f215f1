"""The output folder: made before the first request, and refused where it cannot be a capture's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.storage.folders import site_folders
from sharc_crawler.storage.opening import holds_state, load_state, open_state

if TYPE_CHECKING:
    from collections.abc import Iterable


def standing(output: Path) -> Path:
    """The output folder, or the next one above it that is there; raises UsageError where a file is in the way."""
    whole = Path(os.path.realpath(output))
    there = next(one for one in (whole, *whole.parents) if one.exists())
    if not there.is_dir():
        raise UsageError(f"output={str(output)!r} cannot be made: {there} is a file; choose another folder")
    return there


def make_folder(folder: Path) -> None:
    """Make the output folder before the first request: a crawl must not find out later that it cannot write.

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    try:
        standing(folder)  # else what is above would be made, and left
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"output={str(folder)!r} cannot be made: {error.strerror}; choose another folder") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"output={str(folder)!r} is not writable; choose another folder")


def is_begun(output: Path) -> bool:
    """Does the folder hold the state of a capture, or of several?"""
    return site_folders(output) is not None or (output.is_dir() and holds_state(output))


def check_state(output: Path) -> None:
    """Refuse a folder that holds WARC files, and no state to go on from. What else lies there is told.

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    if any(output.glob(f"*{SUFFIX}*")) and not has_captures(output):
        raise UsageError(
            f"output={str(output)!r} holds WARC files, and the state of their capture is missing or empty: give"
            " resume=rebuild, which makes it again from the WARC files and the log, or choose another folder"
        )
    if any(output.glob("[!.]*")) and not holds_state(output):
        from sharc_crawler.live.setup.strangers import tell  # hardly ever

        tell(output)


def check_objects(url: str, output: Path, folders: Iterable[Path]) -> None:
    """Refuse an object store that holds WARC files of captures which are to begin in these folders of the output.

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    from sharc_crawler.archive.objects import ObjectFolder  # only where there is one

    fresh = {folder.relative_to(output).as_posix() for folder in folders if not has_captures(folder)}
    try:
        names = ObjectFolder(url).names() if fresh else {}
    except OSError as error:
        raise UsageError(f"objects={url!r} cannot be used: {error}") from error
    if any(SUFFIX in name and (name.rpartition("/")[0] or ".") in fresh for name in names):
        raise UsageError(
            f"objects={url!r} holds a capture that output={str(output)!r} does not: choose another folder there, or get"
            f" that one with `sharc fetch {url} {output}` and go on"
        )


def is_whole(folder: Path) -> bool:
    """Is there state with a capture in it, all of which can be read?"""
    try:
        return has_captures(folder) and bool(load_state(folder))
    except DataError:
        return False


def has_captures(output: Path) -> bool:
    """Is there state with a capture in it? Raises :class:`~sharc_crawler.errors.DataError` where it is damaged."""
    if not output.is_dir() or not holds_state(output):
        return False
    with open_state(output) as store:
        return bool(store.captures())


def as_given(value: object) -> str:
    """A setting's value as it is given.

    >>> as_given(("a", "b")), as_given(())
    ('a b', '(none)')
    """
    if isinstance(value, tuple):
        return " ".join(value) or "(none)"
    return "(none)" if value is None else str(value)
