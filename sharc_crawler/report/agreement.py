"""Compare a report with its certificate: whatever both state must agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

from sharc_crawler.certificate.canonical import whole_numbers
from sharc_crawler.certificate.document import TOTALS
from sharc_crawler.model import Kind, Result, Verdict
from sharc_crawler.report.claim import in_words

Document = Mapping[str, Any]

#: fields of a page that report and certificate share
_STATED = ("url", "kind", "verdict", "evidence")
_OF_VISITS = ("result", "status", "digest", "slot", "attempts")  #: fields of a download that both share


def otherwise(capture: Document, document: Document, entries: Iterable[Document], *, worded: bool) -> Iterator[str]:
    """Where a report differs from a capture's certificate; ``worded``: compare sentences, too (of the same version)."""
    own = document["capture"]
    claim = in_words(own["claim"])
    if worded and capture["claim"]["sentence"] != claim["sentence"]:
        yield "the report claims something else than the certificate"
    elif _claimed(capture["claim"], worded=worded) != _claimed(claim, worded=worded):
        yield "the report's grounds or limits are not those of the certificate"
    if {name: capture["coherence"][name] for name in own["totals"]} != own["totals"]:
        yield "the report's figures are not those of the certificate"
    times = {name: own[name] for name in ("started", "ended")}
    times["reference"] = _instant(own)
    if {name: capture["times"][name] for name in times} != times or capture["strategy"] != own["strategy"]:
        yield "the report's times or strategy are not those of the certificate"
    if (counts := _resources(entries)) != {name: capture["resources"][name] for name in counts}:
        yield "the report's figures of resources are not those of the certificate"
    for name in _others(capture, document):
        yield f"what the report says of its {name} is not what the certificate states"


def has_pages_of(lines: Iterable[Document], site: str, entries: Iterable[Document]) -> bool:
    """Do a report's lines list the same captured pages as a certificate, in the same order?"""
    told = (_stated(page) for page in lines if page["site"] == site and page["verdict"] is not None)
    certified = (_stated(entry) for entry in entries if "verdict" in entry)
    return all(one == other for one, other in zip_longest(told, certified))


def _claimed(claim: Document, *, worded: bool) -> Any:
    """A claim to compare; without its sentences if another version wrote them."""
    grounds = [{name: value for name, value in one.items() if name != "words"} for one in claim["grounds"]]
    return claim if worded else (claim["code"], grounds)


def _others(capture: Document, document: Document) -> Iterator[str]:
    """Names of further fields that differ."""
    own = document["capture"]
    if whole_numbers(capture["audit"]) != own["audit"]:
        yield "audit"
    if capture["seeds"] != own["seeds"]:
        yield "seeds"
    finite = {name: whole_numbers(value) for name, value in capture["settings"].items() if value is not None}
    if finite != {name: own["settings"].get(name) for name in finite}:
        yield "settings"
    if _ends(capture["times"]) != _ends(own):
        yield "interruptions"
    told = [(part["name"], part["reference"], _totals(part["coherence"])) for part in capture["subsites"]]
    stated = [(part["name"], _instant(part), _totals(part["totals"])) for part in document["subsites"]]
    undivided = not told and [name for name, *_ in stated] == [own["name"]]
    if told != stated and not undivided:
        yield "subsites"


def _instant(unit: Document) -> str | None:
    instant: str | None = (unit["reference"] or {}).get("instant")
    return instant


def _ends(one: Document) -> list[tuple[str, str]]:
    return [(part["from"], part["to"]) for part in one["interruptions"]]


def _totals(counts: Document) -> dict[str, int]:
    return {name: counts[name] for name in TOTALS}


def _resources(entries: Iterable[Document]) -> dict[str, int]:
    """How many resources and data were captured, in all and by verdict; absent ones do not count."""
    judged = (entry for entry in entries if entry["kind"] != Kind.PAGE and "verdict" in entry)
    verdicts = Counter(entry["verdict"] for entry in judged if not _is_absent(entry))
    return {"captured": verdicts.total()} | {one.value: verdicts[one.value] for one in Verdict}


def _is_absent(entry: Document) -> bool:
    """As :attr:`~sharc_crawler.evidence.facts.PageFacts.absent`."""
    first, second = entry["visit"], entry["revisit"]
    gone = first is not None and first["result"] in (Result.GONE, Result.REDIRECTED)
    return gone and entry["kind"] == Kind.RESOURCE and not (second and second["result"] == Result.OK)


def _stated(page: Document) -> tuple[Any, ...]:
    """The fields of a page that a line of the report and one of the certificate share."""
    visits = (_visited(one) for one in (page["visit"], page["revisit"]) if one)
    return *(page[name] for name in _STATED), page.get("code", page["reason"]) or "", page.get("data") or [], *visits


def _visited(visit: Document) -> tuple[Any, ...]:
    """The same fields of a download, and when it was made."""
    return *(visit[name] for name in _OF_VISITS), visit["started"] if "started" in visit else visit["date"]
