"""The folder of a crawl of several sites: each site's capture lies in a folder of its own within it.

The file ``sites.json`` names them. A site's folder is a capture's folder like any other: it may be moved elsewhere, and
a crawl of that site goes on there. A folder's state has one owner at a time: the process that holds its lock.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import IO

from sharc_crawler.errors import DataError, Superseded
from sharc_crawler.locks import lock

SITES = "sites.json"
#: in a capture's folder from the first to the last moment of a crawl: where it is left, the end is still to be written
RUNNING = ".running"
LOCK = ".frontier.lock"
_MINE = secrets.token_hex(8).encode()  #: this process, as the lock names it


def site_folders(folder: Path) -> dict[str, Path] | None:
    """The folder of each site of a crawl, there or moved elsewhere; ``None``: the folder is one capture's itself.

    Raises :class:`~sharc_crawler.errors.DataError` for a file that is not as we write it.
    """
    path = folder / SITES
    try:
        names: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))["folders"]
        return {site: folder / name for site, name in names.items()}
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"{path} does not name the folders of sites ({error}); name the folder of one site") from error


def capture_folders(folder: Path) -> list[Path]:
    """The folders with captures in a crawl's folder: those of its sites that are there, or itself."""
    sites = site_folders(folder) if folder.is_dir() else None
    return [folder] if sites is None else [path for path in sites.values() if path.is_dir()]


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
