"""Check a certificate's pages and sums against the WARC records: before it is sealed, and when it is verified."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from sharc_crawler.addresses.urls import canonical
from sharc_crawler.certificate.canonical import canonical as as_text
from sharc_crawler.certificate.document import unit
from sharc_crawler.certificate.judging import Judge, servers_word
from sharc_crawler.certificate.material import Material, PageEntries, downloads_of, visits_of
from sharc_crawler.certificate.references import missing, repeated
from sharc_crawler.certificate.witness import Finding, Witness, has_content
from sharc_crawler.evidence.claim import Limit
from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, SubsiteFacts
from sharc_crawler.evidence.figures import PageSums
from sharc_crawler.instants import iso, unix
from sharc_crawler.model import Instant, Kind, Result, Seconds
from sharc_crawler.plural import agreeing, counted

Document = Mapping[str, Any]

Restated = dict[str, "Document"]  #: entries by URL

MOST = 1_000  #: pages that may be restated; with more, or most of a capture, records and state do not belong together


@dataclass(slots=True)
class Examination:
    """The result: the certificates hold if there is no finding."""

    findings: list[Finding] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)  #: of the certificates (:mod:`..evidence.claim`)
    sites: list[str] = field(default_factory=list)  #: of each certificate: its site, or a later round of one
    digests: list[str] = field(default_factory=list)  #: of the certificates
    pages: int = 0  #: number of pages judged again
    resources: int = 0  #: number of embedded resources and data judged again
    elsewhere: int = 0  #: payloads in former captures that are not at hand


def examine(
    witness: Witness, source: Material, documents: Sequence[dict[str, Any]], progress: Callable[[int], None]
) -> tuple[list[Finding], list[Restated]]:
    """Findings in certificates before they are sealed, and the pages as the WARC files show them instead.

    ``progress`` is given the number of pages examined.
    """
    found = Examination()
    restated = [
        statements("certificate", source, document, witness, Witness(), found, progress) for document in documents
    ]
    if unlisted := list(unspoken(witness, source, documents)):
        from sharc_crawler.certificate.restating import add_unlisted  # what should never be

        add_unlisted(restated, unlisted, source, documents)
    return [*witness.findings, *missing(witness), *found.findings, *unlisted], restated


def statements(
    name: str,
    source: Material,
    document: dict[str, Any],
    witness: Witness,
    former: Witness,
    into: Examination,
    progress: Callable[[int], None] = lambda _: None,
    odd: Callable[[Document], Iterable[str]] = lambda _: (),
) -> Restated:
    """Examine what a certificate states of pages and sums; findings and counts are added to ``into``.

    ``progress`` is given the number of pages as they are examined; ``odd`` says what else is wrong with a page's entry.
    Returns the pages that the records contradict, as the records show them (:mod:`.restating`).
    """
    references = {part["name"]: part["reference"]["instant"] for part in document["subsites"] if part["reference"]}
    entries = source.entries(document)
    if strange := entries.strange():
        what = f"{strange:,} of its lines {agreeing(strange, 'are')} not written as sharc writes them"
        into.findings.append(Finding(what, document["pages"]["name"]))
    word = partial(servers_word, [(witness, source.warcs)], entries, lag_of(document))
    judge = Judge(witness, former, references, entries, word, source.warcs)
    again = Again(document, odd)
    restated = _again(judge, again, into, progress)
    into.findings += judge.findings
    if judge.rebuilt and {"code": Limit.UNSEEN} not in document["capture"]["claim"]["limits"]:
        into.findings.append(Finding("its claim rests on records that were rebuilt, and does not say so", name))
    into.findings += chain(_interrupted_outside(name, document), again.findings, _twice(entries, again.urls))
    into.findings += again.shared()
    into.findings += again.sums(name)
    into.claims.append(document["capture"]["claim"])
    into.sites.append(document["capture"]["site"])
    into.elsewhere += judge.elsewhere
    return restated if len(restated) <= min(MOST, len(again.urls) // 2) else {}


def _again(judge: Judge, again: Again, into: Examination, progress: Callable[[int], None]) -> Restated:
    """Judge the pages again and add them up; returns those that the records contradict."""
    restated, found = Restated(), 0
    for entry, page in judge.pages():
        odd = again.add(entry, page)
        if (odd or len(judge.findings) > found) and len(restated) <= MOST:
            from sharc_crawler.certificate.restating import as_recorded  # what should never be

            restated[entry["url"]] = as_recorded(entry, judge, odd=odd)
            found = len(judge.findings)
        if "verdict" in entry:
            into.pages += page.kind is Kind.PAGE
            into.resources += page.kind is not Kind.PAGE
        progress(1)
    return restated


def lag_of(document: Document) -> Seconds:
    """Seconds by which the site's sitemaps lag behind its changes, as a certificate states."""
    return float((document["capture"]["audit"] or {}).get("lag", 0))


