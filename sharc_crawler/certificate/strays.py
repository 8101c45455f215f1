"""Find what no certificate accounts for: stray files, stray records, files of pages that belong to none."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO, Any
from zipfile import ZipFile, is_zipfile

from sharc_crawler.archive.mending import DAMAGED
from sharc_crawler.archive.wacz import NO_ZIP
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.certificate.canonical import KEPT_IN, kept
from sharc_crawler.certificate.fixity import REPORTS, WITHDRAWN, fixity_of, pages_name
from sharc_crawler.certificate.material import Material
from sharc_crawler.certificate.names import CERTIFICATES, CONFIRMATION, CONFIRMED, CONFIRMING
from sharc_crawler.certificate.witness import Finding, Witness

Document = Mapping[str, Any]

_ARCHIVE = re.compile(r"\.w?arc(\.(gz|zst|bz2|xz))?(\.[a-z]+)?$", re.IGNORECASE)
_MAGIC = (b"WARC/", b"filedesc://")
_INDEX = re.compile(r"\.(cdxj?|idx)(?![a-z0-9])", re.IGNORECASE)
_PACKAGE = re.compile(r"\.wacz(?![a-z0-9])", re.IGNORECASE)
#: names of our documents; a file may also say in its first bytes that it is one
_DOCUMENT = re.compile(
    r"(?<![a-z])(report|certificate|confirmation|signature|timestamp)(?![a-z]).*\.(jsonl?|html?|tsr)(?![a-z0-9])", re.I
)
#: drafts of these files: a process that was killed leaves them behind, and no reader opens them
_DRAFT = re.compile(r"\.((report|certificate|confirmation|signature|timestamp)[^/]*|[^/]+\.wacz)(\.\d+)+")
_FORMATS = (b'"sharc-report"', b'"sharc-certificate', b'"sharc-confirmation"')
_DOWNLOADS = {"response", "revisit", "request"}
_START = 1 << 16  #: bytes read to tell a file's type
#: names of the files in a WACZ file of ours
_EXPECTED = re.compile(
    r"datapackage(-digest)?\.json|indexes/index\.(cdx\.gz|idx)|pages/pages\.jsonl|archive/[^/]+\.warc\.gz"
    r"|report/(data\.json|data-pages\.jsonl|report[^/]*\.html)|certificate/(certificate|signature)[^/]*\.json"
    r"|certificate/certificate[^/]*-pages\.jsonl"
    r"|certificate/timestamp[^/]*\.tsr|confirmation/([^/]+\.warc\.gz|(confirmation|signature)\.json|timestamp\.tsr)"
)
_OTHER = (
    "a package of another capture, or of these files as they were before: keep it in another folder; sharc verify tells"
    " of it by itself"
)


def around(path: Path, captures: Iterable[Path]) -> Iterator[Finding]:
    """Stray files in a folder that holds captures; the captures' own folders are passed over."""
    return strange_files(path, Material(str(path)), frozenset(captures))


def strange_files(path: Path, source: Material, apart: Set[Path] = frozenset()) -> Iterator[Finding]:
    """Files of a folder that could be mistaken for its WARC files, indexes, packages or documents.

    Its own files must not be links. Folders in ``apart`` are checked elsewhere and passed over, as are links to them
    (``latest``).
    """
    known = {*source.warcs, *source.certificates, *source.pages, *source.beside}
    known |= {CONFIRMED} if path.name == CONFIRMATION else set()
    indexes = {index_path(path / name).name for name in source.warcs}
    seen_to = {folder.resolve() for folder in apart}
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path).as_posix()
        if not apart.isdisjoint(file.parents):
            continue
        own = name in known or name in indexes or REPORTS.fullmatch(name) is not None
        if file.is_symlink() and (own or (file.is_dir() and file.resolve() not in seen_to)):
            yield Finding("a folder that lies elsewhere" if file.is_dir() else "a link where a file belongs", name)
        if not own and file.is_file() and not _kept_aside(name, source.warcs) and (what := _stranger(file, source)):
            yield Finding(what, name)


