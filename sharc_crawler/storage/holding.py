"""A folder's state has one owner at a time: the process that holds its lock, until that ends."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import IO

from sharc_crawler.errors import Superseded
from sharc_crawler.locks import lock

LOCK = ".frontier.lock"
_MINE = secrets.token_hex(8).encode()  #: this process, as the lock names it


def hold(folder: Path) -> IO[bytes]:
    """Hold the state of a folder until the file that this returns is closed, or the process ends however it does.

    Raises :class:`~sharc_crawler.errors.Superseded` where another process holds it.
    """
    held = (folder / LOCK).open("ab", buffering=0)
    if not lock(held.fileno()):
        held.close()
        raise Superseded(
            f"output={str(folder)!r} is being written by another crawl; wait for its end, or choose another folder"
            " (SHARC_OUTPUT='captures/%(name)s/%(time)s' gives each run of a project's spider its own)"
        )
    held.truncate(0)
    held.write(_MINE)
    return held


def owner(folder: Path) -> str:
    """Who held a folder's state last, even if it was let go since; empty: nobody, as far as is known."""
    try:
        return (folder / LOCK).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
