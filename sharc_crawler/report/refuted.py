"""Captures whose records do not bear out what was judged of their pages: their reports claim nothing, and say why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.certificate.writing import path_of
from sharc_crawler.report.notes import ALTERED
from sharc_crawler.report.unproven import NOTE, unproven
from sharc_crawler.report.write import write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sharc_crawler.certificate.witness import Finding
    from sharc_crawler.certificate.writing import Certified
    from sharc_crawler.evidence.facts import CaptureFacts


def refute(captures: Sequence[CaptureFacts], folder: Path, written: Sequence[Certified]) -> list[CaptureFacts]:
    """Write the reports once more, of the captures whose certificate is none or does not hold as such; all captures."""
    findings = {one.path: one.findings for one in written if one.findings}
    refuted = [_refuted(facts, path_of(facts, captures, folder), findings) for facts in captures]
    write(refuted, folder)
    return refuted


def _refuted(facts: CaptureFacts, path: Path, findings: Mapping[Path, Sequence[Finding]]) -> CaptureFacts:
    if path not in findings:
        return facts
    return unproven(facts, str(findings[path][0]), ALTERED if path.exists() else NOTE)
