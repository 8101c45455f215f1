"""Verify certificates: recompute every statement from the WARC files and compare."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.indexing import entries_of
from sharc_crawler.archive.lines import CountingReader
from sharc_crawler.archive.members import Record, read_at
from sharc_crawler.archive.wacz import WACZ
from sharc_crawler.archive.wacz_check import altered
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.certificate.canonical import DIGEST, KEPT_IN, canonical, digest, kept, to_text
from sharc_crawler.certificate.confirming import check_confirmation, outlook
from sharc_crawler.certificate.document import FORMAT, LIMITS, VERSION, clock_of, clock_off, server_clocks
from sharc_crawler.certificate.examining import Examination, statements, unspoken
from sharc_crawler.certificate.fixity import NAME as CERTIFICATE
from sharc_crawler.certificate.fixity import fixity_of, pages_name
from sharc_crawler.certificate.names import CONFIRMATION, CONFIRMED
from sharc_crawler.certificate.references import missing
from sharc_crawler.certificate.refuted import refuted_in
from sharc_crawler.certificate.schema_check import unknown_fields, unknown_of_page
from sharc_crawler.certificate.sealed_files import stated_files
from sharc_crawler.certificate.sealing import Seals, Trust, check_seals
from sharc_crawler.certificate.sources import captures_in, is_capture, open_source
from sharc_crawler.certificate.strays import Kinds, around, kept_pages, strangers
from sharc_crawler.certificate.unlisted import out_of_time
from sharc_crawler.certificate.witness import Finding, Witness, ingest
from sharc_crawler.errors import MALFORMED, DataError
from sharc_crawler.instants import iso
from sharc_crawler.model import Result
from sharc_crawler.plural import counted
from sharc_crawler.storage.beside import is_held, open_state
from sharc_crawler.storage.folders import site_folders
from sharc_crawler.storage.gathered import moved_sites
from sharc_crawler.storage.opening import holds_state

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.certificate.material import Material
    from sharc_crawler.state.rows import ExchangeRow


def beyond(
    witness: Witness, files: Collection[str], stated: Mapping[str, Mapping[str, Any]], name: str
) -> Iterator[Finding]:
    """Answers whose Date differs from their WARC-Date by more than the certificate states for their server."""
    for exchange in witness:
        seconds = clock_off(exchange) if exchange.file in files else None
        if seconds is None:
            continue
        known = stated.get(clock_of(exchange))
        if known is None or not known["least"] <= seconds <= known["greatest"]:
            said = f"{known['least']} to {known['greatest']} s" if known else "nothing"
            what = f"its Date is {seconds} s from its WARC-Date, stated is {said}"
            yield Finding(what, exchange.file, exchange.offset, exchange.uri)
    if canonical(server_clocks(witness, files)) != canonical(dict(stated)):
        yield Finding("the clocks of the servers are not as stated", name)


ANEW = "its spider began without SHARC_RESUME=True, so capture it again, in another folder"
REPORT = "report.json"
_NAMED = 3  #: captures named in the error if none has a certificate
NOBODY = Trust()  #: accept any signer and authority; they are reported


@dataclass(slots=True, kw_only=True)
class Verification(Examination):
    """The result of a verification: the certificates hold if there is no finding."""

    source: str
    captures: list[str] = field(default_factory=list)  #: the folder of each claim, if there are several
    records: int = 0
    seals: Seals = field(default_factory=Seals)  #: signatures and time stamps
    moved: list[str] = field(default_factory=list)  #: sites whose folder was moved elsewhere: not verified
    without: dict[str, str] = field(default_factory=dict)  #: captures without a certificate → why
    unsealed: list[str] = field(default_factory=list)  #: files that no certificate lists as they are
    confirmations: list[dict[str, Any]] = field(default_factory=list)  #: of certificates (:mod:`.confirming`)
    provisional: list[dict[str, Any]] = field(default_factory=list)  #: to be confirmed: folder, pages, due
    worded: str | None = None  #: another version of sharc that wrote the report: its wording was not compared

    def add(self, site: str, other: Verification) -> None:
        """Add the verification of another site, whose folder is put before its files' names."""
        self.findings += [replace(one, file=f"{site}/{one.file or ''}") for one in other.findings]
        self.captures += [f"{site}/{one}" for one in other.captures] or [site] * len(other.claims)
        self.claims += other.claims
        self.sites += other.sites
        self.digests += other.digests
        self.pages += other.pages
        self.resources += other.resources
        self.records += other.records
        self.elsewhere += other.elsewhere
        self.confirmations += other.confirmations
        self.provisional += other.provisional
        self.unsealed += [f"{site}/{one}" for one in other.unsealed]
        self.seals.add(site, other.seals)


