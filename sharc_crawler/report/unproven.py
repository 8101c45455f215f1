"""The facts of a capture whose records do not bear out what was judged of its pages: of none anything is known.

Its state keeps what was judged. So whoever reads that later goes by what the report says (:func:`as_reported`).
"""

from __future__ import annotations

from dataclasses import replace
from shlex import join
from typing import TYPE_CHECKING, Any

from sharc_crawler.certificate.refuted import refuted_in as refuted_in
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Verdict
from sharc_crawler.report.marks import ALTERED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sharc_crawler.evidence.facts import CaptureFacts, PageFacts

DOUBT = Reason.REFUTED.words
NOTE = "There is no certificate: the WARC files do not bear out what was judged of the pages."


class Unproven:
    """The pages of such a capture."""

    def __init__(self, pages: Iterable[PageFacts]) -> None:
        self._pages = pages

    def __iter__(self) -> Iterator[PageFacts]:
        for page in self._pages:
            yield page if page.verdict is None else _unproven(page)


def _unproven(page: PageFacts) -> PageFacts:
    return replace(page, verdict=Verdict.UNKNOWN, evidence=Evidence.NONE, reason=Reason.REFUTED, alike=False)


def unproven(facts: CaptureFacts, why: str = "", note: str = NOTE) -> CaptureFacts:
    """The capture as such; ``why``: what does not hold."""
    note = f"{note} {why}".rstrip()
    return replace(facts, refuted=True, pages=Unproven(facts.pages), audit=None, notes=(note, *facts.notes))


def as_reported(captures: list[CaptureFacts], report: Path) -> list[CaptureFacts]:
    """The captures of a folder, those as unproven of which its ``report.json`` says so."""
    refuted = refuted_in(report)
    return [unproven(facts) if facts.site in refuted else facts for facts in captures]


def after(report: Mapping[str, Any]) -> tuple[str, str]:
    """What to do after a capture of which nothing can be claimed."""
    if any(note.startswith(ALTERED) for note in report["notes"]):
        return f"{ALTERED} Put back a copy that is whole.", "sharc report FOLDER"
    words = "The WARC files do not bear out what was judged. Capture the site again, in another folder."
    return words, join(again(report["settings"], report["seeds"]))


def again(settings: Mapping[str, Any], seeds: Sequence[str], folder: str = "FOLDER") -> list[str]:
    """The words of a command that captures the same once more, beside what there is."""
    if spider := settings.get("spider"):
        return ["scrapy", "crawl", str(spider), "-s", f"SHARC_OUTPUT={folder}-again"]
    return ["scrapy", "crawl", "site", "-a", f"url={','.join(seeds)}", "-a", f"output={folder}-again"]
