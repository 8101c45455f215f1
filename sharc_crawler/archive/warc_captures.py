"""Captures from WARC files, and from the WARC files in a WACZ: when, what, and with which links."""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from sharc_crawler.archive.gathering import NO_STATUS
from sharc_crawler.archive.lines import ends_whole
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.links.document import extract

if TYPE_CHECKING:
    from pathlib import Path

    from warcio.recordloader import ArcWarcRecord

    from sharc_crawler.archive.gathering import Gathering

_WARC = (".warc", ".warc.gz")


def read_warc(stream: IO[bytes], file: str, gathering: Gathering, *, links: bool) -> None:
    """Append the responses and revisits of a WARC; with ``links``, what their documents link to (slower).

    A revisit has the links of the response with the same payload, where that was read before.
    """
    number, known = 0, dict[str, frozenset[str]]()
    try:
        for number, record in enumerate(ArchiveIterator(stream), 1):
            if record.rec_type in {"response", "revisit"}:
                try:
                    _append(record, known if links else None, gathering)
                except ValueError as error:
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
            for name in package.namelist():
                if name.endswith(_WARC):
                    with package.open(name) as stream:
                        read_warc(stream, f"{path}/{name}", gathering, links=links)
    except zipfile.BadZipFile as error:
        gathering.problems.add(str(path), 1, f"not a WACZ: {error}")


def _append(record: ArcWarcRecord, known: dict[str, frozenset[str]] | None, gathering: Gathering) -> None:
    head, http = record.rec_headers, record.http_headers
    url, date = head.get_header("WARC-Target-URI"), head.get_header("WARC-Date")
    if not url or not date:
        raise ValueError("record without WARC-Target-URI or WARC-Date")
    time = datetime.fromisoformat(date)
    revisit = record.rec_type == "revisit"
    digest = head.get_header("WARC-Payload-Digest")
    body = record.raw_stream.read() if known is None else record.content_stream().read()
    if record.raw_stream.limit:
        raise ValueError("record is cut short")
    if digest is None and not revisit:
        digest = labelled_digest(body)
    code = http.get_statuscode() if http else ""
    status = int(code) if code and code.isdigit() else NO_STATUS
    address = url.strip("<>").encode()
    instant = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    row = gathering.append(address, address, instant, (digest or "-").encode(), status)
    if known is None or row is None:
        return
    if not revisit:
        known[digest] = frozenset(extract(body, url, http.get_header("Content-Type") if http else None).links)
    if digest in known:
        gathering.links[row] = known[digest]