def verify(
    path: Path,
    former: Sequence[Path] = (),
    progress: Callable[[int], None] = lambda _: None,
    trust: Trust = NOBODY,
) -> Verification:
    """Verify a capture's folder, one that holds several, or a WACZ file.

    ``progress`` is given the number of bytes as they are read, :func:`total_size` in all. Raises
    :class:`~sharc_crawler.errors.DataError` if there is no certificate to verify. If a site of one crawl lacks its
    certificate, that is a finding; other captures without one are listed in ``without``.
    """
    folders = captures_in(path)
    if folders == [path]:
        return _verify(path, former, progress, trust)
    crawls = dict.fromkeys([path, *(one.parent for one in folders)])
    every = Verification(source=str(path), moved=sorted(site for one in crawls for site in moved_sites(one)))
    if not folders:
        raise DataError(f"{str(path)!r}: the folders of its sites were moved elsewhere; name one of them")
    one_crawl = site_folders(path) is not None
    for folder in folders:
        name = folder.relative_to(path).as_posix()
        try:
            if one_crawl or open_source(folder).certificates:
                every.add(name, _verify(folder, former, progress, trust))
            else:
                every.without[name] = why_none(folder)
        except DataError as error:
            every.findings.append(Finding(str(error), name))
    if len(every.without) == len(folders):
        why = "; ".join(f"{name}: {why}" for name, why in islice(every.without.items(), _NAMED))
        none = f"none of its {counted(len(folders), 'capture')} has one"
        raise DataError(f"{str(path)!r} holds no certificate: {none} ({why})")
    every.findings += around(path, folders)
    return every


@contextmanager
def by_schema(subject: str) -> Iterator[None]:
    """Turn errors of reading malformed documents into DataErrors; ``subject`` begins their message."""
    try:
        yield
    except MALFORMED as error:
        raise DataError(f"{subject} not by the schema of version {VERSION}: {error!r}") from error


def _verify(path: Path, former: Sequence[Path], progress: Callable[[int], None], trust: Trust) -> Verification:
    source = open_source(path)
    if not source.certificates:
        raise DataError(f"{str(path)!r} holds no certificate: {why_none(path)}")
    documents = {name: document_of(name, text) for name, text in source.certificates.items()}
    kinds = Kinds()
    witness = ingest(source.warcs, progress, met=kinds.add)
    others = Witness()
    for one in former:
        ingest(open_source(one).warcs, into=others)
    verification = Verification(source=source.name, records=witness.records)
    verification.findings += [] if path.is_dir() else [Finding(what, file) for file, what in altered(path, progress)]
    verification.findings += [*witness.findings, *others.findings, *missing(witness, others if former else None)]
    with by_schema(f"{str(path)!r}: a certificate is"):
        verification.findings += _files(source, documents, progress)
        sound = set(_with_pages(source, documents, verification))
        if path.is_dir():
            damaged = {finding.file for finding in verification.findings}
            verification.findings += stale(path, source.warcs, damaged, progress)
        verification.findings += strangers(path, source, witness, kinds, list(documents.values()))
        if sound == documents.keys():
            verification.findings += unspoken(witness, source, list(documents.values()))
        verification.findings += out_of_time(witness, list(documents.values()))
        if len(documents) > 1:  # rounds of a project's spider
            documents = dict(sorted(documents.items(), key=lambda one: str(one[1]["capture"]["started"])))
    share = sum(source.sizes.values()) // len(documents)
    for name, document in documents.items():
        with by_schema(f"{name} of {str(path)!r} is"):
            _certificate(name, source, document, witness, verification)
            if name in sound:
                each = share // max(document["pages"]["lines"], 1)
                told = partial(_pages, progress, each)
                statements(name, source, document, witness, others, verification, told, unknown_of_page)
                verification.findings += (Finding(what, name) for what in unknown_fields(document))
    verification.seals = check_seals(source.beside, documents, source.seal, trust)
    with by_schema(f"{CERTIFICATE} of {str(path)!r} is"):
        _confirmed(path, source, documents[CERTIFICATE] if CERTIFICATE in sound else None, witness, trust, verification)
    verification.findings += verification.seals.findings
    return verification


