"""What a certificate states of pages and sums, made anew from the records: before it is sealed, and when verified."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sharc_crawler.certificate.canonical import DIGEST
from sharc_crawler.certificate.document import unit
from sharc_crawler.certificate.judging import Judge
from sharc_crawler.certificate.references import missing
from sharc_crawler.certificate.witness import Finding, Witness
from sharc_crawler.evidence.facts import CaptureFacts, SubsiteFacts
from sharc_crawler.instants import unix
from sharc_crawler.model import Kind
from sharc_crawler.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sharc_crawler.certificate.material import Material
    from sharc_crawler.certificate.witness import RecordedExchange
    from sharc_crawler.evidence.facts import PageFacts

    Document = Mapping[str, Any]

_SHOWN = re.compile(rb"html|pdf|image|video|audio|script|css|json", re.IGNORECASE)
_LATEST = 600.0  #: seconds before a cut within which what was downloaded may not have been noted yet


@dataclass(slots=True)
class Examination:
    """What became of it: the statements hold if there is no finding."""

    findings: list[Finding] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)  #: of the certificates (:mod:`..evidence.claim`)
    digests: list[str] = field(default_factory=list)  #: of the certificates
    pages: int = 0
    elsewhere: int = 0  #: payloads in former captures that were not given


def examine(witness: Witness, source: Material, documents: Sequence[dict[str, Any]]) -> list[Finding]:
    """What of certificates that are not sealed yet does not follow from the WARC files."""
    found = Examination()
    for document in documents:
        statements("certificate", source, document, witness, Witness(), found)
    return [*witness.findings, *missing(witness, Witness()), *found.findings, *unspoken(witness, documents)]


def statements(
    name: str, source: Material, document: dict[str, Any], witness: Witness, former: Witness, into: Examination
) -> None:
    """What a certificate states of pages and sums."""
    references = {part["name"]: part["reference"]["instant"] for part in document["subsites"] if part["reference"]}
    entries = (*document["pages"], *document["not_captured"])
    urls = {entry["url"] for entry in entries}
    judge = Judge(witness, former, references, source.warcs, urls)
    pages = judge.pages(entries)
    into.findings += judge.findings
    into.findings += _twice(document)
    into.findings += _misnamed(document)
    into.findings += _sums(name, document, pages)
    into.claims.append(document["capture"]["claim"])
    into.digests.append(document[DIGEST])
    into.pages += len(document["pages"])
    into.elsewhere += judge.elsewhere


def _twice(document: dict[str, Any]) -> Iterator[Finding]:
    """No page may count twice."""
    seen = set()
    for entry in (*document["pages"], *document["not_captured"]):
        if entry["url"] in seen:
            yield Finding("it is listed twice", url=entry["url"])
        seen.add(entry["url"])


def _misnamed(document: dict[str, Any]) -> Iterator[Finding]:
    """A page was downloaded from its own URL, however it is spelt; a project's spider gives names as it likes."""
    if "spider" in document["capture"]["settings"]:
        return
    for entry in (*document["pages"], *document["not_captured"]):
        for part in ("visit", "revisit"):
            stated = entry.get(part)
            if stated and canonical(stated["uri"]) != canonical(entry["url"].removesuffix("#")):
                yield Finding(f"its {part} is of {stated['uri']}", stated["file"], stated["offset"], entry["url"])


def _sums(name: str, document: dict[str, Any], pages: Sequence[PageFacts]) -> Iterator[Finding]:
    """Totals, reference intervals and claims of the capture and its subsites, from the pages as judged again."""
    entries = (*document["pages"], *document["not_captured"])
    parts = document["subsites"]
    groups = [("capture", document["capture"], list(pages), _parts(document))]
    for stated in parts:
        own = [page for page, entry in zip(pages, entries, strict=True) if entry["subsite"] == stated["name"]]
        groups.append((f"subsite {stated['name']}", stated, own, ()))
    for what, stated, own, divided in groups:
        facts = _facts(document, stated, own, divided)
        for part, again in unit(stated["name"], facts, facts.figures.whole).items():
            if again != stated[part]:
                yield Finding(f"{part} of the {what}: {_difference(again, stated[part])}", name)
    for _, stated, own, _ in groups[1:]:
        yield from _between(name, stated, own)
    yield from _one_instant(name, document)
    known = {stated["name"] for stated in document["subsites"]}
    if len(known) < len(document["subsites"]):
        yield Finding("two subsites have one name", name)
    yield from (
        Finding("its subsite is none of the subsites", url=e["url"]) for e in entries if e["subsite"] not in known
    )


