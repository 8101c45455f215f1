"""Pages read back from what was archived: a folder of WARC files, one WARC file, or a WACZ."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, replace
from datetime import datetime
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
    from collections.abc import Iterator
    from pathlib import Path

    from warcio.recordloader import ArcWarcRecord

    from sharc_crawler.model import Instant

OK = 200
_WARC = (".warc", ".warc.gz", ".warc" + OPEN, ".warc.gz" + OPEN)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as it was answered, status 200."""

    url: str
    time: Instant
    media_type: str | None  #: the whole ``Content-Type``
    body: bytes  #: content-decoded


def pages(source: Path, url: str | None = None, *, repeated: bool = False) -> Iterator[Fetched]:
    """The responses with status 200 in the order of the files, for one URL or for all.

    For one URL, and where ``repeated``, revisits are pages too: with the body of the response that has the same payload
    digest. For all URLs this keeps all bodies in memory.

    Raises :class:`~sharc_crawler.errors.DataError` where ``source`` holds no WARC, or one that cannot be read.
    """
    wanted = canonical(url) if url else None
    keep = repeated or wanted is not None
    bodies: dict[str | None, Fetched] = {}
    for name, stream in _warcs(source):
        try:
            for record in ArchiveIterator(stream, no_record_parse=True):
                page = _page(record, bodies) if _is_of(record, wanted) else None
                if page is not None and keep:
                    bodies.setdefault(record.rec_headers.get_header("WARC-Payload-Digest"), page)
                if page is not None:
                    yield page
        except ArchiveLoadFailed as error:
            raise DataError(f"{name} cannot be read as a WARC file: {error}") from error


def _is_of(record: ArcWarcRecord, wanted: str | None) -> bool:
    if record.rec_type not in {"response", "revisit"}:
        return False
    return wanted is None or canonical(record.rec_headers.get_header("WARC-Target-URI") or "") == wanted


def _page(record: ArcWarcRecord, bodies: dict[str | None, Fetched]) -> Fetched | None:
    head = record.rec_headers
    url, date = head.get_header("WARC-Target-URI"), head.get_header("WARC-Date")
    time = datetime.fromisoformat(date).timestamp()
    if record.rec_type == "revisit":
        original = bodies.get(head.get_header("WARC-Payload-Digest"))
        return replace(original, url=url, time=time) if original else None
    response = parse_response(record.raw_stream.read())
    if response is None or response.status != OK:
        return None
    body = decoded(response.payload, response.values(b"content-encoding"))
    media_type = header_text(response.header(b"content-type"))
    return None if body is None else Fetched(url, time, media_type, body)


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
