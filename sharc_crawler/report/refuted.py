"""Captures whose records do not bear out what was judged of their pages.

Where that is so of single pages, these are unknown. Else the report claims nothing, and says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sharc_crawler.certificate.restating import as_restated
from sharc_crawler.certificate.writing import certify, path_of
from sharc_crawler.report.marks import ALTERED
from sharc_crawler.report.unproven import NOTE, unproven
from sharc_crawler.report.write import write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sharc_crawler.certificate.witness import Finding
    from sharc_crawler.certificate.writing import Certified
    from sharc_crawler.evidence.facts import CaptureFacts


ROUNDS = 3  #: a page may rest on others that turn out to be unknown


def settle(
    captures: list[CaptureFacts], folder: Path, written: Sequence[Certified]
) -> tuple[list[CaptureFacts], list[Certified]]:
    """Write the reports once more, and seal what does hold: the captures then, and what became of their certificates.

    ``written``: those of the first attempt, some with findings.
    """
    known: dict[Path, dict[str, Any]] = {}
    certified = {one.path: one for one in written}
    for _ in range(ROUNDS):
        if not any(one.restated for one in certified.values()):
            break
        for one in certified.values():
            known[one.path] = {**known.get(one.path, {}), **one.restated}
        restated = [as_restated(facts, known.get(path_of(facts, captures, folder), {})) for facts in captures]
        write(restated, folder)
        certified |= {one.path: one for one in certify(restated, folder)}
        if not any(one.findings for one in certified.values()):
            return restated, list(certified.values())
    return _refute(captures, folder, list(certified.values())), list(certified.values())


def _refute(captures: Sequence[CaptureFacts], folder: Path, written: Sequence[Certified]) -> list[CaptureFacts]:
    """Write the reports of captures whose certificate is none, or does not hold, as such; all captures."""
    findings = {one.path: one.findings for one in written if one.findings}
    refuted = [_refuted(facts, path_of(facts, captures, folder), findings) for facts in captures]
    write(refuted, folder)
    return refuted


def _refuted(facts: CaptureFacts, path: Path, findings: Mapping[Path, Sequence[Finding]]) -> CaptureFacts:
    if path not in findings:
        return facts
    return unproven(facts, str(findings[path][0]), ALTERED if path.exists() else NOTE)
