"""From the facts of a capture to its certificate (``certificate.schema.json``, docs/certificate.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sharc_crawler.certificate.canonical import DIGEST, digest, whole_numbers
from sharc_crawler.evidence import measures
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.instants import iso, maybe_iso, unix
from sharc_crawler.model import Kind, Result, Slot, Verdict
from sharc_crawler.report.claim import claim
from sharc_crawler.report.subsites import each_part
from sharc_crawler.report.words import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, VisitFacts
    from sharc_crawler.model import Instant

FORMAT = "sharc-certificate"
VERSION = 1  #: of the schema

TOTALS = ("known", "captured", "coherent", "changed", "unknown", "not_captured")
#: what no certificate of this version can claim, whatever the capture; other words are another version
LIMITS = (
    "Instants are those of the crawling machine's clock.",
    "A page is what the server sent to this crawler: others, elsewhere, logged in or by script, may be shown another.",
    "Equal bytes are equal SHA-1 digests of what was sent or, where the reason says so, of what it unpacks to.",
    "The certificate is not signed: who can rewrite every file can write another. Keep its digest in another place.",
)


def certificate(
    facts: CaptureFacts, files: Sequence[Mapping[str, Any]], uris: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The certificate of a complete capture, sealed with its digest.

    Parameters
    ----------
    files: the capture's WARC files: ``name``, ``bytes``, ``sha256``
    uris: of records by ``file:offset``, where they are not the page's canonical URL

    """
    facts = replace(facts, interruptions=tuple((_exact(start), _exact(end)) for start, end in facts.interruptions))
    whole = unit(facts.site, facts)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "capture": {**_capture(facts), **whole},
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
        "settings": whole_numbers(plain(facts.settings)),
        "started": iso(facts.started),
        "ended": maybe_iso(facts.ended),
        "interruptions": [{"from": iso(start), "to": iso(end)} for start, end in facts.interruptions],
        "audit": whole_numbers(plain(facts.audit)) if facts.audit else None,
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
        "claim": claim(facts, totals),
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


def method(page: PageFacts) -> str:
    """How a page's two states were compared."""
    if page.evidence is Evidence.VALIDATOR:
        return "conditional-request"
    if page.evidence is Evidence.ATTESTED:
        return "lastmod"
    if page.evidence is not Evidence.BYTES or page.visit is None:
        return "none"
    if page.revisit is None:
        return "reference-download" if page.visit.slot is Slot.ONLY else "none"
    return "payload-digest" if page.revisit.result is Result.OK else "kind-of-answer"


def _page(page: PageFacts, subsite: str, uris: Mapping[str, str]) -> dict[str, Any]:
    return {
        "url": page.url,
        "kind": page.kind.value,
        "subsite": subsite,
        "verdict": page.verdict.value if page.verdict else None,
        "evidence": (page.evidence or Evidence.NONE).value,
        "method": method(page),
        "reason": page.reason,
        "visit": _visit(page, page.visit, uris),
        "revisit": _visit(page, page.revisit, uris),
    }


def _missing(page: PageFacts, subsite: str, uris: Mapping[str, str]) -> dict[str, Any]:
    return {
        "url": page.url,
        "kind": page.kind.value,
        "subsite": subsite,
        "reason": page.reason,
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
        "digest": visit.digest,
        "file": file or None,
        "offset": int(offset) if file else None,
    }
