"""Reports that are made again and say something else than the certificate that was sealed of the capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.certificate.writing import Certified, path_of
from sharc_crawler.report.packaged import not_of_capture

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sharc_crawler.evidence.facts import CaptureFacts


def contradicted(captures: Sequence[CaptureFacts], folder: Path) -> list[Certified]:
    """The certificates of a folder, where its report, as written just now from the state, does not agree with them."""
    there = [path for facts in captures if (path := path_of(facts, captures, folder)).exists()]
    found = [*not_of_capture(folder)] if there else []
    return [Certified(path, "", "", found) for path in there if found]
