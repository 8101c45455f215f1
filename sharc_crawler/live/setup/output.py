"""The output folder: made before the first request, and refused where it cannot be a capture's."""

from __future__ import annotations

import os
from pathlib import Path

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.errors import UsageError
from sharc_crawler.storage.folders import site_folders
from sharc_crawler.storage.opening import holds_state


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
    if any(output.glob(f"*{SUFFIX}*")):
        from sharc_crawler.live.setup.whole import has_captures  # only where something was begun

        if not has_captures(output):
            raise UsageError(
                f"output={str(output)!r} holds WARC files, and the state of their capture is missing or empty: give"
                " resume=rebuild, which makes it again from the WARC files and the log, or choose another folder"
            )
    if any(output.glob("[!.]*")) and not holds_state(output):
        from sharc_crawler.live.setup.checks import tell_others  # hardly ever

        tell_others(output)
