"""Check a capture's folder against its certificates without reading the WARC files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from sharc_crawler.archive.cdxj import read_index
from sharc_crawler.archive.members import Damage, Record, read_at, records
from sharc_crawler.archive.replay import lost_warcs
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.certificate.canonical import DIGEST, KEPT_IN, digest, kept
from sharc_crawler.certificate.fixity import fixity, pages_name
from sharc_crawler.certificate.sealed_files import resized, stated_files
from sharc_crawler.certificate.sources import open_source
from sharc_crawler.certificate.verify import document_of
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.errors import MALFORMED, DataError
from sharc_crawler.report.package_check import not_of_capture

Document = dict[str, Any]


def refuse_altered(folder: Path) -> None:
    """Before packaging: raise :class:`~sharc_crawler.errors.DataError` if a folder is not as its certificates state.

    Checked are sizes, last records, certificates with their pages, and the report. Digests of WARC files are compared
    later, while they are copied.
    """
    if lost := lost_warcs([folder]):
        raise DataError(f"{lost[0]} is missing")
    source = open_source(folder)
    documents = {name: document_of(str(folder / name), text) for name, text in source.certificates.items()}
    findings = chain(_files(folder, source.warcs, documents), _certificates(folder, documents), not_of_capture(folder))
    try:
        found = next(findings, None)
    except MALFORMED as error:
        raise DataError(f"{folder}: a certificate or an index cannot be read: {error!r}") from error
    if found:
        raise DataError(f"{folder / str(found)} (sharc verify {folder} says more)")


def _files(folder: Path, warcs: Iterable[str], documents: Mapping[str, Document]) -> Iterator[Finding]:
    """WARC files that are missing, of another size, added, or damaged at their end."""
    for name in documents:
        yield from resized(folder / name)
    stated = {file["name"] for document in documents.values() for file in stated_files(document)}
    for name in warcs:
        if stated and name not in stated:
            yield Finding("this file is in no certificate", name)
        yield from _end(folder / name)


def _end(warc: Path) -> Iterator[Finding]:
    """Damage from the last indexed record on."""
    index = index_path(warc)
    last = max((entry.offset for entry in read_index(index)), default=0) if index.exists() else 0
    with warc.open("rb") as stream:
        for record in records(stream, last):
            if isinstance(record, Damage):
                yield Finding(record.reason, warc.name, record.offset)


def _certificates(folder: Path, documents: Mapping[str, Document]) -> Iterator[Finding]:
    """Certificates that differ from what was sealed, or whose pages do."""
    for name, document in documents.items():
        if document[DIGEST] != digest(document):
            yield Finding(f"its digest is {digest(document)}, stated is {document[DIGEST]}", name)
        place, pages = document[KEPT_IN], folder / pages_name(name)
        with (folder / place["file"]).open("rb") as stream:
            copy = read_at(stream, place["offset"])
        if not isinstance(copy, Record) or copy.text != kept(document):
            yield Finding("the certificate in the WARC file is another one", place["file"], place["offset"])
        found = fixity(pages) if pages.exists() else {"bytes": 0}
        if any(document["pages"].get(part) != value for part, value in found.items()):
            yield Finding("its pages are not as they were", pages.name)
