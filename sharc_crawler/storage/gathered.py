"""Find the captures below a folder, such as a project's (``captures/NAME/TIME``) or a fleet's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from sharc_crawler.storage.folders import SITES, capture_folders, site_folders

DEEPEST = 4  #: levels of folders that are searched
COLLECTION = "collection.yaml"


def is_collection(folder: Path) -> bool:
    """Is a folder a collection? Its captures refer to each other, so it is treated as a unit."""
    return (folder / COLLECTION).is_file()


def gathered(folder: Path, is_capture: Callable[[Path], bool], down: int = DEEPEST) -> Iterator[Path]:
    """The captures and collections below a folder, sorted by name; those found are not searched further.

    Symbolic links are not followed.
    """
    for one in sorted(folder.iterdir()):
        if one.is_symlink() or not one.is_dir():
            continue
        if (one / SITES).exists():
            yield from filter(is_capture, capture_folders(one))
        elif is_capture(one) or is_collection(one):
            yield one
        elif down > 1:
            yield from gathered(one, is_capture, down - 1)


def folders_text(names: Mapping[str, str]) -> str:
    """The content of ``sites.json``: the name of each site's folder."""
    return json.dumps({"format": "sharc-sites", "version": 1, "folders": dict(names)}, indent=1) + "\n"


def moved_sites(folder: Path) -> list[str]:
    """The sites of a crawl whose folders were moved elsewhere."""
    return [site for site, path in (site_folders(folder) or {}).items() if not path.is_dir()]
