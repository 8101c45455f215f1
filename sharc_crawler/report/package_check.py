"""Check index, list of pages, report and title of a WACZ file against its WARC files and certificates."""

from __future__ import annotations

import gzip
import heapq
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
from jinja2 import TemplateError
from warcio.exceptions import ArchiveLoadFailed

from sharc_crawler import __version__
from sharc_crawler.archive.indexing import entries_of as index_entries
from sharc_crawler.archive.members import read_at
from sharc_crawler.archive.wacz import PACKAGE, SEAL, SIGNED, WACZ, page_lines
from sharc_crawler.archive.wacz_check import UNREADABLE, altered
from sharc_crawler.archive.zipnum import AT_ONCE, write_zipnum
from sharc_crawler.certificate.confirming import updated_by
from sharc_crawler.certificate.fixity import fixity_of, pages_name
from sharc_crawler.certificate.material import Material, opened, text_lines
from sharc_crawler.certificate.sources import captures_in, open_source
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.errors import DataError
from sharc_crawler.evidence.claim import Statement
from sharc_crawler.instants import second, unix
from sharc_crawler.model import Kind, Verdict
from sharc_crawler.report import write
from sharc_crawler.report.agreement import has_pages_of, otherwise
from sharc_crawler.report.claim import in_words
from sharc_crawler.report.html import render
from sharc_crawler.report.packaging import lines_of
from sharc_crawler.report.sites import not_of_index
from sharc_crawler.report.unsealed import (
    DATA,
    DATA_PAGES,
    author_of,
    claims_of,
    confirmation_in,
    in_folder,
    reference_of,
)
from sharc_crawler.storage.gathered import is_collection

if TYPE_CHECKING:
    Document = Mapping[str, Any]
    Shown = Mapping[str, Callable[[], AbstractContextManager[IO[bytes]]]]

INDEX, BLOCKS, PAGES = "indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl"
_SORTED = 10_000  #: lines of an index sorted in memory at once
#: fields of a package's description, in our order
_FIELDS = (
    "profile", "resources", "title", "description", "created", "wacz_version", "software", "mainPageUrl",
    "mainPageDate",
)  # fmt: skip
SOFTWARE = re.compile(r"sharc-crawler \S+")
_NO_CLAIM = {
    name: words
    for name, words in in_words({"statement": Statement.NOTHING, "grounds": (), "limits": ()}).items()
    if name != "limits"
}
LARGE, LINES = ("archive/", INDEX), ".jsonl"  #: large files, read in pieces
_SHOWN = re.compile(r"report/.*\.html", re.DOTALL)  #: large, too


def not_of_it(path: Path) -> Iterator[Finding]:
    """Where a WACZ file, or the reports of folders, contradict WARC files and certificates.

    The digests of a package's files were checked before. The wording of another version of sharc is not compared
    (:func:`~sharc_crawler.report.unsealed.wording_of`).
    """
    captures = captures_in(path)
    for one in captures:
        inner = "" if one == path else f"{one.relative_to(path).as_posix()}/"
        for finding in not_of_capture(one):
            yield replace(finding, file=f"{inner}{finding.file or ''}")
        for package in sorted(one.glob(f"*{WACZ}")) if one.is_dir() and not is_collection(one) else ():
            for finding in _of_packaged_capture(package):
                yield replace(finding, file=f"{inner}{package.name}/{finding.file or ''}")
    for crawl in dict.fromkeys([path, *(one.parent for one in captures if one != path)]):
        inner = "" if crawl == path else f"{crawl.relative_to(path).as_posix()}/"
        yield from (replace(one, file=f"{inner}{one.file or ''}") for one in not_of_index(crawl))


def _of_packaged_capture(package: Path) -> Iterator[Finding]:
    """What is wrong with a package in its capture's folder; its WARC files were compared before."""
    if not zipfile.is_zipfile(package):
        return
    try:
        yield from (Finding(what, file) for file, what in altered(package))
        yield from not_of_capture(package)
    except (DataError, zipfile.BadZipFile) as error:
        yield Finding(str(error))


def not_of_capture(path: Path) -> Iterator[Finding]:
    """Where the report of a capture's folder, or its package, contradicts its certificates."""
    source = open_source(path)
    if not source.certificates or not source.pages.keys() >= set(map(pages_name, source.certificates)):
        return  # a finding elsewhere
    documents = [json.loads(text) for text in source.certificates.values()]
    try:
        yield from _of_folder(path, source, documents) if path.is_dir() else _of_package(path, source, documents)
    except (KeyError, TypeError, AttributeError, TemplateError, *UNREADABLE) as error:
        yield Finding(f"index, pages, report or title cannot be read: {error!r}", path.name)


def package_digest(path: Path) -> str | None:
    """The digest of a WACZ file's description, which has the digests of all its files."""
    with zipfile.ZipFile(path) as package:
        try:
            return str(json.loads(package.read(SEAL))["hash"])
        except (KeyError, TypeError, *UNREADABLE):
            return None  # a finding elsewhere