def _stranger(file: Path, source: Material) -> str | None:
    try:
        return None if _DRAFT.fullmatch(file.name) else _taken_for(file, source)
    except FileNotFoundError:  # a draft, removed meanwhile
        return None
    except OSError as error:  # other users may be able to read it
        return f"a file that cannot be read ({error.strerror})"


def _taken_for(file: Path, source: Material) -> str | None:
    """What a stray file could be mistaken for; ``None``: nothing."""
    if _ARCHIVE.search(file.name) or _is_archive(file):
        return "a WARC file beside those that a certificate speaks of"
    if _INDEX.search(file.name):
        return "an index of no WARC file"
    if CERTIFICATES.fullmatch(file.name.lower()):
        return "a certificate in a place of none"
    if _DOCUMENT.search(file.name) or _says_it_is_ours(file):
        return "a document beside those of the capture"
    if is_zipfile(file):
        return _OTHER if _other_package(file, source) else None
    return "a package that is no zip file" if _PACKAGE.search(file.name) else None


def _kept_aside(name: str, warcs: Iterable[str]) -> bool:
    """Is it a damaged WARC file, kept beside the mended one under another suffix?"""
    whole, mark, number = name.rpartition(DAMAGED)
    return bool(mark) and whole in warcs and re.fullmatch(r"(-\d+)?", number) is not None


def _other_package(file: Path, source: Material) -> bool:
    """Does a zip file hold packages, or other WARC files or certificates than those beside it?

    True also for a file named as a package without WARC files, and for one that cannot be read.
    """
    try:
        return _holds_others(file, source)
    except NO_ZIP:
        return True


def _holds_others(file: Path, source: Material) -> bool:
    with ZipFile(file) as package:
        names = package.namelist()
        held = {
            PurePosixPath(name).name: package.read(name)
            for name in names
            if CERTIFICATES.fullmatch(PurePosixPath(name).name)
        }
        archives = [name for name in names if _ARCHIVE.search(name)]
        if any(map(_PACKAGE.search, names)) or (_PACKAGE.search(file.name) and not archives):
            return True
        if archives and (held != source.certificates or _other_confirmation(package, source)):
            return True
        return any(_differ(package, name, _own(name, source)) for name in archives)


def _other_confirmation(package: ZipFile, source: Material) -> bool:
    name = f"{CONFIRMATION}/{CONFIRMED}"
    if name not in package.namelist():
        return False  # packaged before the confirmation
    return source.later is None or package.read(name) != source.later.confirmation


def _own(name: str, source: Material) -> Callable[[], IO[bytes]] | None:
    """The folder's own WARC file with the same name as one in a package."""
    part = source.later if name.startswith(f"{CONFIRMATION}/") else source
    return part.warcs.get(PurePosixPath(name).name) if part else None


def _differ(package: ZipFile, name: str, opened: Callable[[], IO[bytes]] | None) -> bool:
    """Does a file in a package differ from the folder's file of the same name?"""
    if opened is None:
        return True
    with package.open(name) as packed, opened() as own:
        return fixity_of(packed) != fixity_of(own)


def strange_parts(names: Iterable[str]) -> Iterator[Finding]:
    """Files in a WACZ file that sharc does not put there."""
    seen = set()
    for name in names:
        if not _EXPECTED.fullmatch(name):
            yield Finding("no file of a package", name)
        part, own = name.startswith(f"{CONFIRMATION}/"), PurePosixPath(name).name
        if (part, own) in seen:
            yield Finding("two files have this name", name)
        seen.add((part, own))


