"""What lies beside what a certificate speaks of: other files, other records, pages that nobody names."""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.stock import DAMAGED
from sharc_crawler.certificate.canonical import KEPT_IN, kept
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.instants import unix
from sharc_crawler.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from sharc_crawler.certificate.sources import Source
    from sharc_crawler.certificate.witness import RecordedExchange, Witness

    Document = Mapping[str, Any]

_ARCHIVE = re.compile(r"\.w?arc(\.(gz|zst|bz2|xz))?(\.[a-z]+)?$", re.IGNORECASE)
_MAGIC = (b"WARC/", b"filedesc://")
#: what a WACZ file of ours holds
_EXPECTED = re.compile(
    r"datapackage(-digest)?\.json|indexes/index\.(cdx\.gz|idx)|pages/pages\.jsonl|archive/[^/]+\.warc\.gz"
    r"|report/(data\.json|report[^/]*\.html)|certificate/(certificate|signature)[^/]*\.json|certificate/timestamp[^/]*\.tsr"
)
_SHOWN = re.compile(rb"html|pdf|image|video|audio|script|css|json", re.IGNORECASE)
_LATEST = 600.0  #: seconds before a cut within which what was downloaded may not have been noted yet


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
    copies = {kept(dict(document)) for document in documents}
    for name in sorted(own & witness.kinds.keys()):
        for number, (offset, kind) in enumerate(witness.kinds[name]):
            certificate = witness.documents.get((name, offset)) in copies
            if (kind != "warcinfo") if number == 0 else not certificate:
                yield Finding(f"a {kind} record in the file of a certificate", name, offset)


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


def _is_archive(file: Path) -> bool:
    with file.open("rb") as stream:
        start = stream.read(512)
    if start[:2] == b"\x1f\x8b":
        try:
            start = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(start, 64)
        except (zlib.error, gzip.BadGzipFile):
            return False
    return start.startswith(_MAGIC)


def strangers(path: Path, source: Source, witness: Witness, documents: list[Document]) -> Iterator[Finding]:
    """All of it."""
    if path.is_dir():
        yield from strange_files(path, source.warcs)
    else:
        yield from strange_parts(source.names)
    yield from strange_records(witness, documents)
    yield from unspoken(witness, documents)
