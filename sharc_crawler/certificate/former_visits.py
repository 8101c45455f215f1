"""Visits before T that a later one took the place of, as a certificate lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.model import Result, Slot

if TYPE_CHECKING:
    from sharc_crawler.certificate.judging import Entry, Judge


def check(judge: Judge, entry: Entry) -> None:
    """The page's visit is the last that brought content: one that would be hidden is found."""
    visit, reference = entry["visit"], judge.references.get(entry["subsite"])
    for stated in entry["former"]:
        outcome = judge.download(entry, stated, "former visit")
        brought = outcome is not None and outcome.result is Result.OK
        if visit is None or visit["result"] != Result.OK.value or "verdict" not in entry:
            judge.find(stated, entry, "it has a former visit, and no later one that brought content")
        elif brought and stated["date"] >= visit["date"]:
            judge.find(stated, entry, f"a former visit brought content after its visit of {visit['date']}")
        if stated["slot"] == Slot.SECOND.value or (reference is not None and stated["date"] > reference):
            judge.find(stated, entry, f"a former visit was not made before T={reference}")
        if stated["attempts"] != 1:
            judge.find(stated, entry, f"a former visit took {stated['attempts']} attempts: each is listed by itself")
