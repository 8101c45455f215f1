"""Captures whose records do not bear out what was judged of their pages: their reports claim nothing, and say why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.certificate.writing import path_of
from sharc_crawler.report.unproven import unproven
from sharc_crawler.report.write import write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sharc_crawler.certificate.writing import Certified
    from sharc_crawler.evidence.capture import CaptureFacts


def refute(captures: Sequence[CaptureFacts], folder: Path, written: Sequence[Certified]) -> list[CaptureFacts]:
    """Write the reports once more, of the captures without a certificate as such; all captures."""
    findings = {one.path: one.findings for one in written if one.findings}
    refuted = [
        unproven(facts, str(found[0])) if (found := findings.get(path_of(facts, captures, folder))) else facts
        for facts in captures
    ]
    write(refuted, folder)
    return refuted