def _of_folder(path: Path, source: Material, documents: Sequence[Document]) -> Iterator[Finding]:
    """Check a folder's report, if there is one."""
    shown = {f"report/{file.name}": partial(opened, file) for file in path.glob("report*.html")}
    data = path / write.DATA
    stored = data.read_bytes() if data.exists() else None
    for finding in _report(stored, shown, write.Lines(path / write.PAGES), source, documents):
        yield replace(finding, file=in_folder(finding.file or ""))


def _of_package(path: Path, source: Material, documents: Sequence[Document]) -> Iterator[Finding]:
    with zipfile.ZipFile(path) as package:
        shown = {name: partial(_opened_in, path, name) for name in package.namelist() if _SHOWN.fullmatch(name)}
        small = (name for name in package.namelist() if not name.startswith(LARGE) and not name.endswith(LINES))
        parts = {name: package.read(name) for name in small if name not in shown}
    try:
        yield from _index(path, parts[BLOCKS].decode(), source.warcs)
    except ArchiveLoadFailed:  # the damaged record is a finding elsewhere
        yield Finding("the index cannot be made anew: a WARC file is damaged", INDEX)
    yield from _pages(PackagedPart(path, PAGES), source, documents)
    yield from _report(parts.get(DATA), shown, PackagedPart(path, DATA_PAGES), source, documents)
    yield from _about(parts, source, documents)


def _index(path: Path, blocks: str, warcs: Mapping[str, Callable[[], IO[bytes]]]) -> Iterator[Finding]:
    with ExitStack() as stack:
        files = [stack.enter_context(_sorted_lines(opened, name)) for name, opened in warcs.items()]
        made = stack.enter_context(TemporaryFile())
        again = write_zipnum(heapq.merge(*files), made)
        stored = stack.enter_context(stack.enter_context(zipfile.ZipFile(path)).open(INDEX))
        if _digest(_unpacked(stored)) != _digest(_unpacked(_rewound(made))):
            yield Finding("the index is not that of the WARC files", INDEX)
        elif (_digest(_rewound(stored)), blocks) != (_digest(_rewound(made)), again):
            yield Finding("the index is not in blocks as it is written", BLOCKS)


def _sorted_lines(opened: Callable[[], IO[bytes]], name: str) -> IO[str]:
    """The lines of a WARC file's index, sorted, in a temporary file."""
    runs: list[IO[str]] = []
    with opened() as stream:
        lines = (f"{entry.line()}\n" for entry in index_entries(stream, name))
        while some := sorted(islice(lines, _SORTED)):
            runs.append(_written(some))
            if len(runs) == AT_ONCE:
                runs = [_written(heapq.merge(*runs))]
    return _written(heapq.merge(*runs))


def _written(lines: Iterable[str]) -> IO[str]:
    """A temporary file with these lines."""
    file = TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115 - the caller's
    file.writelines(lines)
    file.seek(0)
    return file


