"""The folder of a crawl of several sites: what is written in it, and which sites were moved elsewhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sharc_crawler.storage.folders import site_folders

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def folders_text(names: Mapping[str, str]) -> str:
    """The content of ``sites.json``: the name of each site's folder."""
    return json.dumps({"format": "sharc-sites", "version": 1, "folders": dict(names)}, indent=1) + "\n"


def moved_sites(folder: Path) -> list[str]:
    """The sites of a crawl whose folder is no longer in its folder."""
    return [site for site, path in (site_folders(folder) or {}).items() if not path.is_dir()]