def _confirmed(
    path: Path, source: Material, document: dict[str, Any] | None, witness: Witness, trust: Trust, into: Verification
) -> None:
    """Verify the confirmation, and note what is still provisional."""
    if document is None:
        into.findings += [Finding("it confirms no certificate", CONFIRMATION)] if source.later else []
        return
    left = outlook(document)
    if source.later is not None:
        made, findings = check_confirmation(source, document, witness)
        into.findings += findings
        if made:
            into.findings += _stale_within(path, source.later, findings) if path.is_dir() else ()
            into.confirmations.append(made)
            into.seals.add(CONFIRMATION, check_seals(source.later.beside, {CONFIRMED: made}, None, trust))
    if left is not None:
        waiting = [] if source.later else [path]
        waiting += [one for one in sorted(path.glob(f"*{WACZ}")) if not _is_confirmed(one)]
        into.provisional += [{"folder": str(one), "pages": left.pages, "due": iso(left.due)} for one in waiting]


def _stale_within(path: Path, later: Material, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Indexes of a confirmation that do not match their WARC files."""
    damaged = {(one.file or "").removeprefix(f"{CONFIRMATION}/") for one in findings}
    for one in stale(path / CONFIRMATION, later.warcs, damaged, lambda _: None):
        yield replace(one, file=f"{CONFIRMATION}/{one.file}")


def _is_confirmed(package: Path) -> bool:
    """Does a package hold a confirmation? True also for one that cannot be read, which is a finding elsewhere."""
    try:
        return open_source(package).later is not None
    except DataError:
        return True


def why_none(path: Path) -> str:
    """Why a capture has no certificate. A folder's stored state tells; for a WACZ file all reasons are listed."""
    if path.is_dir() and not is_capture(path):
        return _of_none(path)
    if not path.is_dir() or not holds_state(path):
        return (
            "none was made for a capture that is not complete, for an instant crawl, which claims no coherence, or"
            " without WARC files"
        )
    with open_state(path) as store:
        captures = list(store.captures().values())
        begins_again = any("spider" in capture.spec.settings for capture in captures) and not store.load().kept
        refused = _refused(store.exchanges())
    if is_held(path):
        return "it is being captured"
    if not captures:
        return "no capture was begun there: WARC files alone (ArchiveMiddleware) claim nothing"
    if any(capture.spec.mode == "instant" for capture in captures):
        return "an instant crawl claims no coherence"
    if any(capture.ended is None for capture in captures):
        way_out = ANEW if begins_again else "the same command resumes it"
        return f"the capture is not complete; {way_out}"
    if not any(path.glob(f"*{SUFFIX}")):
        return "there are no WARC files that could show anything"
    if refuted_in(path / REPORT):
        return f"the WARC files do not support the verdicts ({path / REPORT}); capture the site again, elsewhere"
    if refused:
        return f"nothing was captured ({refused})"
    return f"its certificate was lost, or the crawl was interrupted at its end; make it with: sharc report {path}"


def _of_none(path: Path) -> str:
    from sharc_crawler.storage.gathered import DEEPEST, is_collection  # not needed at the end of a capture

    if is_collection(path):
        return f"it is a collection: sharc verify {path}"
    return f"there is no capture in it, nor in folders up to {DEEPEST} below it"


def _refused(exchanges: Iterable[ExchangeRow]) -> str:
    """Why the last URL was refused, if no request was made at all; else empty."""
    why = ""
    for row in exchanges:
        if row.attempt and (row.result != Result.REFUSED or row.status is not None):
            return ""
        why = row.error or why
    return why


def total_size(path: Path) -> int:
    """Bytes that a verification reads, for its progress: each WARC file twice, in a folder once more for its index.

    Digests of records and pages take about as long as reading the WARC files once each, and are counted so.
    """
    sizes = [size for folder in captures_in(path) for size in open_source(folder).sizes.values()]
    return (5 if path.is_dir() else 4) * sum(sizes) + (0 if path.is_dir() else path.stat().st_size)


def _pages(progress: Callable[[int], None], each: int, pages: int) -> None:
    progress(each * pages)


def document_of(name: str, text: bytes) -> dict[str, Any]:
    """Parse a certificate; raises :class:`~sharc_crawler.errors.DataError`. Fractions, which none has, become text."""
    try:
        document = json.loads(text, parse_float=str)
        kind = document["format"], document["version"]
    except MALFORMED as error:
        raise DataError(f"{name} cannot be read as a certificate: {error!r}") from error
    if repr(kind) != repr((FORMAT, VERSION)):  # True equals 1
        raise DataError(f"{name} is of format {kind[0]!r}, version {kind[1]!r}; known is {FORMAT!r}, version {VERSION}")
    return dict(document)


def _files(
    source: Material, documents: dict[str, dict[str, Any]], progress: Callable[[int], None]
) -> Iterator[Finding]:
    """WARC files that differ from what is stated, are missing, or were added."""
    stated = {str(file.get("name")): file for document in documents.values() for file in stated_files(document)}
    for name, file in stated.items():
        if name not in source.warcs:
            yield Finding("this file is missing", name)
            continue
        with source.warcs[name]() as stream:
            found = fixity_of(stream, progress)
        for part in ("bytes", "sha256"):
            if found[part] != file.get(part):
                yield Finding(f"the file is not as it was: {part} {found[part]}, stated is {file.get(part)}", name)
                break
    for name in source.warcs.keys() - stated.keys():
        yield Finding("this file is in no certificate", name)


def _with_pages(source: Material, documents: dict[str, dict[str, Any]], into: Verification) -> Iterator[str]:
    """The names of certificates whose file of pages is as stated; only these can be examined further."""
    for name, document in documents.items():
        stated = dict(document.get("pages") or {})
        file = str(stated.get("name"))
        if file not in source.pages or file != pages_name(name):
            into.findings.append(Finding("its pages are missing", name))
            continue
        with source.pages[file]() as stream:
            found = fixity_of(stream)
        if any(found[part] != stated.get(part) for part in found):
            what = f"its pages are not as they were: sha256 {found['sha256']}, stated is {stated.get('sha256')}"
            into.findings.append(Finding(what, file))
        else:
            yield name


def _certificate(name: str, source: Material, document: dict[str, Any], witness: Witness, into: Verification) -> None:
    into.digests.append(document[DIGEST])
    into.findings += _sealed(name, source, document, witness)
    files = {file["name"] for file in document["files"]}
    into.findings += beyond(witness, files, document["capture"]["clocks"], name)


def _in_records(source: Material, places: Sequence[tuple[str, int]]) -> str:
    """The SHA-256 of the concatenated blocks of records."""
    made = hashlib.sha256()
    for file, offset in places:
        with source.warcs[file]() as stream:
            record = read_at(stream, offset)
        made.update(record.block if isinstance(record, Record) else b"")
    return made.hexdigest()


def _sealed(name: str, source: Material, document: dict[str, Any], witness: Witness) -> Iterator[Finding]:
    """Check the certificate's digest, its text, and its copy in the WARC files."""
    text = source.certificates[name]
    if document[DIGEST] != digest(document):
        yield Finding(f"its digest is {digest(document)}, stated is {document[DIGEST]}", name)
    if to_text(document).encode("utf-8", "replace") != text:
        yield Finding("it is not written as sharc writes it", name)
    place = document[KEPT_IN]
    copy = witness.documents.get((place["file"], place["offset"]))
    if copy is None:
        yield Finding("the certificate is not in the WARC file", place["file"], place["offset"])
    elif copy.sha256 != hashlib.sha256(kept(document)).hexdigest():
        yield Finding("the certificate in the WARC file is another one", place["file"], place["offset"])
    elif _in_records(source, kept_pages(witness, document)) != document["pages"]["sha256"]:
        yield Finding("its pages in the WARC file are others", place["file"], place["offset"])
    if document["limits"] != list(LIMITS):
        yield Finding("its limits are not those of this version", name)


# -- indexes of a folder: if one does not match its WARC file, replay shows something else -----------------------------


def stale(
    folder: Path, warcs: Collection[str], damaged: Collection[str | None], progress: Callable[[int], None]
) -> Iterator[Finding]:
    """Indexes that do not match their WARC files; ``damaged`` files and missing indexes are passed over.

    ``progress`` is given the number of bytes of WARC files as they are read.
    """
    for name in warcs:
        index = index_path(folder / name)
        if name not in damaged and index.exists():
            made = _hashes(_lines(folder / name, progress))
            with index.open("rb") as lines:
                stored = _hashes(lines)
            with index.open("rb") as lines:
                in_order = all(one < other for one, other in pairwise(lines))
            if not np.array_equal(made, stored):
                yield Finding("the index is not that of its WARC file", index.name)
            elif not in_order:
                yield Finding("the index is not in order, so that replay finds no pages", index.name)


def _lines(warc: Path, progress: Callable[[int], None]) -> Iterator[bytes]:
    with warc.open("rb") as file:
        for entry in entries_of(cast("IO[bytes]", CountingReader(file, progress)), warc.name):
            yield entry.written()


def _hashes(lines: Iterable[bytes]) -> NDArray[np.int64]:
    """A hash of eight bytes for each line, sorted: there may be millions."""
    return np.sort(np.fromiter(map(hash, lines), np.int64))
