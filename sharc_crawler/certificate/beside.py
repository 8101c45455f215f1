"""What lies beside what a certificate speaks of: other files, other records, pages that nobody names."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.stock import DAMAGED
from sharc_crawler.certificate.canonical import KEPT_IN, kept
from sharc_crawler.certificate.witness import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from sharc_crawler.certificate.material import Material
    from sharc_crawler.certificate.witness import Witness

    Document = Mapping[str, Any]

_ARCHIVE = re.compile(r"\.w?arc(\.(gz|zst|bz2|xz))?(\.[a-z]+)?$", re.IGNORECASE)
_MAGIC = (b"WARC/", b"filedesc://")
#: what a WACZ file of ours holds
_EXPECTED = re.compile(
    r"datapackage(-digest)?\.json|indexes/index\.(cdx\.gz|idx)|pages/pages\.jsonl|archive/[^/]+\.warc\.gz"
    r"|report/(data\.json|data-pages\.jsonl|report[^/]*\.html)|certificate/(certificate|signature)[^/]*\.json"
    r"|certificate/certificate[^/]*-pages\.jsonl"
    r"|certificate/timestamp[^/]*\.tsr"
)


def strange_files(path: Path, names: Iterable[str]) -> Iterator[Finding]:
    """Files of a folder that could be taken for WARC files, and that no certificate speaks of."""
    known = set(names)
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path).as_posix()
        if f"{SUFFIX}{DAMAGED}" in name:  # kept aside as it was, when it was mended
            continue
        if name not in known and file.is_file() and (_ARCHIVE.search(name) or _is_archive(file)):
            yield Finding("a WARC file beside those that a certificate speaks of", name)


def strange_parts(names: Iterable[str]) -> Iterator[Finding]:
    """Files in a WACZ file that none of ours has."""
    seen = set()
    for name in names:
        if not _EXPECTED.fullmatch(name):
            yield Finding("no file of a package", name)
        elif PurePosixPath(name).name in seen:
            yield Finding("two files have this name", name)
        seen.add(PurePosixPath(name).name)


def strange_records(witness: Witness, documents: Iterable[Document]) -> Iterator[Finding]:
    """The WARC file of a certificate holds a warcinfo and certificates, nothing else."""
    own = {document[KEPT_IN]["file"] for document in documents}
    copies = {hashlib.sha256(kept(dict(document))).hexdigest() for document in documents}
    pieces = {place for document in documents for place in kept_pages(witness, document)}
    for name in sorted(own & witness.kinds.keys()):
        for number, (offset, kind) in enumerate(witness.kinds[name]):
            found = witness.documents.get((name, offset))
            certificate = (name, offset) in pieces or (found is not None and found.sha256 in copies)
            if (kind != "warcinfo") if number == 0 else not certificate:
                yield Finding(f"a {kind} record in the file of a certificate", name, offset)


def kept_pages(witness: Witness, document: Document) -> list[tuple[str, int]]:
    """Where the records lie that should hold the pages of a certificate: with it, and named after it."""
    kept_in = document[KEPT_IN]
    own = witness.documents.get((kept_in["file"], kept_in["offset"]))
    named = f"{own.uri}:pages" if own else ""
    places = (place for place, found in witness.documents.items() if found.uri == named)
    return sorted(place for place in places if place[0] == kept_in["file"])


def _is_archive(file: Path) -> bool:
    with file.open("rb") as stream:
        start = stream.read(512)
    if start[:2] == b"\x1f\x8b":
        try:
            start = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(start, 64)
        except (zlib.error, gzip.BadGzipFile):
            return False
    return start.startswith(_MAGIC)


def strangers(path: Path, source: Material, witness: Witness, documents: list[Document]) -> Iterator[Finding]:
    """All of it."""
    if path.is_dir():
        yield from strange_files(path, source.warcs)
    else:
        yield from strange_parts(source.names)
    yield from strange_records(witness, documents)
