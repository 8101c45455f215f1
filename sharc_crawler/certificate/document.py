"""Make a certificate from the facts of a capture (``certificate.schema.json``, docs/certificate.md)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from sharc_crawler.certificate.canonical import DIGEST, digest, whole_numbers
from sharc_crawler.certificate.witness import RecordedExchange, Witness
from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence.claim import claim
from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, VisitFacts, each_part
from sharc_crawler.evidence.figures import PageSums
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.worded import code
from sharc_crawler.instants import iso, maybe_iso, unix
from sharc_crawler.model import Instant

Uri = Callable[[str], str | None]

FORMAT = "sharc-certificate"
VERSION = 1  #: of the schema

TOTALS = ("known", "captured", "coherent", "changed", "unknown", "not_captured")
#: codes of what no certificate can prove (docs/certificate.md)
LIMITS = ("crawler-clock", "as-sent-to-this-crawler", "sha1-digests", "seal-elsewhere")


def certificate(
    facts: CaptureFacts,
    pages: Mapping[str, Any] | None = None,
    clocks: Mapping[str, Mapping[str, int]] | None = None,
) -> dict[str, Any]:
    """The certificate of a complete capture, not sealed and still without a list of files.

    ``pages``: its file of pages (:mod:`..certificate.material`); ``clocks``: from :func:`server_clocks`.
    """
    exact = tuple((_exact(start), _exact(end)) for start, end in facts.interruptions)
    whole = unit(facts.site, replace(facts, interruptions=exact), facts.figures.whole)
    parts = [unit(part.name, replace(own, interruptions=exact), sums) for part, own, sums in each_part(facts)]
    return {
        "format": FORMAT,
        "version": VERSION,
        "capture": {**_capture(facts), "clocks": {**(clocks or {})}, **whole},
        "subsites": parts or [whole],
        "limits": list(LIMITS),
        "software": dict(facts.software),
        "files": [],
        "pages": dict(pages or {}),
        "report": [],
    }


def of_files(
    document: Mapping[str, Any], files: Sequence[Mapping[str, Any]], report: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The document with these files (WARC files and report: name, bytes, sha256), and with its digest."""
    stated = {**document, "files": [dict(file) for file in files], "report": [dict(file) for file in report]}
    return {**stated, DIGEST: digest(stated)}


def entries(facts: CaptureFacts, uri: Uri) -> Iterator[dict[str, Any]]:
    """The pages and resources of a certificate; ``uri`` gives the URI of the record at ``file:offset``."""
    for page in facts.pages:
        yield _page(page, page.subsite or facts.site, uri)


def _exact(instant: Instant) -> Instant:
    """The instant rounded as the certificate writes it, so that sentences made from either are the same."""
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


def unit(name: str, facts: CaptureFacts, sums: PageSums) -> dict[str, Any]:
    """Totals and claim of a capture, or of a subsite: of pages with the same reference instant."""
    totals = sums.tally.totals()
    return {
        "name": name,
        "reference": sums.span(),
        "totals": {part: totals[part] for part in TOTALS},
        "claim": claim(facts, sums),
    }


def _page(page: PageFacts, subsite: str, uri: Uri) -> dict[str, Any]:
    missing = {
        "url": page.url,
        "kind": page.kind.value,
        "subsite": subsite,
        "reason": code(page.reason),
        "visit": _visit(page, page.visit, uri),
    }
    if page.verdict is None:
        return missing
    return {
        **missing,
        "verdict": page.verdict.value,
        "evidence": (page.evidence or Evidence.NONE).value,
        "revisit": _visit(page, page.revisit, uri),
        **({"data": list(page.data)} if page.data else {}),
        **({"former": [_visit(page, visit, uri) for visit in page.former]} if page.former else {}),
    }


def _visit(page: PageFacts, visit: VisitFacts | None, uri: Uri) -> dict[str, Any] | None:
    if visit is None:
        return None
    file, _, offset = (visit.warc or "").rpartition(":")
    return {
        "slot": visit.slot.value,
        "date": iso(visit.started),
        "uri": (uri(visit.warc) if visit.warc else None) or page.url,
        "result": visit.result.value,
        "status": visit.status,
        "attempts": visit.attempts,
        "digest": visit.digest,
        "file": file or None,
        "offset": int(offset) if file else None,
        **({"server": {"date": iso(visit.said[0]), "modified": maybe_iso(visit.said[1])}} if visit.said else {}),
    }


def server_clocks(witness: Witness, files: Collection[str]) -> dict[str, dict[str, int]]:
    """By host, the ``least`` and ``greatest`` number of seconds from WARC-Date to Date among the answers in files."""
    found: dict[str, tuple[int, int]] = {}
    for exchange in witness:
        if exchange.file in files and (seconds := clock_off(exchange)) is not None:
            least, greatest = found.get(name := clock_of(exchange), (seconds, seconds))
            found[name] = min(least, seconds), max(greatest, seconds)
    return {name: {"least": least, "greatest": greatest} for name, (least, greatest) in sorted(found.items())}


def clock_off(exchange: RecordedExchange) -> int | None:
    """Whole seconds from the WARC-Date of an answer to its Date; ``None``: it has none."""
    message = exchange.message
    date = http_date(header_text(message.header(b"date"))) if message is not None else None
    return None if date is None else math.floor(date - unix(exchange.date))


def clock_of(exchange: RecordedExchange) -> str:
    """The server whose clock set an answer's Date: its host and port."""
    return urlsplit(exchange.uri).netloc.lower()
