"""Pages of which the WARC files do not bear out what the crawl judged: they are certified as unknown.

A certificate states what the records show. Where crawl and records are apart on single pages, these are stated again:
the downloads that the records have, as they have them, and nothing is claimed. All other pages keep their verdicts.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sharc_crawler.certificate.examining import entries_of
from sharc_crawler.certificate.fixity import pages_name
from sharc_crawler.certificate.judging import NO_ANSWER, recorded
from sharc_crawler.certificate.material import PageEntries, opened
from sharc_crawler.certificate.unspoken import NOTE
from sharc_crawler.certificate.writing import path_of
from sharc_crawler.evidence.facts import PageFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Judgement, Kind, Result, Url, Verdict
from sharc_crawler.plural import counted
from sharc_crawler.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sharc_crawler.certificate.examining import Restated
    from sharc_crawler.certificate.judging import Judge
    from sharc_crawler.certificate.material import Material
    from sharc_crawler.certificate.witness import Finding
    from sharc_crawler.evidence.facts import CaptureFacts, VisitFacts

    Entry = Mapping[str, Any]

REFUTED = Judgement(Verdict.UNKNOWN, Evidence.NONE, Reason.REFUTED)


def as_recorded(entry: Entry, judge: Judge, *, odd: bool) -> Entry:
    """The entry of a page as the records have its downloads, as unknown; where it is ``odd`` in itself, without any."""
    visit, revisit = (None if odd else _by_record(entry.get(part), judge) for part in ("visit", "revisit"))
    return _unknown(entry, visit, revisit)


def add_unlisted(
    restated: Sequence[Restated], found: Iterable[Finding], source: Material, documents: Sequence[Entry]
) -> None:
    """Add the pages of answers that no certificate speaks of; those of which none was known were not captured."""
    urls = {canonical(url): url for one in found if (url := one.url)}
    known = set()
    for own, document in zip(restated, documents, strict=True):
        for entry in entries_of(source, document):
            if (place := canonical(entry["url"])) in urls:
                known.add(place)
                own.setdefault(entry["url"], _unknown(entry, entry["visit"], entry.get("revisit")))
    site = documents[0]["subsites"][0]["name"]
    for url in (url for place, url in urls.items() if place not in known):
        restated[0][url] = _unknown({"url": url, "kind": Kind.PAGE.value, "subsite": site}, None, None)


def _unknown(entry: Entry, visit: Entry | None, revisit: Entry | None) -> Entry:
    """The page with these downloads alone: captured if its visit brought content."""
    found = {**{name: entry[name] for name in ("url", "kind", "subsite")}, "reason": REFUTED.reason, "visit": visit}
    if "verdict" not in entry or visit is None or visit["result"] != Result.OK.value:
        return found
    return {**found, "verdict": REFUTED.verdict.value, "evidence": REFUTED.evidence.value, "revisit": revisit}


def _by_record(stated: Entry | None, judge: Judge) -> Entry | None:
    """A download as its records have it; None: there are none. What was never answered, or taken, has none here."""
    if stated is None or "server" in stated or (stated["file"] is None and Result(stated["result"]) in NO_ANSWER):
        return stated
    exchange = judge.exchange(stated)
    if exchange is None or (exchange.uri, exchange.date) != (stated["uri"], stated["date"]):
        return None
    return {**stated, **recorded(exchange, judge.outcome(exchange, Result(stated["result"])))}


# -- facts -------------------------------------------------------------------------------------------------------------


class RestatedPages:
    """The pages of a capture, some of them as restated, and behind them those that only the records know."""

    def __init__(self, pages: Iterable[PageFacts], restated: Restated) -> None:
        self._pages, self._restated = pages, restated

    def __iter__(self) -> Iterator[PageFacts]:
        left = dict(self._restated)
        for page in self._pages:
            entry = left.pop(page.url, None)
            yield page if entry is None else _page(page, entry)
        for entry in left.values():
            yield PageFacts(
                Url(entry["url"]), Kind(entry["kind"]), "", 0, 0.0, "", reason=Reason.REFUTED, subsite=entry["subsite"]
            )


def _page(page: PageFacts, entry: Entry) -> PageFacts:
    captured = "verdict" in entry
    return replace(
        page,
        visit=_visit(page.visit, entry["visit"]),
        revisit=_visit(page.revisit, entry.get("revisit")),
        former=(),
        verdict=REFUTED.verdict if captured else None,
        evidence=REFUTED.evidence if captured else None,
        reason=Reason.REFUTED,
        alike=False,
        data=(),
    )


def _visit(visit: VisitFacts | None, stated: Entry | None) -> VisitFacts | None:
    if visit is None or stated is None:
        return None
    return replace(visit, result=Result(stated["result"]), status=stated["status"], digest=stated["digest"])


def as_restated(facts: CaptureFacts, restated: Restated) -> CaptureFacts:
    """The capture with these pages restated, and a note of them."""
    if not restated:
        return facts
    pages = f"{counted(len(restated), 'page')}, of which nothing is claimed"
    note = f"{NOTE} {pages}. This is a fault of sharc-crawler, or of a plug-in: please report it ({min(restated)})"
    return replace(facts, pages=RestatedPages(facts.pages, restated), notes=(note, *facts.notes))


def as_sealed(captures: Sequence[CaptureFacts], folder: Path) -> list[CaptureFacts]:
    """The captures of a folder as their certificates have them: their state keeps what was judged."""
    return [as_restated(facts, _restated_in(path_of(facts, captures, folder))) for facts in captures]


def _restated_in(certificate: Path) -> Restated:
    try:
        if not any(note.startswith(NOTE) for note in json.loads(certificate.read_bytes())["capture"]["notes"]):
            return {}
        pages = PageEntries(partial(opened, certificate.with_name(pages_name(certificate.name))))
        return {entry["url"]: entry for entry in pages if entry["reason"] == Reason.REFUTED}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):  # none, or it cannot be read
        return {}
