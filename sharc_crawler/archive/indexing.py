"""Make the entries of a WARC file's index (:mod:`~sharc_crawler.archive.cdxj`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sharc_crawler.archive.cdxj import REVISIT, IndexEntry
from sharc_crawler.changes.http import HttpResponse, parse_response
from sharc_crawler.evidence.headers import header_text

_FIRST_PART = 1 << 14  #: bytes of a block that are read first: most HTTP heads fit
_LONGEST_HEAD = 1 << 24  #: bytes
_OWNER = "WARC-Concurrent-To"


def media_type(content_type: bytes | None) -> str | None:
    r"""The media type in a Content-Type header, without its parameters.

    >>> media_type(b"image/png; q=1"), media_type(b"image/png\xc3\xa0"), media_type(b" ")
    ('image/png', 'image/pngÃ\xa0', None)
    """
    return header_text(next(iter((content_type or b"").partition(b";")[0].split()), None))


def entries(warc: Path) -> Iterator[IndexEntry]:
    """The index entries of a WARC file: of its response, revisit and resource records."""
    with warc.open("rb") as stream:
        yield from entries_of(stream, warc.name)


def entries_of(stream: IO[bytes], name: str) -> Iterator[IndexEntry]:
    """The index entries of an open WARC file, from its position on.

    Raises :class:`~warcio.exceptions.ArchiveLoadFailed` for a damaged file, and for a record without URI or date.
    """
    from warcio.archiveiterator import ArchiveIterator  # loaded only if a file is read
    from warcio.exceptions import ArchiveLoadFailed

    from sharc_crawler.archive.posted import sent

    records = ArchiveIterator(stream, no_record_parse=True)  # HTTP heads are parsed below: warcio alters some bytes
    last: IndexEntry | None = None  # yielded once its request was seen, which follows it
    own = None
    for record in records:
        if last is not None and record.rec_type == "request" and record.rec_headers.get_header(_OWNER) == own:
            last = last._replace(**sent(record.raw_stream.read())._asdict())
        if record.rec_type not in {"response", "revisit", "resource"}:
            continue
        if last is not None:
            yield last
        head = record.rec_headers
        url, date, own = map(head.get_header, ("WARC-Target-URI", "WARC-Date", "WARC-Record-ID"))
        if not url or not date:
            raise ArchiveLoadFailed(f"a {record.rec_type} record without WARC-Target-URI or WARC-Date")
        message = _message(record.raw_stream) if record.rec_type != "resource" else None
        last = IndexEntry(
            url=url,
            date=date,
            mime=_mime(record.rec_type, head.get_header("Content-Type"), message),
            status=str(message.status) if message else None,
            digest=head.get_header("WARC-Payload-Digest"),
            offset=records.get_record_offset(),
            length=records.get_record_length(),
            file=name,
        )
    if last is not None:
        yield last


def _mime(kind: str, own: str | None, message: HttpResponse | None) -> str | None:
    """The media type for the index; ``own``: the record's Content-Type."""
    if kind == "revisit":
        return REVISIT
    return own if kind == "resource" else media_type(message.header(b"content-type") if message else None)


def _message(stream: IO[bytes]) -> HttpResponse | None:
    """The response at the start of a record's block, with as much of its body as was read along."""
    head = b""
    while len(head) < _LONGEST_HEAD and (more := stream.read(len(head) or _FIRST_PART)):
        head += more
        if (message := parse_response(head)) is not None:
            return message
    return None
