"""Read archived pages from a folder of WARC files, a WARC file, or a WACZ."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING

from warcio.exceptions import ArchiveLoadFailed

from sharc_crawler.addresses.urls import canonical
from sharc_crawler.archive.bounded_heads import bounded_records
from sharc_crawler.archive.files import OPEN
from sharc_crawler.archive.posted import Posted, sent, with_method
from sharc_crawler.archive.wacz import NO_ZIP
from sharc_crawler.bodies.coding import decoded
from sharc_crawler.changes.http import parse_response
from sharc_crawler.errors import MALFORMED, DataError
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.instants import unix

if TYPE_CHECKING:
    from warcio.recordloader import ArcWarcRecord
    from warcio.statusandheaders import StatusAndHeaders

    from sharc_crawler.model import Instant

OK = 200
DIGEST = "WARC-Payload-Digest"
_OWNER = "WARC-Concurrent-To"
_LIST = "urn:pageinfo:"  #: URI of a page's list of what it loaded in a browser
_FETCHED = {"xhr", "fetch"}  #: types in that list of what scripts fetched
_GET = Posted()
_WARC = (".warc", ".warc.gz", ".warc" + OPEN, ".warc.gz" + OPEN)


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """An archived page."""

    url: str
    time: Instant
    media_type: str | None  #: the whole ``Content-Type``
    body: bytes  #: unpacked
    status: int = OK
    sent: Posted = _GET  #: method and body of its request, unless it was GET

    @property
    def key(self) -> str:
        """The key of the request in pages' lists."""
        method, posted = self.sent
        return _key(with_method(self.url, method, posted) if method else self.url)


def pages(
    source: Path,
    urls: Collection[str] = (),
    *,
    repeated: bool = False,
    former: Sequence[Path] = (),
    every: bool = False,
    listed: set[str] | None = None,
) -> Iterator[FetchedPage]:
    """The responses with status 200 (``every``: with any status) in the order of the files, for some URLs or for all.

    For some URLs, or with ``repeated``, revisits count as pages, too, with the body of the response that has the same
    payload digest. For all URLs, this keeps all bodies in memory. For some, payloads stored with another URL, or in
    ``former`` captures, come last. ``listed`` receives the keys of what scripts of these pages fetched.

    Raises :class:`~sharc_crawler.errors.DataError` if ``source`` holds no WARC or an unreadable one, or if a payload of
    these URLs lies in a capture that was not named.
    """
    wanted = {_key(url) for url in urls}
    bodies: dict[str | None, FetchedPage] | None = {} if repeated or wanted else None
    lost: list[tuple[StatusAndHeaders, Posted]] = []
    for head, page, asked in _answers(source, wanted, bodies, every=every, listed=listed):
        if page is not None:
            yield replace(page, sent=asked)
        elif wanted and head.get_header("WARC-Type") == "revisit" and head.get_header(DIGEST):
            lost.append((head, asked))
    if lost:
        yield from _stored_elsewhere(lost, (source, *former))


def elsewhere(source: Path) -> set[str]:
    """URLs whose payload is stored in a former capture."""
    here, referred = set[str](), dict[str, set[str]]()
    for record in _records(source):
        digest = record.rec_headers.get_header(DIGEST)
        if record.rec_type == "revisit" and digest:
            referred.setdefault(digest, set()).add(record.rec_headers.get_header("WARC-Target-URI"))
        else:
            here.add(digest)
    return {url for digest, urls in referred.items() if digest not in here for url in urls}


def _answers(
    source: Path,
    wanted: Collection[str],
    bodies: dict[str | None, FetchedPage] | None,
    *,
    every: bool,
    listed: set[str] | None,
) -> Iterator[tuple[StatusAndHeaders, FetchedPage | None, Posted]]:
    """For each response or revisit: its head, its page if it is there, and its request, which is the next record."""
    held: tuple[StatusAndHeaders, FetchedPage | None, Posted] | None = None
    for record in _records(source):
        head = record.rec_headers
        if held and record.rec_type == "request" and head.get_header(_OWNER) == held[0].get_header("WARC-Record-ID"):
            held = (*held[:2], sent(record.raw_stream.read()))
        elif listed is not None and record.rec_type == "resource":
            listed.update(_fetched(record, wanted))
        if record.rec_type not in {"response", "revisit"}:
            continue
        if wanted and _key(head.get_header("WARC-Target-URI") or "") not in wanted:
            continue
        if held:
            yield held
        page = _page(record, bodies or {}, every=every)
        if page is not None and bodies is not None:
            bodies.setdefault(head.get_header(DIGEST), page)
        held = head, page, _GET
    if held:
        yield held


