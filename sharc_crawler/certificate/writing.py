"""Write certificates: as a record in a WARC file of its own, and as ``certificate.json`` beside the files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from sharc_crawler.archive.documents import DocumentFile, document_file
from sharc_crawler.archive.drafts import Drafts
from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.members import Record, records
from sharc_crawler.archive.warc_names import files_of, safe_name, series_of
from sharc_crawler.certificate.canonical import DIGEST, KEPT_IN, kept, to_text
from sharc_crawler.certificate.document import certificate, entries, of_files, server_clocks
from sharc_crawler.certificate.examining import examine
from sharc_crawler.certificate.fixity import NAME, fixity, pages_name, reports
from sharc_crawler.certificate.material import Material, PageEntries, opened, write_entries
from sharc_crawler.certificate.witness import Finding, Witness, ingest
from sharc_crawler.errors import UsageError
from sharc_crawler.evidence.facts import CaptureFacts
from sharc_crawler.model import CaptureRef, Instant
from sharc_crawler.plural import counted

Progress = Callable[[float, float], None]

MEDIA_TYPE, LINES = "application/json", "application/jsonl"
SHOWN = 3  #: findings listed in a summary
_DEDUPLICATION = re.compile(rb"^(deduplication: ).*?(?=\r?$)", re.MULTILINE)  #: a certificate's file has none


class Certified(NamedTuple):
    """A certificate that was written, or why it was not, or does not hold: see ``findings``."""

    path: Path
    digest: str
    warc: str  #: the WARC file with its copy
    findings: Sequence[Finding] = ()  #: why it was not written, or does not hold
    restated: Mapping[str, Any] = MappingProxyType({})  #: pages to restate before another try (:mod:`.restating`)


def certify(captures: Sequence[CaptureFacts], folder: Path, progress: Progress = lambda _, __: None) -> list[Certified]:
    """Write the certificates of a folder's complete captures that have none yet; returns one result for each.

    Each is verified from the WARC files before it is sealed; one that does not hold is not written.

    A folder's only capture gets ``certificate.json``; each of several gets ``certificate-SITE.json``. A capture without
    WARC files gets none, since it has no proof. Raises :class:`~sharc_crawler.errors.UsageError` if the folder cannot
    be written to. ``progress`` is given the work done, and the whole.
    """
    owed = [
        (series, facts, path)
        for facts in captures
        if facts.ended is not None and facts.warcs and (series := series_of(facts.warcs[0]))
        for path in (path_of(facts, captures, folder),)
        if not path.exists()
    ]
    written: list[Certified] = []
    try:
        for series, group in groupby(sorted(owed, key=lambda one: one[0]), key=lambda one: one[0]):
            written += seal(series, [(facts, path) for _, facts, path in group], folder, progress, examined=True)
    except OSError as error:
        raise UsageError(
            f"the certificate cannot be written to {str(folder)!r}: {error.strerror or error};"
            " make room, then: sharc report FOLDER"
        ) from error
    return written


def lines(written: Sequence[Certified]) -> Iterator[tuple[str, str]]:
    """The lines on certificates in a crawl's summary: (name, value)."""
    for one in written:
        if one.findings:
            why = "does not hold any more" if one.path.exists() else "none: the records do not support it"
            yield "certificate", f"{why} ({counted(len(one.findings), 'finding')})"
            yield from (("", str(finding)) for finding in one.findings[:SHOWN])
            continue
        yield "certificate", f"{one.path}, also in {one.warc}"
        yield "its digest", f"{one.digest} (keep it in another place)"


def path_of(facts: CaptureFacts, captures: Sequence[CaptureFacts], folder: Path) -> Path:
    """The path of the certificate of one of these captures."""
    return folder / (NAME if len(captures) == 1 else f"certificate-{safe_name(facts.site)}.json")