class Kinds:
    """The offsets and kinds of records by file, held compactly: there may be a million."""

    def __init__(self) -> None:
        self._names: list[str] = []  #: of the kinds that were met
        self._files: dict[str, tuple[array[int], array[int]]] = {}

    def add(self, file: str, offset: int, kind: str) -> None:
        """Add a record."""
        if kind not in self._names:
            self._names.append(kind)
        offsets, kinds = self._files.setdefault(file, (array("q"), array("b")))
        offsets.append(offset)
        kinds.append(self._names.index(kind))

    def files(self) -> list[str]:
        """The files, in order."""
        return sorted(self._files)

    def of(self, file: str) -> Iterator[tuple[int, str]]:
        """The records of a file."""
        return ((offset, self._names[kind]) for offset, kind in zip(*self._files[file], strict=True))


def strange_records(witness: Witness, kinds: Kinds, documents: Iterable[Document]) -> Iterator[Finding]:
    """Records in the wrong place.

    The WARC file of a certificate holds a warcinfo and certificates only. Files with downloads hold no certificate.
    """
    data = [file for file in kinds.files() if any(kind in _DOWNLOADS for _, kind in kinds.of(file))]
    for name, offset in witness.documents:
        if name in data:
            yield Finding("a metadata record among downloads, and of none", name, offset)
    for name in data:
        for number, (offset, kind) in enumerate(kinds.of(name)):
            if kind == "warcinfo" and number:
                yield Finding("a warcinfo record that is not the first of its file", name, offset)
    own = {document[KEPT_IN]["file"] for document in documents}
    copies = {hashlib.sha256(kept(dict(document))).hexdigest() for document in documents}
    pieces = {place for document in documents for place in kept_pages(witness, document)}
    for name in (file for file in kinds.files() if file in own):
        for number, (offset, kind) in enumerate(kinds.of(name)):
            found = witness.documents.get((name, offset))
            certificate = (name, offset) in pieces or (found is not None and found.sha256 in copies)
            belongs = certificate if number else kind == "warcinfo"
            if not belongs:
                yield Finding(f"a {kind} record in the file of a certificate", name, offset)


def kept_pages(witness: Witness, document: Document) -> list[tuple[str, int]]:
    """The places of the records that hold a certificate's pages: in its file, named after it."""
    kept_in = document[KEPT_IN]
    own = witness.documents.get((kept_in["file"], kept_in["offset"]))
    named = f"{own.uri}:pages" if own else ""
    places = (place for place, found in witness.documents.items() if found.uri == named)
    return sorted(place for place in places if place[0] == kept_in["file"])


def _says_it_is_ours(file: Path) -> bool:
    with file.open("rb") as stream:
        start = stream.read(_START)
    return start.lstrip()[:1] in (b"{", b"[") and any(one in start for one in _FORMATS)


def _is_archive(file: Path) -> bool:
    with file.open("rb") as stream:
        start = stream.read(_START)
    while start[:2] == b"\x1f\x8b":
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            text = member.decompress(start, 64)
        except (zlib.error, gzip.BadGzipFile):
            return False
        start = text or member.unused_data  # an empty member comes before another one
    return start.lstrip().startswith(_MAGIC)


def _one_for_each(source: Material, documents: Iterable[Document]) -> Iterator[Finding]:
    """Second certificates of a capture, and files of pages without a certificate."""
    seen = set()
    for name in sorted(source.pages.keys() - set(map(pages_name, source.certificates))):
        yield Finding("it belongs to no certificate", name)
    for name, document in zip(source.certificates, documents, strict=True):
        site = document["capture"]["site"]
        if site in seen:
            yield Finding(f"a second certificate of {site}", name)
        seen.add(site)


def strangers(
    path: Path, source: Material, witness: Witness, kinds: Kinds, documents: list[Document]
) -> Iterator[Finding]:
    """Everything in a capture's folder that no certificate accounts for."""
    if path.is_dir():
        yield from strange_files(path, source, {path / CONFIRMATION, path / CONFIRMING, path / WITHDRAWN})
        if source.later is not None:
            found = strange_files(path / CONFIRMATION, replace(source.later, certificates={}, pages={}))
            yield from (replace(one, file=f"{CONFIRMATION}/{one.file}") for one in found)
    else:
        yield from strange_parts(source.names)
    yield from _one_for_each(source, documents)
    yield from strange_records(witness, kinds, documents)