def _twice(entries: PageEntries, urls: array[int]) -> Iterator[Finding]:
    """Pages that are listed twice; ``urls``: the hashes of all."""
    several, seen = set(repeated(urls)), set[str]()
    for entry in entries if several else ():
        if hash(entry["url"]) in several:
            if entry["url"] in seen:
                yield Finding("it is listed twice", url=entry["url"])
            seen.add(entry["url"])


class Again:
    """Recomputes totals, reference intervals and claims of a capture and its subsites from pages judged again."""

    def __init__(self, document: Document, odd: Callable[[Document], Iterable[str]] = lambda _: ()) -> None:
        self._document, self._odd = document, odd
        self._started, self._ended = document["capture"]["started"], document["capture"]["ended"]
        self._own_names = "spider" not in document["capture"]["settings"]
        parts = {part["name"]: part for part in document["subsites"]}
        self._parts = {name: (part, PageSums(_reference(part))) for name, part in parts.items()}
        self._whole = PageSums(_reference(document["capture"]))
        self.findings: list[Finding] = []
        self.urls = array("q")
        self._places = array("q")  # of downloads that something is claimed of

    def add(self, entry: Mapping[str, Any], page: PageFacts) -> bool:
        """Count a page and check its entry; returns whether something is wrong with that."""
        before = len(self.findings)
        self.urls.append(hash(entry["url"]))
        if "verdict" in entry:
            self._places.extend(hash((one["file"], one["offset"])) for one in visits_of(entry) if one["file"])
        self.findings += (Finding(what, url=entry["url"]) for what in _odd(entry))
        self.findings += (Finding(what, url=entry["url"]) for what in self._odd(entry))
        self.findings += _outside(entry, self._started, self._ended)
        if self._own_names:
            self.findings += _misnamed(entry)
        part = self._parts.get(entry["subsite"])
        if part is None:
            self.findings.append(Finding("its subsite is none of the subsites", url=entry["url"]))
        for sums in (self._whole, *(part[1:] if part else ())):
            if page.kind is Kind.PAGE:
                sums.add(page)
            elif page.kind is Kind.DATA:
                sums.narrow(page)
        return len(self.findings) > before

    def shared(self) -> Iterator[Finding]:
        """Downloads that count for several pages, or twice for one; a project's spider may name pages freely."""
        if (again := len(repeated(self._places))) and self._own_names:
            yield Finding(f"{counted(again, 'download', 'are')} said to be of several pages, or several visits")

    def units(self) -> Iterator[tuple[str, Document, dict[str, Any]]]:
        """The capture, then its subsites: (name, as stated, as recomputed)."""
        document = self._document
        capture = document["capture"]
        groups = [("capture", capture, self._whole, _parts(document))]
        groups += [(f"subsite {part}", stated, sums, ()) for part, (stated, sums) in self._parts.items()]
        for what, stated, sums, divided in groups:
            yield what, stated, unit(stated["name"], _facts(document, stated, divided), sums)

    def sums(self, name: str) -> Iterator[Finding]:
        """Compare the recomputed sums with those that are stated."""
        document = self._document
        for what, stated, found in self.units():
            for part, again in found.items():
                if as_text(again) != as_text(stated[part]):  # True and 1.0 equal 1
                    yield Finding(f"{part} of the {what}: {_difference(again, stated[part])}", name)
        for stated, sums in self._parts.values():
            yield from _between(name, stated, sums)
        yield from _one_instant(name, document)
        if len(self.urls) != document["pages"]["lines"]:
            yield Finding(
                f"its pages are {counted(len(self.urls), 'line')}, stated is {document['pages']['lines']}", name
            )
        if len(self._parts) < len(document["subsites"]):
            yield Finding("two subsites have one name", name)


def _outside(entry: Mapping[str, Any], started: str, ended: str) -> Iterator[Finding]:
    """Downloads that are not between the capture's start and its end."""
    for part, stated in downloads_of(entry):
        if stated["date"] != iso(unix(stated["date"])):
            yield Finding(
                f"its {part} is of {stated['date']}, which is not written as sharc writes it", url=entry["url"]
            )
        if not stated["attempts"] and part == "visit":
            if stated["date"] >= started:
                yield Finding("what was not asked for is said to be of a time within the capture", url=entry["url"])
        elif not started <= stated["date"] <= ended:
            yield Finding(f"its {part} is not between start and end", stated["file"], stated["offset"], entry["url"])


