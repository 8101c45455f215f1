"""Find what no certificate covers: reports written again, added files, titles, the wording of another version."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sharc_crawler import __version__
from sharc_crawler.archive.wacz import PACKAGE, WACZ
from sharc_crawler.archive.wacz_check import UNREADABLE
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.certificate.fixity import ASIDE, fixity_of, reports
from sharc_crawler.certificate.material import Material
from sharc_crawler.certificate.names import CONFIRMATION, CONFIRMED
from sharc_crawler.certificate.sources import captures_in, open_source
from sharc_crawler.instants import second, unix
from sharc_crawler.report import write
from sharc_crawler.report.servers_word import standing_claims

Document = Mapping[str, Any]

DATA, DATA_PAGES = "report/data.json", "report/data-pages.jsonl"  #: a packaged report's files
GIVEN = "title and description of the package"
#: a crawl's own state, control files and logs (and a demo's true changes), which nobody is shown
_OF_THE_CRAWL = re.compile(
    r"frontier\.db.*|crawl(-\d+)?\.jsonl|control(-status)?\.json|seeds\.json|truth\.jsonl|journal\.jsonl\.gz"
    r"|\.(?!withdrawn/|confirming/).*"
)


def unsealed(path: Path) -> list[str]:
    """Names of files that no certificate covers: reports written again, added files; and titles given by users.

    Certificates of former versions, which state no report, are left out.
    """
    found = []
    for one in captures_in(path):
        inner = "" if one == path else f"{one.relative_to(path).as_posix()}/"
        found += [f"{inner}{name}" for name in _unsealed(one)]
    return found


def _unsealed(path: Path) -> Iterator[str]:
    source = open_source(path)
    documents = [json.loads(text) for text in source.certificates.values()]
    stating = [one["report"] for one in documents if "report" in one]
    stated = {place for files in stating for place in _stated(files)}
    there = {one["name"]: one["sha256"] for one in reports(path)} if path.is_dir() else _packaged_reports(path)
    if stating:
        yield from sorted(name for name, digest in there.items() if (name, digest) not in stated)
        yield from sorted(name for name in {name for name, _ in stated} - there.keys() if not ASIDE.fullmatch(name))
        yield from _added(path, source, there) if path.is_dir() else ()
    if not path.is_dir() and documents and not _is_ours(path, documents):
        yield GIVEN


def _stated(files: Any) -> Iterable[tuple[str, str]]:
    """Names and digests in a certificate; none if it is malformed, which is a finding elsewhere."""
    try:
        return [(str(file["name"]), str(file["sha256"])) for file in files]
    except (TypeError, LookupError):
        return []


def _added(folder: Path, source: Material, there: Container[str]) -> Iterator[str]:
    """Files that do not belong to a capture, and missing indexes."""
    parts = [("", source), *([(f"{CONFIRMATION}/", source.later)] if source.later else [])]
    known = {f"{inner}{name}" for inner, part in parts for name in (*part.warcs, *part.beside)}
    indexes = {f"{inner}{index_path(folder / name).name}" for inner, part in parts for name in part.warcs}
    known |= {*source.certificates, *source.pages, *indexes, f"{CONFIRMATION}/{CONFIRMED}"}
    names = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if not file.is_dir()}
    names = {name for name in names if not (_OF_THE_CRAWL.fullmatch(name) or name.endswith(WACZ))}
    yield from sorted(name for name in names - known if name not in there)
    yield from sorted(indexes - names)


def _packaged_reports(path: Path) -> dict[str, str]:
    """The files of a packaged report: name in a folder → digest."""
    found = {}
    with zipfile.ZipFile(path) as package:
        for name in package.namelist():
            if name.startswith("report/"):
                with suppress(*UNREADABLE), package.open(name) as stream:  # a finding elsewhere
                    found[in_folder(name)] = str(fixity_of(stream)["sha256"])
    return found


def in_folder(name: str) -> str:
    """The name in a folder of a file of a packaged report."""
    return {DATA: write.DATA, DATA_PAGES: write.PAGES}.get(name, name.removeprefix("report/"))


def _is_ours(path: Path, documents: Sequence[Document]) -> bool:
    """Has a package the title and description that sharc gives by default?"""
    try:
        with zipfile.ZipFile(path) as package:
            about = dict(json.loads(package.read(PACKAGE)))
        title, text = str(about["title"]), str(about["description"])
        claims = claims_of(open_source(path), documents)
    except (KeyError, TypeError, AttributeError, *UNREADABLE):
        return True  # malformed, which is a finding elsewhere
    titles = [f"{document['capture']['site']} {second(unix(reference_of(document)))}" for document in documents]
    return not (_rest(title, titles) or _rest(text, claims))


def claims_of(source: Material, documents: Sequence[Document]) -> list[str]:
    """The sentences in a package's description on certificates and confirmation."""
    return standing_claims((document["capture"]["claim"] for document in documents), confirmation_in(source))


def confirmation_in(source: Material) -> Document | None:
    """The confirmation; raises if it cannot be read, which is a finding elsewhere."""
    text = source.later.confirmation if source.later else None
    return dict(json.loads(text)) if text else None


def _rest(text: str, parts: Iterable[str]) -> str:
    for part in parts:
        text = text.replace(part, "", 1)
    return text.strip(" ,")


def wording_of(path: Path) -> str | None:
    """The version of sharc that wrote the report of a folder or a WACZ file; ``None`` if it is this one.

    Codes and numbers mean the same in all versions. Sentences and HTML pages are compared with the same version only.
    """
    return next((author for one in captures_in(path) if (author := _wording_of_capture(one))), None)


def _wording_of_capture(path: Path) -> str | None:
    try:
        if path.is_dir():
            report = json.loads((path / write.DATA).read_bytes())
        else:
            with zipfile.ZipFile(path) as package:
                report = json.loads(package.read(DATA))
        return author_of(report)
    except (KeyError, TypeError, *UNREADABLE):
        return None  # there is none, or it is malformed, which is a finding elsewhere


def author_of(report: Document) -> str | None:
    """The version of sharc that wrote a report; ``None`` if it is this one."""
    wrote = str(report["generator"]["version"])
    return None if wrote == __version__ else wrote


def reference_of(document: Document) -> str:
    """The reference instant of a certificate, or its capture's start if it has none."""
    capture = document["capture"]
    instant: str = (capture["reference"] or {}).get("instant") or capture["started"]
    return instant
