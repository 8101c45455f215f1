"""What scripts fetched, and the pages that were shown with it, as a certificate states them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.evidence.data import DataState, redirected, with_data
from sharc_crawler.model import Judgement, Result

if TYPE_CHECKING:
    from sharc_crawler.certificate.judging import Entry, Judge


def state(judge: Judge, entry: Entry) -> DataState | None:
    """The state of a piece of data."""
    visit = entry["visit"]
    led = redirected(Result(visit["result"]), visit["status"]) if visit else None
    judgement = judge.stated(entry) if "verdict" in entry else led
    return DataState(judgement, judge.references.get(entry["subsite"])) if judgement else None


def judged_with(judge: Judge, entry: Entry, own: Judgement) -> Judgement:
    """The judgement of a page together with the data that its scripts fetched."""
    listed = [url for url in entry["data"] if url in judge.data]
    if len(listed) < len(entry["data"]):
        judge.find(entry["visit"], entry, "data of it is not listed")
    return with_data(own, judge.references.get(entry["subsite"]), listed, judge.data)[0]
