"""Pages read back from what was archived: a folder of WARC files, one WARC file, or a WACZ."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import IO, TYPE_CHECKING

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from sharc_crawler.archive.files import OPEN
from sharc_crawler.archive.wacz import NO_ZIP
from sharc_crawler.changes.http import parse_response
from sharc_crawler.coding import decoded
from sharc_crawler.errors import DataError
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from warcio.recordloader import ArcWarcRecord
    from warcio.statusandheaders import StatusAndHeaders

    from sharc_crawler.model import Instant

OK = 200
DIGEST = "WARC-Payload-Digest"
_WARC = (".warc", ".warc.gz", ".warc" + OPEN, ".warc.gz" + OPEN)


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page as it was answered, status 200."""

    url: str
    time: Instant
    media_type: str | None  #: the whole ``Content-Type``
    body: bytes  #: content-decoded


def pages(
    source: Path, url: str | None = None, *, repeated: bool = False, former: Sequence[Path] = ()
) -> Iterator[FetchedPage]:
    """The responses with status 200 in the order of the files, for one URL or for all.

    For one URL, and where ``repeated``, revisits are pages too: with the body of the response that has the same payload
    digest. For all URLs this keeps all bodies in memory. For one URL, payloads that another URL brought, or that lie in
    ``former`` captures, come last.

    Raises :class:`~sharc_crawler.errors.DataError` where ``source`` holds no WARC, or one that cannot be read, or where
    a payload of the URL lies in a capture that was not named.
    """
    wanted = canonical(url) if url else None
    keep = repeated or wanted is not None
    bodies: dict[str | None, FetchedPage] = {}
    lost: list[StatusAndHeaders] = []
    for record in _records(source):
        if not _is_of(record, wanted):
            continue
        page = _page(record, bodies)
        digest = record.rec_headers.get_header(DIGEST)
        if page is not None:
            if keep:
                bodies.setdefault(digest, page)
            yield page
        elif wanted is not None and record.rec_type == "revisit" and digest:
            lost.append(record.rec_headers)
    if lost:
        yield from _stored_elsewhere(lost, (source, *former))


def elsewhere(source: Path) -> set[str]:
    """URLs with a payload that is stored in a former capture."""
    here, referred = set[str](), dict[str, set[str]]()
    for record in _records(source):
        digest = record.rec_headers.get_header(DIGEST)
        if record.rec_type == "revisit" and digest:
            referred.setdefault(digest, set()).add(record.rec_headers.get_header("WARC-Target-URI"))
        else:
            here.add(digest)
    return {url for digest, urls in referred.items() if digest not in here for url in urls}


def _stored_elsewhere(lost: Sequence[StatusAndHeaders], sources: Sequence[Path]) -> Iterator[FetchedPage]:
    """Revisits whose payload another URL brought, or a former capture."""
    missing = {head.get_header(DIGEST) for head in lost}
    bodies: dict[str, FetchedPage] = {}
    for record in chain.from_iterable(map(_records, sources)):
        digest = record.rec_headers.get_header(DIGEST)
        if record.rec_type == "response" and digest in missing:
            missing.remove(digest)
            if (page := _page(record, {})) is not None:
                bodies[digest] = page
    for head in lost:
        url, digest = head.get_header("WARC-Target-URI"), head.get_header(DIGEST)
        if digest in missing:
            raise DataError(f"{sources[0]} has {url!r} stored in a former capture (dedup=site): name it, --former DIR")
        if digest in bodies:  # else its status is another than 200
            yield replace(bodies[digest], url=url, time=_time(head))


def _records(source: Path) -> Iterator[ArcWarcRecord]:
    for name, stream in _warcs(source):
        try:
            yield from ArchiveIterator(stream, no_record_parse=True)
        except ArchiveLoadFailed as error:
            raise DataError(f"{name} cannot be read as a WARC file: {error}") from error


def _is_of(record: ArcWarcRecord, wanted: str | None) -> bool:
    if record.rec_type not in {"response", "revisit"}:
        return False
    return wanted is None or canonical(record.rec_headers.get_header("WARC-Target-URI") or "") == wanted


def _page(record: ArcWarcRecord, bodies: dict[str | None, FetchedPage]) -> FetchedPage | None:
    head = record.rec_headers
    url, time = head.get_header("WARC-Target-URI"), _time(head)
    if record.rec_type == "revisit":
        original = bodies.get(head.get_header(DIGEST))
        return replace(original, url=url, time=time) if original else None
    response = parse_response(record.raw_stream.read())
    if response is None or response.status != OK:
        return None
    body = decoded(response.payload, response.values(b"content-encoding"))
    media_type = header_text(response.header(b"content-type"))
    return None if body is None else FetchedPage(url, time, media_type, body)


def _time(head: StatusAndHeaders) -> Instant:
    return datetime.fromisoformat(head.get_header("WARC-Date")).timestamp()


def _warcs(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if source.suffix == ".wacz":
        yield from _packed(source)
        return
    # a folder's own, and those of its sites
    found = [*source.iterdir(), *source.glob("*/*")] if source.is_dir() else [source]
    files = sorted(path for path in found if path == source or path.name.endswith(_WARC))
    if not files:
        raise DataError(f"{source} holds no WARC file; name a capture's folder, a WARC file or a WACZ")
    for path in files:
        with path.open("rb") as stream:
            yield str(path), stream


def _packed(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    try:
        with zipfile.ZipFile(source) as package:
            for name in package.namelist():
                if name.endswith(_WARC):
                    with package.open(name) as stream:
                        yield f"{source}/{name}", stream
    except NO_ZIP as error:
        raise DataError(f"{source} cannot be read as a WACZ: {error}") from error
