"""Every statement of a certificate, made anew from the WARC files and compared with what is stated."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.wacz_check import altered
from sharc_crawler.certificate.beside import strangers, unspoken
from sharc_crawler.certificate.canonical import DIGEST, KEPT_IN, digest, kept, to_text
from sharc_crawler.certificate.clocks import beyond
from sharc_crawler.certificate.document import FORMAT, LIMITS, VERSION, unit
from sharc_crawler.certificate.fixity import fixity_of
from sharc_crawler.certificate.indexes import stale
from sharc_crawler.certificate.judging import Judge
from sharc_crawler.certificate.lastmods import lastmods
from sharc_crawler.certificate.references import missing
from sharc_crawler.certificate.sealing import Seals, Trust, check_seals
from sharc_crawler.certificate.sources import Source, open_source
from sharc_crawler.certificate.witness import Finding, Witness, ingest
from sharc_crawler.errors import DataError
from sharc_crawler.evidence.facts import CaptureFacts, SubsiteFacts
from sharc_crawler.instants import unix
from sharc_crawler.model import Kind
from sharc_crawler.storage.opening import holds_state, open_state
from sharc_crawler.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from sharc_crawler.evidence.facts import PageFacts


NOBODY = Trust()  #: whoever signed or stamped it is told, and compared with nobody


@dataclass(slots=True)
class Verification:
    """What became of a verification: it holds if there is no finding."""

    source: str
    findings: list[Finding] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)  #: of the certificates (:mod:`..evidence.claim`)
    digests: list[str] = field(default_factory=list)  #: of the certificates
    pages: int = 0
    records: int = 0
    elsewhere: int = 0  #: payloads in former captures that were not given
    seals: Seals = field(default_factory=Seals)  #: signatures and time stamps


def verify(
    path: Path,
    former: Sequence[Path] = (),
    told: Callable[[int], None] = lambda _: None,
    trust: Trust = NOBODY,
) -> Verification:
    """Verify a capture's folder or a WACZ file; ``told`` is given the bytes as they are read (:func:`total_size`).

    Raises :class:`~sharc_crawler.errors.DataError` where there is no certificate that could be verified.
    """
    source = open_source(path)
    if not source.certificates:
        raise DataError(f"{str(path)!r} holds no certificate: {_why_none(path)}")
    documents = {name: _document(name, text) for name, text in source.certificates.items()}
    witness = ingest(source.warcs, told)
    others = Witness()
    for one in former:
        ingested = ingest(open_source(one).warcs)
        others.moments |= ingested.moments
        others.findings += ingested.findings
    verification = Verification(source.name, records=witness.records)
    verification.findings += [] if path.is_dir() else [Finding(what, file) for file, what in altered(path, told)]
    verification.findings += [*witness.findings, *others.findings, *missing(witness, others)]
    verification.findings += _files(source, documents, told)
    if path.is_dir():
        verification.findings += stale(path, source.warcs, {finding.file for finding in verification.findings})
    try:
        verification.findings += strangers(path, source, witness, list(documents.values()))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{str(path)!r}: a certificate is not by the schema of version {VERSION}: {error!r}") from error
    for name, document in documents.items():
        try:
            _certificate(name, source, document, witness, others, verification)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"{name} of {str(path)!r} is not by the schema of version {VERSION}: {error!r}") from error
    verification.seals = check_seals(source.beside, documents, source.seal, trust)
    verification.findings += verification.seals.findings
    return verification


def _why_none(path: Path) -> str:
    """Why a capture has no certificate; its folder knows, a WACZ file does not."""
    if not path.is_dir() or not holds_state(path):
        return (
            "none was made for a capture that is not complete, for an instant crawl, which claims no coherence, or"
            " without WARC files"
        )
    with open_state(path) as store:
        captures = store.captures().values()
    if any(capture.spec.mode == "instant" for capture in captures):
        return "an instant crawl claims no coherence"
    if any(capture.ended is None for capture in captures):
        return "the capture is not complete; the same command goes on with it"
    if not any(path.glob(f"*{SUFFIX}")):
        return "there are no WARC files that could show anything"
    return f"it was lost, or the end of the crawl was cut off; make it with: sharc report {path}"


def total_size(path: Path) -> int:
    """Bytes that a verification reads: each WARC file twice, all of a WACZ file once more."""
    return 2 * sum(open_source(path).sizes.values()) + (0 if path.is_dir() else path.stat().st_size)


def _document(name: str, text: bytes) -> dict[str, Any]:
    try:
        document = json.loads(text)
        kind = document["format"], document["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{name} cannot be read as a certificate: {error!r}") from error
    if kind != (FORMAT, VERSION):
        raise DataError(f"{name} is of format {kind[0]!r}, version {kind[1]!r}; known is {FORMAT!r}, version {VERSION}")
    return dict(document)


def _files(source: Source, documents: dict[str, dict[str, Any]], told: Callable[[int], None]) -> Iterator[Finding]:
    """Every WARC file is as stated, none is missing, and none was added."""
    stated = {str(file.get("name")): file for document in documents.values() for file in _stated_files(document)}
    for name, file in stated.items():
        if name not in source.warcs:
            yield Finding("this file is missing", name)
            continue
        with source.warcs[name]() as stream:
            found = fixity_of(stream, told)
        for part in ("bytes", "sha256"):
            if found[part] != file.get(part):
                yield Finding(f"the file is not as it was: {part} {found[part]}, stated is {file.get(part)}", name)
                break
    for name in source.warcs.keys() - stated.keys():
        yield Finding("no certificate speaks of this file", name)


def _stated_files(document: dict[str, Any]) -> list[dict[str, Any]]:
    place = document.get(KEPT_IN) or {}
    own = [{"name": place.get("file"), **place}] if place else []
    return [*document.get("files", []), *own]


def examine(witness: Witness, source: Source, documents: Sequence[dict[str, Any]]) -> list[Finding]:
    """What of certificates that are not sealed yet does not follow from the WARC files."""
    found = Verification("")
    for document in documents:
        _statements("certificate", source, document, witness, Witness(), found)
    return [*witness.findings, *missing(witness, Witness()), *found.findings, *unspoken(witness, documents)]


def _certificate(
    name: str, source: Source, document: dict[str, Any], witness: Witness, former: Witness, into: Verification
) -> None:
    into.findings += _sealed(name, source.certificates[name], document, witness)
    files = {file["name"] for file in document["files"]}
    into.findings += beyond(witness, files, document["capture"]["clocks"], name)
    _statements(name, source, document, witness, former, into)


def _statements(
    name: str, source: Source, document: dict[str, Any], witness: Witness, former: Witness, into: Verification
) -> None:
    """What a certificate states of pages and sums."""
    references = {part["name"]: part["reference"]["instant"] for part in document["subsites"] if part["reference"]}
    entries = (*document["pages"], *document["not_captured"])
    urls = {entry["url"] for entry in entries}
    said = partial(lastmods, witness, source.warcs, urls)
    judge = Judge(witness, former, references, said)
    pages = judge.pages(entries)
    into.findings += judge.findings
    into.findings += _twice(document)
    into.findings += _misnamed(document)
    into.findings += _sums(name, document, pages)
    into.claims.append(document["capture"]["claim"])
    into.digests.append(document[DIGEST])
    into.pages += len(document["pages"])
    into.elsewhere += judge.elsewhere


def _sealed(name: str, text: bytes, document: dict[str, Any], witness: Witness) -> Iterator[Finding]:
    """The digest is that of the document, which lies in the WARC files, too."""
    if document[DIGEST] != digest(document):
        yield Finding(f"its digest is {digest(document)}, stated is {document[DIGEST]}", name)
    if to_text(document).encode("utf-8", "replace") != text:
        yield Finding("it is not written as sharc writes it", name)
    place = document[KEPT_IN]
    copy = witness.documents.get((place["file"], place["offset"]))
    if copy is None:
        yield Finding("the certificate is not in the WARC file", place["file"], place["offset"])
    elif copy != kept(document):
        yield Finding("the certificate in the WARC file is another one", place["file"], place["offset"])
    if document["limits"] != list(LIMITS):
        yield Finding("its limits are not those of this version", name)


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
        for part, again in unit(stated["name"], _facts(document, stated, own, divided)).items():
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
