"""``keep.json``: what came of the last tries to capture each site. Without it nothing is lost but the back-off."""

from __future__ import annotations

import json
import sys
from typing import IO, TYPE_CHECKING

from sharc_crawler.archive.drafts import replace_file
from sharc_crawler.collection.due import Tries
from sharc_crawler.errors import UsageError
from sharc_crawler.storage.beside import is_locked

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from pathlib import Path

NAME, LOCK = "keep.json", ".keep.lock"


def read_tries(folder: Path) -> dict[str, Tries]:
    """Failures in a row by the name of their site; a file that cannot be read says nothing."""
    try:
        known = json.loads((folder / NAME).read_text(encoding="utf-8"))
        read = {name: Tries(**one) for name, one in known.items()}
        return {
            name: Tries(float(one.ended), int(one.failures), int(one.code), str(one.said)) for name, one in read.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def write_tries(folder: Path, known: dict[str, Tries]) -> None:
    """Write failures in a row, whole or not at all."""
    text = json.dumps({name: one._asdict() for name, one in known.items()}, indent=1, sort_keys=True)
    replace_file(folder / NAME, text + "\n")


def is_kept(folder: Path) -> bool:
    """Does a process keep the collection at this moment?"""
    return is_locked(folder / LOCK)


def hold_collection(folder: Path) -> IO[bytes]:
    """Keep a collection until the file that this returns is closed, or the process ends however it does.

    Raises :class:`~sharc_crawler.errors.UsageError` where another process keeps it, or nobody can. On Windows nothing
    is held.
    """
    try:
        held = (folder / LOCK).open("ab", buffering=0)
    except OSError as error:
        raise UsageError(f"collection={str(folder)!r} cannot be written to: {error.strerror}") from error
    if sys.platform != "win32":
        try:
            fcntl.flock(held.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            held.close()
            raise UsageError(
                f"collection={str(folder)!r} is kept by another `sharc keep` already; stop that one, or leave it to it"
            ) from None
    return held
