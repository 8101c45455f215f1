"""At a capture's end: is there something of its site's noise to be learned, and what is it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.evidence.facts import Taught
from sharc_crawler.report.taught import NAME, SUPPORT, Teachers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sharc_crawler.changes.masks import Mask
    from sharc_crawler.evidence.capture import CaptureFacts


def teach(captures: Sequence[CaptureFacts], folder: Path, known: Sequence[Mask] = ()) -> Taught:
    """Learn from the pairs of a folder's captures, and write what was learned into it.

    Bodies are read only where pages changed their content. Raises :class:`OSError` where the folder cannot be
    written to.
    """
    seen = Teachers(captures)
    if seen.lost < SUPPORT and not (folder / NAME).exists():
        return Taught()
    from sharc_crawler.report.lesson import learned  # what reads bodies: only where pages changed their content

    return learned(seen, folder, known)