def _fetched(record: ArcWarcRecord, wanted: Collection[str]) -> Iterator[str]:
    """Keys of what scripts of a page fetched, by the page's list."""
    kind, _, url = (record.rec_headers.get_header("WARC-Target-URI") or "").partition(_LIST)
    if kind or not url or _key(url) not in wanted:
        return
    with suppress(*MALFORMED):  # a list of another tool
        loaded = json.loads(record.raw_stream.read())["urls"]
        yield from (_key(url) for url, one in loaded.items() if one.get("status") and _is_data(one))


def _is_data(listed: Mapping[str, str]) -> bool:
    """Was it fetched by a script? Data preloaded for one, and JSON modules, have the type "other"."""
    preloaded = listed.get("type") == "other" and "json" in listed.get("mime", "")
    return preloaded or listed.get("type") in _FETCHED


def _key(url: str) -> str:
    return canonical(url) or url


def _stored_elsewhere(
    lost: Sequence[tuple[StatusAndHeaders, Posted]], sources: Sequence[Path]
) -> Iterator[FetchedPage]:
    """Revisits whose payload is stored with another URL, or in a former capture."""
    missing = {head.get_header(DIGEST) for head, _ in lost}
    bodies: dict[str, FetchedPage] = {}
    for record in chain.from_iterable(map(_records, sources)):
        digest = record.rec_headers.get_header(DIGEST)
        if record.rec_type == "response" and digest in missing:
            missing.remove(digest)
            if (page := _page(record, {}, every=False)) is not None:
                bodies[digest] = page
    for head, asked in lost:
        url, digest = head.get_header("WARC-Target-URI"), head.get_header(DIGEST)
        if digest in missing:
            raise DataError(f"{sources[0]} has {url!r} stored in a former capture (dedup=site): name it, --former DIR")
        if digest in bodies:  # else its status is another than 200
            yield replace(bodies[digest], url=url, time=_time(head), sent=asked)


def _records(source: Path) -> Iterator[ArcWarcRecord]:
    for name, stream in _warcs(source):
        try:
            for record in bounded_records(stream, no_record_parse=True):
                _check(record)
                yield record
        except (ArchiveLoadFailed, ValueError, TypeError) as error:
            raise DataError(f"{name} cannot be read as a WARC file: {error}") from error


def _check(record: ArcWarcRecord) -> None:
    """Raise if an answer lacks its date or URL."""
    if record.rec_type in {"response", "revisit"}:
        _time(record.rec_headers)
        if not record.rec_headers.get_header("WARC-Target-URI"):
            raise ValueError("a record without WARC-Target-URI")


def _page(record: ArcWarcRecord, bodies: dict[str | None, FetchedPage], *, every: bool) -> FetchedPage | None:
    head = record.rec_headers
    url, time = head.get_header("WARC-Target-URI"), _time(head)
    if record.rec_type == "revisit":
        original = bodies.get(head.get_header(DIGEST))
        return replace(original, url=url, time=time) if original else None
    response = parse_response(record.raw_stream.read())
    if response is None or not (every or response.status == OK):
        return None
    body = decoded(response.payload, response.values(b"content-encoding"))
    media_type = header_text(response.header(b"content-type"))
    return None if body is None else FetchedPage(url, time, media_type, body, response.status)


def _time(head: StatusAndHeaders) -> Instant:
    return unix(head.get_header("WARC-Date", ""))


def _warcs(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if source.suffix == ".wacz":
        yield from _packed(source)
        return
    # files of the folder, and of its sites' folders
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
            for name in (one for one in package.namelist() if one.endswith(_WARC)):
                with package.open(name) as stream:
                    yield f"{source}/{name}", stream
    except NO_ZIP as error:
        raise DataError(f"{source} cannot be read as a WACZ: {error}") from error