def seal(
    series: tuple[str, str],
    owed: Sequence[tuple[CaptureFacts, Path]],
    folder: Path,
    progress: Progress = lambda _, __: None,
    *,
    examined: bool = False,
) -> list[Certified]:
    """Write the certificates of captures that share their WARC files; ``examined``: only if they verify.

    For ``progress``, reading the WARC files, computing digests and examining pages are a third of the work each.
    """
    site, info = about(folder, series)
    warcs = [path for _, path in files_of(folder, *series) if path.name.endswith(SUFFIX)]
    source = Material("", {path.name: partial(opened, path) for path in warcs})
    size = sum(path.stat().st_size for path in warcs)
    done = _counting(progress, 3 * size)
    witness = ingest(source.warcs, done)
    servers = server_clocks(witness, source.warcs)
    with Drafts() as drafts:
        pages = [_write_pages(path, facts, witness, drafts, source) for facts, path in owed]
        unsealed = [certificate(facts, own, servers) for (facts, _), own in zip(owed, pages, strict=True)]
        if examined:
            each = size / max(1, sum(own["lines"] for own in pages))
            found, restated = examine(witness, source, unsealed, lambda count: done(count * each))
            if found:
                drafts.drop()
                return [Certified(path, "", "", found, apart) for (_, path), apart in zip(owed, restated, strict=True)]
        stated = [{"name": path.name, **fixity(path)} for path in warcs]
        documents = [of_files(made, stated, reports(folder)) for made in unsealed]
        with document_file(folder, site, series[1], info, owed[0][0].ended or 0.0, drafts) as out:
            refs = [
                _keep(out, document, PageEntries(source.pages[own["name"]]), facts.ended or 0.0)
                for (facts, _), document, own in zip(owed, documents, pages, strict=True)
            ]
        return [
            _beside(path, document, ref, drafts) for (_, path), document, ref in zip(owed, documents, refs, strict=True)
        ]


def _beside(path: Path, document: dict[str, Any], ref: CaptureRef, drafts: Drafts) -> Certified:
    """Write a certificate beside the WARC files, with the place of its copy in them."""
    place = {"file": ref.file, "offset": ref.offset, **fixity(drafts.of(path.with_name(ref.file)))}
    with drafts.open(path) as file:
        file.write(to_text({**document, KEPT_IN: place}).encode("utf-8", "replace"))
    return Certified(path, document[DIGEST], ref.file)


def _counting(progress: Progress, total: float) -> Callable[[float], None]:
    done = 0.0

    def read(size: float) -> None:
        nonlocal done
        done += size
        progress(done, total)

    return read


def _write_pages(path: Path, facts: CaptureFacts, witness: Witness, drafts: Drafts, source: Material) -> dict[str, Any]:
    """Write the file of pages of a certificate, and add it to ``source``; returns what a certificate states of it."""
    file = path.with_name(pages_name(path.name))

    def uri(place: str) -> str | None:
        exchange = witness.at(place)
        return exchange.uri if exchange else None

    with drafts.open(file) as out:
        stated = write_entries(out, file.name, entries(facts, uri))
    source.pages[file.name] = partial(opened, drafts.of(file))
    return stated


def _keep(out: DocumentFile, document: dict[str, Any], pages: PageEntries, when: Instant) -> CaptureRef:
    """Write a certificate's pages in pieces, then itself, as records of a WARC file; returns its place."""
    for piece in pages.pieces():
        out.write(f"{target(document)}:pages", when, piece, LINES)
    return out.write(target(document), when, kept(document), MEDIA_TYPE)


def target(document: dict[str, Any]) -> str:
    """The URN that a certificate's record has as its URI.

    >>> target({"capture": {"site": "example.org (2)"}})
    'urn:sharc-certificate:example.org-2-1706a315'
    """
    return f"urn:sharc-certificate:{safe_name(document['capture']['site'])}"


def warcinfo_field(info: bytes, name: str) -> str:
    r"""The value of a field in a warcinfo record; empty if it is missing.

    >>> warcinfo_field(b"software: sharc\r\nsite: example.org\r\n", "site")
    'example.org'
    """
    found = re.search(rb"^%s: (.*?)\r?$" % name.encode(), info, re.MULTILINE)
    return found[1].decode("utf-8", "replace") if found else ""


def about(folder: Path, series: tuple[str, str]) -> tuple[str, bytes]:
    """The site's name, and the block of the first warcinfo record of the series."""
    for _, path in files_of(folder, *series):
        with path.open("rb") as stream:
            first = next(records(stream), None)
        if isinstance(first, Record) and first.kind == "warcinfo":
            site = warcinfo_field(first.text, "site")
            return site if safe_name(site) == series[0] else series[0], _DEDUPLICATION.sub(rb"\1off", first.text)
    raise UsageError(f"no WARC file of {series[0]!r} in {str(folder)!r} starts with a warcinfo record: not certified")
