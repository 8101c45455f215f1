"""CDXJ: the index beside a WARC file, in which replay tools look up a URL's captures."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from sharc_crawler.archive.surt import surt
from sharc_crawler.archive.warc_names import index_path

REVISIT = "warc/revisit"
_NOT_DIGITS = re.compile(r"\D")


class IndexEntry(NamedTuple):
    """The entry of a response, revisit or resource record."""

    url: str
    date: str  #: WARC-Date, or fourteen digits if read from an index
    mime: str | None
    status: str | None
    digest: str | None
    offset: int
    length: int
    file: str
    method: str | None = None  #: of its request, unless it is GET
    posted: str | None = None  #: the request's body as a query

    @classmethod
    def of(cls, row: list[str | None]) -> IndexEntry:
        """Make an entry from a row of texts."""
        url, date, mime, status, digest, offset, length, file, method, posted = row
        assert url and date and offset and length and file, "only the others may be missing"
        return cls(url, date, mime, status, digest, int(offset), int(length), file, method, posted)

    def line(self) -> str:
        """The entry's line in an index, without its line end.

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
        return f"{surt(url)} {moment_in(self.date)} {known}"

    def written(self) -> bytes:
        """The entry's line with its line end, encoded."""
        return f"{self.line()}\n".encode()


def moment_in(date: str) -> str:
    """An instant (RFC 3339) in the form of indexes: fourteen digits.

    >>> moment_in("2026-11-18T11:06:40.25Z")
    '20261118110640'
    """
    return _NOT_DIGITS.sub("", date)[:14]


def read_index(index: Path) -> Iterator[IndexEntry]:
    """The entries of an index written by :func:`write_index`."""
    with index.open(encoding="utf-8") as lines:
        yield from index_lines(lines)


def index_lines(lines: Iterable[str]) -> Iterator[IndexEntry]:
    """The entries of an index's lines."""
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
    return write_lines(warc, (entry.written() for entry in kept))


def write_lines(warc: Path, lines: Iterable[bytes]) -> Path:
    """Write a WARC file's index from its lines, which may be in any order."""
    path = index_path(warc)
    draft = path.with_name(path.name + ".tmp")
    with draft.open("wb") as file:
        file.writelines(sorted(lines))
        file.flush()
        os.fsync(file.fileno())  # else a power failure may leave the new name with nothing, or half, behind it
    return draft.replace(path)