def _unpacked(stream: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", gzip.GzipFile(fileobj=stream))


def _digest(stream: IO[bytes]) -> str:
    return str(fixity_of(stream)["sha256"])


def _rewound(stream: IO[bytes]) -> IO[bytes]:
    stream.seek(0)
    return stream


@dataclass(frozen=True, slots=True)
class PackagedPart:
    """The lines of a text file in a zip file, read anew on each iteration."""

    path: Path
    name: str

    def __iter__(self) -> Iterator[str]:
        with zipfile.ZipFile(self.path) as package, package.open(self.name) as stream:
            yield from (line.decode() for line in text_lines(stream))


def _pages(stored: Iterable[str], source: Material, documents: Sequence[Document]) -> Iterator[Finding]:
    stands = updated_by(confirmation_in(source))
    entries = ((document, map(stands, source.entries(document))) for document in documents)
    made = page_lines(line for document, each in entries for line in _lines(document, each, source.warcs))
    one, other = (np.fromiter(map(hash, _encoded(lines)), np.int64) for lines in (made, stored))
    if len(documents) > 1:  # in a package, captures are in the order in which they began
        one, other = np.sort(one), np.sort(other)
    if not np.array_equal(one, other):
        yield Finding("the list of pages is not that of the certificate", PAGES)


def _encoded(lines: Iterable[str]) -> Iterator[bytes]:
    return (line.encode("utf-8", "replace") for line in lines)


def _lines(
    document: Document, entries: Iterable[Document], warcs: Mapping[str, Callable[[], IO[bytes]]]
) -> Iterator[dict[str, Any]]:
    def read(file: str, offset: int) -> object:
        with warcs[file]() as stream:
            return read_at(stream, offset)

    references = {part["name"]: (part["reference"] or {}).get("instant") for part in document["subsites"]}
    for page in entries:
        if page["kind"] == Kind.PAGE and page["visit"] and "verdict" in page:
            yield from lines_of(page, references.get(page["subsite"]), read)


@contextmanager
def _opened_in(path: Path, name: str) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(path) as package, package.open(name) as stream:
        yield stream


def _report(
    data: bytes | None, shown: Shown, lines: Iterable[str], source: Material, documents: Sequence[Document]
) -> Iterator[Finding]:
    """Check a report; ``shown``: its HTML pages by name."""
    if data is None:
        yield from (Finding("a report for people without its data", name) for name in sorted(shown))
        return
    report = _read(data)
    certified = {document["capture"]["site"]: document for document in documents}
    named = tuple(_NO_CLAIM) if not author_of(report) else ("code", "grounds")  # another version has other words
    captures = [one for one in report["captures"] if one["site"] in certified or _owes_certificate(one, lines, named)]
    if sorted(one["site"] for one in captures) != sorted(certified):
        yield Finding("the report's captures are not those of the certificates", DATA)
        return
    for capture in captures:
        document = certified[capture["site"]]
        entries = partial(source.entries, document)
        for what in otherwise(capture, document, entries(), worded=not author_of(report)):
            yield Finding(what, DATA)
        if not has_pages_of(map(_read, lines), capture["site"], entries()):
            yield Finding("the report's pages are not those of the certificate", DATA_PAGES)
    sites = {one["site"] for one in report["captures"]}
    if any(_read(line)["site"] not in sites for line in lines):
        yield Finding("pages of a site that the report has no capture of", DATA_PAGES)
    if author_of(report):
        return
    made = {f"report/{name}": pieces for name, pieces in render(report, lines).items()}
    for name, opener in sorted(shown.items()):
        with opener() as stored:
            if name not in made or not _is_made_of(stored, made[name]):
                yield Finding("the report is not that of its data", name)


def _is_made_of(stored: IO[bytes], pieces: Iterable[str]) -> bool:
    """Does a file consist of exactly these pieces?"""
    return all(stored.read(len(piece)) == piece for piece in _encoded(pieces)) and not stored.read(1)


def _owes_certificate(capture: Mapping[str, Any], lines: Iterable[str], named: Sequence[str]) -> bool:
    """Should a reported capture have a certificate? Not if it is unfinished, or nothing was downloaded."""
    if capture["times"]["ended"] is None:
        return False
    counts = (capture[what][name] for what in ("coherence", "resources") for name in ("captured", *Verdict))
    claims = any(capture["claim"][name] != _NO_CLAIM[name] for name in named)
    if capture["warcs"] or capture["exchanges"] or any(counts) or claims:
        return True
    listed = (page for page in map(_read, lines) if page["site"] == capture["site"])
    return any(page["verdict"] is not None for page in listed)


def _read(text: str | bytes) -> Any:
    """Parse JSON without duplicate names, of which readers take either the first or the last."""
    return json.loads(text, object_pairs_hook=_named_once)


def _named_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _about(parts: Mapping[str, bytes], source: Material, documents: Sequence[Document]) -> Iterator[Finding]:
    """Check title and description. A user's own title may say anything, but must not contain another instant."""
    about = _read(parts[PACKAGE])
    instants = {second(unix(reference_of(document))) for document in documents}
    said = {word.strip(",.;") for word in about["title"].split() if word[:4].isdigit() and "T" in word}
    if not said <= instants:
        yield Finding(f"its title {about['title']!r} is not of {', '.join(sorted(instants))}", PACKAGE)
    claims = claims_of(source, documents)
    ours = about["software"] == f"sharc-crawler {__version__}"
    if ours and not all(claim in about["description"] for claim in claims):
        yield Finding("its description does not say what the certificate claims", PACKAGE)
    told = {name: about[name] for name in ("created", "software")} | {"version": about["software"].rpartition(" ")[2]}
    signed = json.loads(parts[SEAL]).get(SIGNED, told)
    yield from _opened_at(about, source, documents, stamped="timeSignature" in signed)
    if {name: signed.get(name) for name in told} != told:
        yield Finding("what is said of its signature is not what the package says of itself", SEAL)


def _opened_at(
    about: Mapping[str, Any], source: Material, documents: Sequence[Document], *, stamped: bool
) -> Iterator[Finding]:
    """Check the other fields of a package: its main page must be a visit, or a seed if there is none.

    Its date is the captures' end, or, if its signature is ``stamped``, a time that was compared with the stamp.
    """
    first = about.get("mainPageUrl"), about.get("mainPageDate")
    entries = (entry for document in documents for entry in source.entries(document) if "verdict" in entry)
    visits = ((entry["visit"]["uri"], f"{entry['visit']['date'][:23]}Z") for entry in entries if entry["visit"])
    seeds = ((seed, None) for document in documents for seed in document["capture"]["seeds"])
    if first not in chain(visits, seeds):
        yield Finding(f"it opens {first[0]} at {first[1]}, which is no visit", PACKAGE)
    ended = second(max(unix(document["capture"]["ended"]) for document in documents))
    if about["created"] != ended and not (stamped and about["created"] > ended):
        yield Finding(f"it is said to be of {about['created']}, the captures ended at {ended}", PACKAGE)
    if not SOFTWARE.fullmatch(about["software"]):
        yield Finding(f"it is said to be made by {about['software']!r}", PACKAGE)
    if more := sorted(about.keys() - set(_FIELDS)):
        yield Finding(f"{', '.join(more)} is no field of a package", PACKAGE)
    elif [*about] != [name for name in _FIELDS if name in about]:
        yield Finding("its fields are not in our order", PACKAGE)