def _parts(document: dict[str, Any]) -> tuple[SubsiteFacts, ...]:
    started, ended = (unix(document["capture"][name]) for name in ("started", "ended"))
    return tuple(
        SubsiteFacts(part["name"], unix(part["reference"]["instant"]) if part["reference"] else None, started, ended)
        for part in document["subsites"]
    )


def _one_instant(name: str, document: dict[str, Any]) -> Iterator[Finding]:
    """The capture's T is that of all its subsites; where they have several, it has none."""
    instants = {part["reference"] and part["reference"]["instant"] for part in document["subsites"]}
    expected = instants.pop() if len(instants) == 1 else None
    stated = document["capture"]["reference"]
    if (stated and stated["instant"]) != expected:
        yield Finding(f"T of the capture is {expected} by its subsites, stated is {stated}", name)


def _facts(
    document: dict[str, Any],
    stated: dict[str, Any],
    pages: Iterable[PageFacts],
    divided: tuple[SubsiteFacts, ...],
) -> CaptureFacts:
    capture, reference = document["capture"], stated["reference"]
    return CaptureFacts(
        site=capture["site"],
        seeds=tuple(capture["seeds"]),
        strategy=capture["strategy"],
        started=unix(capture["started"]),
        ended=unix(capture["ended"]),
        reference=unix(reference["instant"]) if reference else None,
        pages=tuple(pages),
        subsites=divided,
        audit=capture["audit"],
        interruptions=tuple((unix(one["from"]), unix(one["to"])) for one in capture["interruptions"]),
    )


def _between(name: str, stated: dict[str, Any], pages: Iterable[PageFacts]) -> Iterator[Finding]:
    """T lies within the interval that every coherent page is shown to have stayed over."""
    reference = stated["reference"]
    if reference and not reference["from"] <= reference["instant"] <= reference["to"]:
        yield Finding(f"T={reference['instant']} is not from {reference['from']} to {reference['to']}", name)
    if reference is None and any(page.kind is Kind.PAGE and page.revisit for page in pages):
        yield Finding("pages were revisited, and T is not stated", name)


def _difference(again: Any, stated: Any) -> str:
    if isinstance(again, dict) and isinstance(stated, dict):
        names = sorted(part for part in {*again, *stated} if again.get(part) != stated.get(part))
        return "; ".join(f"{part} is {again.get(part)!r}, stated is {stated.get(part)!r}" for part in names)
    return f"it is {again!r}, stated is {stated!r}"


def unspoken(witness: Witness, documents: Iterable[Document]) -> Iterator[Finding]:
    """Answers that could be shown as a page, and that no certificate speaks of.

    Downloads of a page that were cut off before they were noted may be there, too, as many as further attempts were
    made; so may what a project's own spider asked for.
    """
    spoken: set[tuple[str, str]] = set()
    urls: set[str | None] = set()
    spare: Counter[str | None] = Counter()
    cuts: list[tuple[float, float]] = []
    for document in documents:
        if "spider" in document["capture"]["settings"]:
            return
        for entry in (*document["pages"], *document["not_captured"]):
            urls.add(canonical(entry["url"]))
            visits = [one for part in ("visit", "revisit") if (one := entry.get(part))]
            spoken.update((one["uri"], one["date"]) for one in visits)
            spare[canonical(entry["url"])] += sum(one["attempts"] - 1 for one in visits)
        cuts += [(unix(one["from"]) - _LATEST, unix(one["to"])) for one in document["capture"]["interruptions"]]
    for exchange in witness.exchanges.values():
        if (exchange.uri, exchange.date) not in spoken and _shown(exchange):
            url = canonical(exchange.uri)
            cut = any(start <= unix(exchange.date) <= end for start, end in cuts)
            spare[url] -= 1
            if not (url in urls and (cut or spare[url] >= 0)):
                yield Finding("no certificate speaks of it", exchange.file, exchange.offset, exchange.uri)


def _shown(exchange: RecordedExchange) -> bool:
    """Would a viewer show it? Not robots.txt and sitemaps, which are read and no pages."""
    message = exchange.message
    if message is None or not 200 <= message.status < 300 or not exchange.whole:
        return False
    name = PurePosixPath(urlsplit(exchange.uri).path).name.lower()
    if name == "robots.txt" or "sitemap" in name:
        return False
    return _SHOWN.search(message.header(b"content-type") or b"html") is not None
