"""From the facts of a capture to its certificate (``certificate.schema.json``, docs/certificate.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sharc_crawler.certificate.canonical import DIGEST, digest, whole_numbers
from sharc_crawler.evidence import measures
from sharc_crawler.evidence.claim import claim
from sharc_crawler.evidence.facts import each_part
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import code
from sharc_crawler.instants import iso, maybe_iso, unix
from sharc_crawler.model import Kind, Slot, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, VisitFacts
    from sharc_crawler.model import Instant

FORMAT = "sharc-certificate"
VERSION = 1  #: of the schema

TOTALS = ("known", "captured", "coherent", "changed", "unknown", "not_captured")
#: what no certificate can claim, whatever the capture (docs/certificate.md)
LIMITS = ("crawler-clock", "as-sent-to-this-crawler", "sha1-digests", "seal-elsewhere")


def certificate(
    facts: CaptureFacts,
    files: Sequence[Mapping[str, Any]],
    uris: Mapping[str, str] | None = None,
    clocks: Mapping[str, Mapping[str, int]] | None = None,
) -> dict[str, Any]:
    """The certificate of a complete capture, sealed with its digest.

    Parameters
    ----------
    files: the capture's WARC files: ``name``, ``bytes``, ``sha256``
    uris: of records by ``file:offset``, where they are not the page's canonical URL
    clocks: of the servers (:mod:`..certificate.clocks`)

    """
    facts = replace(facts, interruptions=tuple((_exact(start), _exact(end)) for start, end in facts.interruptions))
    whole = unit(facts.site, facts)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "capture": {**_capture(facts), "clocks": {**(clocks or {})}, **whole},
        "subsites": [unit(part.name, own) for part, own in each_part(facts)] or [whole],
        "limits": list(LIMITS),
        "software": dict(facts.software),
        "files": [dict(file) for file in files],
        "pages": [
            _page(page, page.subsite or facts.site, uris or {}) for page in facts.pages if page.verdict is not None
        ],
        "not_captured": [
            _missing(page, page.subsite or facts.site, uris or {}) for page in facts.pages if page.verdict is None
        ],
    }
    return {**document, DIGEST: digest(document)}


def _exact(instant: Instant) -> Instant:
    """The instant as the certificate writes it: words made from either are the same."""
    return unix(iso(instant))


def _capture(facts: CaptureFacts) -> dict[str, Any]:
    return {
        "site": facts.site,
        "seeds": list(facts.seeds),
        "strategy": facts.strategy,
        "settings": whole_numbers(facts.settings),
        "started": iso(facts.started),
        "ended": maybe_iso(facts.ended),
        "interruptions": [{"from": iso(start), "to": iso(end)} for start, end in facts.interruptions],
        "audit": whole_numbers(facts.audit) if facts.audit else None,
        "notes": list(facts.notes),
    }


def unit(name: str, facts: CaptureFacts) -> dict[str, Any]:
    """What is claimed of pages with one reference instant: of a capture, or of a subsite, whose facts are its own."""
    own = [page for page in facts.pages if page.kind is Kind.PAGE]
    totals = measures.tally(own)
    return {
        "name": name,
        "reference": _reference(facts.reference, own),
        "totals": {part: totals[part] for part in TOTALS},
        "claim": claim(facts),
    }


def _reference(instant: Instant | None, pages: Iterable[PageFacts]) -> dict[str, str] | None:
    """T, and the interval in which every coherent page is shown to have stayed: any instant of it would do."""
    if instant is None:
        return None
    spans = [_span(page, instant) for page in pages if page.verdict is Verdict.COHERENT]
    return {
        "instant": iso(instant),
        "from": iso(max((start for start, _ in spans), default=instant)),
        "to": iso(min((end for _, end in spans), default=instant)),
    }


def _span(page: PageFacts, reference: Instant) -> tuple[Instant, Instant]:
    """Over which time a coherent page is shown to have stayed as it was."""
    if page.evidence is Evidence.ATTESTED:
        once = page.visit is not None and page.visit.slot is Slot.ONLY
        from_visit = [page.visit.started] if page.visit and once else []  # of two, it may be either
        return min([reference, *from_visit]), max([reference, *from_visit])
    downloads = [visit.started for visit in (page.visit, page.revisit) if visit]
    return min(downloads), max(downloads)


def _page(page: PageFacts, subsite: str, uris: Mapping[str, str]) -> dict[str, Any]:
    return {
        "url": page.url,
        "kind": page.kind.value,
        "subsite": subsite,
        "verdict": page.verdict.value if page.verdict else None,
        "evidence": (page.evidence or Evidence.NONE).value,
        "reason": code(page.reason),
        "visit": _visit(page, page.visit, uris),
        "revisit": _visit(page, page.revisit, uris),
    }


def _missing(page: PageFacts, subsite: str, uris: Mapping[str, str]) -> dict[str, Any]:
    return {
        "url": page.url,
        "kind": page.kind.value,
        "subsite": subsite,
        "reason": code(page.reason),
        "visit": _visit(page, page.visit, uris),
    }


def _visit(page: PageFacts, visit: VisitFacts | None, uris: Mapping[str, str]) -> dict[str, Any] | None:
    if visit is None:
        return None
    file, _, offset = (visit.warc or "").rpartition(":")
    return {
        "slot": visit.slot.value,
        "date": iso(visit.started),
        "uri": uris.get(visit.warc or "", page.url),
        "result": visit.result.value,
        "status": visit.status,
        "attempts": visit.attempts,
        "digest": visit.digest,
        "file": file or None,
        "offset": int(offset) if file else None,
    }
