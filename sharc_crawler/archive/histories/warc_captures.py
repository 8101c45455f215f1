"""Captures from WARC files, and from the WARC files in a WACZ: when, what, and with which links."""

from __future__ import annotations

import zipfile
import zlib
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import IO, TYPE_CHECKING

from warcio.exceptions import ArchiveLoadFailed

from sharc_crawler.archive.bounded_heads import bounded_records
from sharc_crawler.archive.histories.gathering import NO_STATUS, NOT_MODIFIED, status_of
from sharc_crawler.archive.histories.pages import MediaTypes
from sharc_crawler.archive.histories.timemap import memento_links, original_of
from sharc_crawler.archive.lines import ends_whole
from sharc_crawler.archive.wacz import NO_ZIP
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.links.document import extract

if TYPE_CHECKING:
    from pathlib import Path

    from warcio.recordloader import ArcWarcRecord
    from warcio.statusandheaders import StatusAndHeaders

    from sharc_crawler.archive.histories.gathering import Gathering
    from sharc_crawler.model import Instant

_WARC = (".warc", ".warc.gz")
_KINDS = MediaTypes()


def read_warc(stream: IO[bytes], file: str, gathering: Gathering, *, links: bool) -> None:
    """Append the responses and revisits of a WARC; with ``links``, what their documents link to (slower).

    A revisit has the links of the response with the same payload, where that was read before.
    """
    number, known = 0, dict[str, frozenset[str]]()
    try:
        for number, record in enumerate(bounded_records(stream), 1):
            if record.rec_type in {"response", "revisit"}:
                try:
                    _append(record, known if links else None, gathering)
                except (ValueError, OverflowError) as error:
                    gathering.problems.add(file, number, str(error))
    except (ArchiveLoadFailed, AttributeError, OSError) as error:  # AttributeError: a header without its URL
        gathering.problems.add(file, number + 1, f"cut short: {error}")
        return
    stream.seek(0)
    if not ends_whole(stream):  # the library takes the missing end for the end
        gathering.problems.add(file, number + 1, "cut short")


def read_wacz(path: Path, gathering: Gathering, *, links: bool) -> None:
    """Append what the WARC files in a WACZ hold."""
    try:
        with zipfile.ZipFile(path) as package:
            warcs = [name for name in package.namelist() if name.endswith(_WARC)]
            if not warcs:
                gathering.problems.add(str(path), 1, "no WARC file in it")
            for name in warcs:
                with package.open(name) as stream:
                    read_warc(stream, f"{path}/{name}", gathering, links=links)
    except (*NO_ZIP, RuntimeError, zlib.error, EOFError, ValueError) as error:
        gathering.problems.add(str(path), 1, f"not a WACZ that can be read: {error}")


def _append(record: ArcWarcRecord, known: dict[str, frozenset[str]] | None, gathering: Gathering) -> None:
    head, http = record.rec_headers, record.http_headers
    url, date = head.get_header("WARC-Target-URI"), head.get_header("WARC-Date")
    if not url or not date:
        raise ValueError("record without WARC-Target-URI or WARC-Date")
    url, digest = url.strip("<>"), head.get_header("WARC-Payload-Digest")
    body = record.raw_stream.read() if known is None and digest else record.content_stream().read()
    if record.raw_stream.limit:
        raise ValueError("record is cut short")
    page, time = _of_what(http, url, date)
    if page is None:
        gathering.problems.left_out["an archive's answer without a memento"] += 1
        return
    revisit = record.rec_type == "revisit"
    if page != url:
        digest = None  # an archive may have coded the payload anew
    elif digest is None and not revisit:
        digest = labelled_digest(body)
    code = http.get_statuscode() if http else ""
    status = int(code) if code and code.isdigit() else NO_STATUS
    status = status_of(status, revisit=revisit and page == url, digest=digest)
    kind = _KINDS[((http.get_header("Content-Type") if http else None) or "-").encode()]
    row = gathering.append(page.encode(), page.encode(), time, (digest or "-").encode(), status, kind)
    if row is not None and status == NOT_MODIFIED:
        _refer(head, row, gathering)
    if known is None or row is None or status == NOT_MODIFIED:
        return
    links = known.get(digest or "") if revisit else _links(body, page, url, http)
    if links is not None:
        gathering.links[row] = links
    if digest and links is not None:
        known[digest] = links


def _refer(head: StatusAndHeaders, row: int, gathering: Gathering) -> None:
    """Note which capture a 304 says to be unchanged, where its record names it."""
    url, date = head.get_header("WARC-Refers-To-Target-URI"), head.get_header("WARC-Refers-To-Date")
    if url and date:
        gathering.refers[row] = url.strip("<>").encode(), _instant(datetime.fromisoformat(date))


def _of_what(http: StatusAndHeaders | None, url: str, date: str) -> tuple[str | None, Instant]:
    """Page and instant of a capture; those of the original where an archive's replay of it was captured.

    No page: an archive said that it has no such memento, or where it is.
    """
    original, remembered = original_of(url), http.get_header("Memento-Datetime") if http else None
    time = parsedate_to_datetime(remembered) if original and remembered else datetime.fromisoformat(date)
    page = url if original is None else original if remembered else None
    return page, _instant(time)


def _instant(time: datetime) -> Instant:
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _links(body: bytes, page: str, url: str, http: StatusAndHeaders | None) -> frozenset[str]:
    media_type = http.get_header("Content-Type") if http else None
    return (
        frozenset(extract(body, url, media_type).links) if page == url else memento_links(body, page, url, media_type)
    )
