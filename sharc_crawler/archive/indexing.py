"""From a WARC file to the entries of its index (:mod:`~sharc_crawler.archive.cdxj`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sharc_crawler.archive.cdxj import REVISIT, IndexEntry
from sharc_crawler.changes.http import HttpResponse, parse_response
from sharc_crawler.evidence.headers import header_text

_FIRST_PART = 1 << 14  #: bytes of a block that hold most heads
_LONGEST_HEAD = 1 << 24
_OWNER = "WARC-Concurrent-To"


def media_type(content_type: bytes | None) -> str | None:
    r"""The media type of a header without its parameters, as indexes have it.

    >>> media_type(b"image/png; q=1"), media_type(b"image/png\xc3\xa0"), media_type(b" ")
    ('image/png', 'image/pngÃ\xa0', None)
    """
    return header_text(next(iter((content_type or b"").partition(b";")[0].split()), None))


def entries(warc: Path) -> Iterator[IndexEntry]:
    """The response, revisit and resource records of a WARC file."""
    with warc.open("rb") as stream:
        yield from entries_of(stream, warc.name)


def entries_of(stream: IO[bytes], name: str) -> Iterator[IndexEntry]:
    """The index entries of an open WARC file, from where it stands on."""
    from warcio.archiveiterator import ArchiveIterator  # only where a file is read

    from sharc_crawler.archive.posted import sent

    records = ArchiveIterator(stream, no_record_parse=True)  # it decodes headers, and other bytes become the same text
    last: IndexEntry | None = None  # its request follows
    own = None
    for record in records:
        if last is not None and record.rec_type == "request" and record.rec_headers.get_header(_OWNER) == own:
            last = last._replace(**sent(record.raw_stream.read())._asdict())
        if record.rec_type not in {"response", "revisit", "resource"}:
            continue
        if last is not None:
            yield last
        head = record.rec_headers
        own = head.get_header("WARC-Record-ID")
        message = _message(record.raw_stream) if record.rec_type != "resource" else None
        last = IndexEntry(
            url=head.get_header("WARC-Target-URI"),
            date=head.get_header("WARC-Date"),
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
    """The media type of what a record holds; ``own``: that of its block."""
    if kind == "revisit":
        return REVISIT
    return own if kind == "resource" else media_type(message.header(b"content-type") if message else None)


def _message(stream: IO[bytes]) -> HttpResponse | None:
    """The response at the start of a record's block, its body as far as it was read with the head."""
    head = b""
    while len(head) < _LONGEST_HEAD and (more := stream.read(len(head) or _FIRST_PART)):
        head += more
        if (message := parse_response(head)) is not None:
            return message
    return None
