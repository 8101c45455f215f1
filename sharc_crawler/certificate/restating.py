"""Certify pages as unknown if the WARC files contradict what the crawl judged of them.

A certificate states what the records show. If crawl and records differ on single pages, these are stated again with the
downloads as recorded, and nothing is claimed of them. All other pages keep their verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sharc_crawler.addresses.urls import canonical
from sharc_crawler.certificate.examining import Restated
from sharc_crawler.certificate.judging import NO_ANSWER, Judge, recorded
from sharc_crawler.certificate.material import Material
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Kind, Result, Verdict

Entry = Mapping[str, Any]


def as_recorded(entry: Entry, judge: Judge, *, odd: bool) -> Entry:
    """A page's entry as unknown, with its downloads as recorded; without any if the entry is malformed (``odd``)."""
    visit, revisit = (None if odd else _by_record(entry.get(part), judge) for part in ("visit", "revisit"))
    return _unknown(entry, visit, revisit)


def add_unlisted(
    restated: Sequence[Restated], found: Iterable[Finding], source: Material, documents: Sequence[Entry]
) -> None:
    """Add the pages of answers that no certificate lists; pages not known before count as not captured."""
    urls = {canonical(url): url for one in found if (url := one.url)}
    known = set()
    for own, document in zip(restated, documents, strict=True):
        for entry in source.entries(document):
            if (place := canonical(entry["url"])) in urls:
                known.add(place)
                again = _unknown(entry, entry["visit"], entry.get("revisit"), Reason.ASKED_AGAIN)
                own.setdefault(entry["url"], again)
    site = documents[0]["subsites"][0]["name"]
    for url in (url for place, url in urls.items() if place not in known):
        restated[0][url] = _unknown({"url": url, "kind": Kind.PAGE.value, "subsite": site}, None, None)


def _unknown(entry: Entry, visit: Entry | None, revisit: Entry | None, why: Reason = Reason.REFUTED) -> Entry:
    """The page with these downloads, as unknown if its visit brought content, else as not captured."""
    found = {**{name: entry[name] for name in ("url", "kind", "subsite")}, "reason": why, "visit": visit}
    if "verdict" not in entry or visit is None or visit["result"] != Result.OK.value:
        return found
    return {**found, "verdict": Verdict.UNKNOWN.value, "evidence": Evidence.NONE.value, "revisit": revisit}


def _by_record(stated: Entry | None, judge: Judge) -> Entry | None:
    """A download as recorded; None: it has no record. Failed ones and those of former captures need none here."""
    if stated is None or "server" in stated or (stated["file"] is None and Result(stated["result"]) in NO_ANSWER):
        return stated
    exchange = judge.exchange(stated)
    if exchange is None or (exchange.uri, exchange.date) != (stated["uri"], stated["date"]):
        return None
    return {**stated, **recorded(exchange, judge.outcome(exchange, Result(stated["result"])))}
