"""What lies in the folder of a new capture and is not of it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from sharc_crawler.seeds.chosen import SELECTION

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)
SHOWN = 3


def tell(folder: Path) -> None:
    """Name it: it stays, and lies in the archive's folder from now on."""
    others = sorted(one.name for one in folder.glob("[!.]*") if one.name != SELECTION)  # this crawl has just made that
    if not others:
        return
    names = ", ".join(others[:SHOWN]) + (f" and {len(others) - SHOWN} more" if len(others) > SHOWN else "")
    logger.warning("Folder %s holds other files (%s): they stay, and no certificate speaks of them", folder, names)