def _odd(entry: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with an entry that has the right fields."""
    data, former = entry.get("data"), entry.get("former")
    if data is not None and (not data or len(set(data)) < len(data) or entry["kind"] != Kind.PAGE):
        yield "data of it is not as a page's is listed"
    if former == []:
        yield "an empty list of former visits"
    if any(type(one["attempts"]) is not int or one["attempts"] < ("server" not in one) for one in visits_of(entry)):
        yield "the attempts at its downloads are no number of them"
    if any("server" in one and not _is_taken(part, one) for part, one in downloads_of(entry)):
        yield "what it says of a server is said of what a former capture has, and of nothing else"


def _is_taken(part: str, stated: Mapping[str, Any]) -> bool:
    """Is it an answer of a former capture, taken without a request?"""
    whole = stated["result"] == Result.OK.value and stated["file"] is not None and stated["digest"] is not None
    return whole and part == "visit" and stated["attempts"] == 0


def _interrupted_outside(name: str, document: Document) -> Iterator[Finding]:
    started, ended = document["capture"]["started"], document["capture"]["ended"]
    for instant in (started, ended):
        if instant != iso(unix(instant)):
            yield Finding(f"{instant} is not written as sharc writes it", name)
    for one in document["capture"]["interruptions"]:
        if not started <= one["from"] <= one["to"] <= ended:
            yield Finding(f"it is said to have been interrupted from {one['from']}, when it did not run", name)


def _misnamed(entry: Mapping[str, Any]) -> Iterator[Finding]:
    """Downloads from another URL than their page's, spelling aside; not for a project's spider, which names freely."""
    for part, stated in downloads_of(entry):
        if canonical(stated["uri"]) != canonical(entry["url"].removesuffix("#")):
            yield Finding(f"its {part} is of {stated['uri']}", stated["file"], stated["offset"], entry["url"])


def _reference(stated: Mapping[str, Any]) -> Instant | None:
    return unix(stated["reference"]["instant"]) if stated["reference"] else None


def _parts(document: Document) -> tuple[SubsiteFacts, ...]:
    started, ended = (unix(document["capture"][name]) for name in ("started", "ended"))
    return tuple(
        SubsiteFacts(part["name"], unix(part["reference"]["instant"]) if part["reference"] else None, started, ended)
        for part in document["subsites"]
    )


def _one_instant(name: str, document: Document) -> Iterator[Finding]:
    """The capture's T must be that of all its subsites; if these differ, it must have none."""
    instants = {part["reference"] and part["reference"]["instant"] for part in document["subsites"]}
    expected = instants.pop() if len(instants) == 1 else None
    stated = document["capture"]["reference"]
    if (stated and stated["instant"]) != expected:
        yield Finding(f"T of the capture is {expected} by its subsites, stated is {stated}", name)


def _facts(document: Document, stated: Mapping[str, Any], divided: tuple[SubsiteFacts, ...]) -> CaptureFacts:
    capture = document["capture"]
    return CaptureFacts(
        site=capture["site"],
        seeds=tuple(capture["seeds"]),
        strategy=capture["strategy"],
        started=unix(capture["started"]),
        ended=unix(capture["ended"]),
        reference=_reference(stated),
        pages=(),
        subsites=divided,
        part=not divided and len(document["subsites"]) > 1,
        audit=capture["audit"],
        interruptions=tuple((unix(one["from"]), unix(one["to"])) for one in capture["interruptions"]),
        notes=tuple(capture["notes"]),
    )


def _between(name: str, stated: Mapping[str, Any], sums: PageSums) -> Iterator[Finding]:
    """T must lie in the interval during which all coherent pages stayed the same."""
    reference = stated["reference"]
    if reference and not reference["from"] <= reference["instant"] <= reference["to"]:
        yield Finding(f"T={reference['instant']} is not from {reference['from']} to {reference['to']}", name)
    if reference is None and sums.revisited:
        yield Finding("pages were revisited, and T is not stated", name)


def _difference(again: Any, stated: Any) -> str:
    if isinstance(again, dict) and isinstance(stated, dict):
        names = sorted(part for part in {*again, *stated} if as_text(again.get(part)) != as_text(stated.get(part)))
        return "; ".join(f"{part} is {again.get(part)!r}, stated is {stated.get(part)!r}" for part in names)
    return f"it is {again!r}, stated is {stated!r}"


def unspoken(witness: Witness, source: Material, documents: Sequence[Document]) -> Iterator[Finding]:
    """Answers that could be shown as a page, but that no certificate lists.

    Allowed are: downloads shortly before an interruption, which were not noted; failed attempts; answers equal to
    another download of their page; whatever was read as sitemap or robots.txt; all requests of a project's own spider.
    """
    if any("spider" in document["capture"]["settings"] for document in documents):
        return
    spoken: set[int] = set()  #: hashes of moments
    for entry in _entries(source, documents):
        spoken.update(hash((one["uri"], one["date"])) for one in visits_of(entry) if one["file"] is not None)
    left = [one for one in witness if hash((one.uri, one.date)) not in spoken and one.message and one.whole]
    urls = {canonical(exchange.uri) for exchange in left}
    stated = left and any(canonical(entry["url"]) in urls for entry in _entries(source, documents))
    if stated or any(map(has_content, left)):
        from sharc_crawler.certificate.unlisted import unexcused  # of many sites only a missing robots.txt is left

        for exchange in unexcused(left, witness, source, documents, _entries(source, documents)):
            yield Finding("it is in no certificate", exchange.file, exchange.offset, exchange.uri)


def _entries(source: Material, documents: Sequence[Document]) -> Iterator[Mapping[str, Any]]:
    return chain.from_iterable(source.entries(document) for document in documents)
