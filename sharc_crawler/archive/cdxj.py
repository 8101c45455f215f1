"""CDXJ: the index beside a WARC file, by which replay tools find a URL's captures."""

from __future__ import annotations

import json
import os
import re
from typing import IO, TYPE_CHECKING, NamedTuple

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.surt import surt
from sharc_crawler.changes.http import parse_response
from sharc_crawler.evidence.headers import header_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sharc_crawler.changes.http import HttpResponse

REVISIT = "warc/revisit"
_FIRST_PART = 1 << 14  #: bytes of a block that hold most heads
_OWNER = "WARC-Concurrent-To"
_LONGEST_HEAD = 1 << 24
_NOT_DIGITS = re.compile(r"\D")


class IndexEntry(NamedTuple):
    """A response, revisit or resource record in an index."""

    url: str
    date: str  #: WARC-Date (read from an index: fourteen digits)
    mime: str | None
    status: str | None
    digest: str | None
    offset: int
    length: int
    file: str
    method: str | None = None  #: of its request, where that is another than GET
    posted: str | None = None  #: what that sent, as a query

    @classmethod
    def of(cls, row: list[str | None]) -> IndexEntry:
        """From its fields as texts."""
        url, date, mime, status, digest, offset, length, file, method, posted = row
        assert url and date and offset and length and file, "only the others may be missing"
        return cls(url, date, mime, status, digest, int(offset), int(length), file, method, posted)

    def line(self) -> str:
        """One line of the index, without its end.

        >>> IndexEntry("http://a.org/", "2026-11-18T11:06:40Z", "text/html", "200", "sha1:AB", 0, 9, "a.warc.gz").line()
        'org,a)/ 20261118110640 {"url": "http://a.org/", "mime": "text/html", "status": "200", "digest": "sha1:AB", \
"length": "9", "offset": "0", "filename": "a.warc.gz"}'
        """
        fields = {
            "url": self.url,
            "mime": self.mime,
            "status": self.status,
            "digest": self.digest,
            "length": str(self.length),
            "offset": str(self.offset),
            "filename": self.file,
            "method": self.method,
            "requestBody": self.posted,
        }
        known = json.dumps({name: value for name, value in fields.items() if value is not None})
        url = self.url
        if self.method:
            from sharc_crawler.archive.posted import with_method  # hardly ever

            url = with_method(url, self.method, self.posted)
        return f"{surt(url)} {_NOT_DIGITS.sub('', self.date)[:14]} {known}"


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
    """The same of an open one, from where it stands on."""
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


def read_index(index: Path) -> Iterator[IndexEntry]:
    """The entries of an index that :func:`write_index` wrote."""
    with index.open(encoding="utf-8") as lines:
        yield from index_lines(lines)


def index_lines(lines: Iterable[str]) -> Iterator[IndexEntry]:
    """The entries of these lines."""
    for line in lines:
        _, stamp, text = line.rstrip("\n").split(" ", 2)
        known = json.loads(text)
        yield IndexEntry(
            url=known["url"],
            date=stamp,
            mime=known.get("mime"),
            status=known.get("status"),
            digest=known.get("digest"),
            offset=int(known["offset"]),
            length=int(known["length"]),
            file=known["filename"],
            method=known.get("method"),
            posted=known.get("requestBody"),
        )


def write_index(warc: Path, kept: Iterable[IndexEntry]) -> Path:
    """Write the index of a WARC file beside it, sorted, whole or not at all; returns its path."""
    return write_lines(warc, (entry.line() for entry in kept))


def write_lines(warc: Path, lines: Iterable[str]) -> Path:
    """The same from its lines, in any order."""
    path = index_path(warc)
    draft = path.with_name(path.name + ".tmp")
    with draft.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in sorted(lines))
        file.flush()
        os.fsync(file.fileno())  # else a power failure may leave the new name with nothing, or half, behind it
    return draft.replace(path)


def index_path(warc: Path) -> Path:
    """Where the index of a closed WARC file lies."""
    return warc.with_name(warc.name.removesuffix(SUFFIX) + ".cdxj")
