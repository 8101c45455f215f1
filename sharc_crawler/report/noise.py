"""Sentences about differences that are ignored: why, and by which masks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from sharc_crawler.changes.learning import ASKING
from sharc_crawler.evidence.facts import LEARNED, CaptureFacts
from sharc_crawler.guides import guide
from sharc_crawler.model import HowMade
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.marks import MANY

_WHYS = 2  #: most reasons listed for differences that were not masked


def how_kept(totals: Mapping[str, Any]) -> str:
    """In what the pages differ that kept their content but not their bytes; empty if there are none.

    >>> how_kept({"same_content": 39, "by_masks": 4})
    '35 pages differ only in what is ignored (nonces, comments, masks), 4 in what this capture learned to ignore'
    """
    masked = totals["by_masks"]
    parts = [
        (totals["same_content"] - masked, "what is ignored (nonces, comments, masks)"),
        (masked, "what this capture learned to ignore"),
    ]
    return ", ".join(
        f"{number:,} in {what}" if place else f"{counted(number, 'page', 'differ')} only in {what}"
        for place, (number, what) in enumerate([part for part in parts if part[0]])
    )


def noise_notes(facts: CaptureFacts, totals: Mapping[str, Any]) -> Iterator[str]:
    """Notes on what is ignored, and on the masks that the capture learned, or why it learned none."""
    masks, learned = len(facts.taught.masks), ""
    if totals["by_masks"]:
        give = "SHARC_MASKS=FILE" if "spider" in facts.settings else "-a masks=FILE, or in a collection masks: auto"
        learned = (
            f". {counted(masks, 'mask', 'were')} learned from what differed within a minute on at least half of the"
            f" pages that have it. Frequent edits look the same: look at {LEARNED} beside this report before"
            f" you give it to the next capture ({give})"
        )
    if learned or totals["same_content"] > MANY * totals["captured"]:
        bytes_alone = f"Coherence is judged by bytes all the same; what is ignored: {guide('changes')}"
        yield f"{how_kept(totals)}. {bytes_alone}{learned}"
    yield from (why for why in facts.taught.why if ASKING in why)
    if whys := [why for why in facts.taught.why if ASKING not in why]:
        what = "Not masked" if masks else "No mask was learned"
        yield HowMade(f"{what}: {' '.join(whys[:_WHYS])} `sharc masks` tells more")


def masked(facts: CaptureFacts, number: object) -> HowMade:
    """The note on the masks that a capture was made with."""
    file, taken = facts.settings["masks"], facts.settings.get("masks_taken")
    unseen = f", {taken} of them taken over from former captures by itself (masks: auto)" if taken else ""
    return HowMade(
        f"made with {counted(int(str(number)), 'mask')}{unseen}: pages that differ in nothing else count as the same"
        f" content, and a 304 for them is no lie. Edits of only these parts are not seen: look at {file}"
    )


def steps(report: Mapping[str, Any], page: str) -> Iterator[tuple[str, str]]:
    """Next steps about changes: are they noise, and what changed?"""
    totals = report["coherence"]
    if number := totals["by_masks"]:
        pages = f"{counted(number, 'page', 'differ')} only in what this capture learned to ignore"
        words = f"{pages}. Is it noise? Look at the masks, and use them (in a collection: masks: auto)."
        given = "-s SHARC_MASKS" if "spider" in report["settings"] else "-a masks"
        yield words, f"{given}=FOLDER/{LEARNED}"
    elif (number := totals["content"]["changed"] - totals["former_copies"]) > MANY * totals["captured"]:
        yield (
            f"{counted(number, 'page')} changed {agreeing(number, 'their')} content between visit and revisit."
            " Is it noise?",
            "sharc masks FOLDER",
        )
    if totals["content"]["changed"]:
        command = f"sharc diff FOLDER FOLDER {quote(page) if page else 'URL'}"
        yield "See what changed on a page between its visit and its revisit.", command
