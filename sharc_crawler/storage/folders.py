"""The folder of a crawl of several sites, and the lock on a capture's folder.

Each site's capture has a folder of its own in it; ``sites.json`` lists them. Such a folder is a normal capture folder:
it may be moved elsewhere and resumed there. A folder's state has one owner: the process that holds its lock.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import IO

from sharc_crawler.errors import MALFORMED, DataError, Superseded
from sharc_crawler.locks import lock

SITES = "sites.json"
#: file in a capture's folder while a crawl runs; if it is left over, the capture's end is still to be written
RUNNING = ".running"
LOCK = ".frontier.lock"
_MINE = secrets.token_hex(8).encode()  #: the id of this process in the lock file


def site_folders(folder: Path) -> dict[str, Path] | None:
    """The folder of each site of a crawl, even if it was moved elsewhere; ``None``: there is no ``sites.json``.

    Raises :class:`~sharc_crawler.errors.DataError` for a malformed file.
    """
    path = folder / SITES
    try:
        names: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))["folders"]
        return {site: folder / name for site, name in names.items()}
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, *MALFORMED) as error:
        raise DataError(f"{path} does not name the folders of sites ({error}); name the folder of one site") from error


def capture_folders(folder: Path) -> list[Path]:
    """The capture folders of a crawl: those of its sites that are there, or the folder itself."""
    sites = site_folders(folder) if folder.is_dir() else None
    return [folder] if sites is None else [path for path in sites.values() if path.is_dir()]


def hold(folder: Path) -> IO[bytes]:
    """Hold the state of a folder until the returned file is closed, or the process ends in any way.

    Raises :class:`~sharc_crawler.errors.Superseded` if another process holds it.
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
    """The id of the process that held a folder's state last; empty: none is known."""
    try:
        return (folder / LOCK).read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
