"""What independent readers make of the WARC files that a test wrote."""

from __future__ import annotations

import gzip
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest.mock import patch

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import BufferedReader

from sharc_crawler.archive.warcinfo import CaptureInfo
from sharc_crawler.model import Exchange

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INFO = CaptureInfo("sharc-crawler/test", "me@example.org", "obey", "sharc-selective", {"size": 3})
TOLD = INFO.block("example.org", "run1", "off")
OK = b"HTTP/1.1 200 OK\r\n"
URL = "http://example.org/page"
CHUNKED = re.compile(rb"(?i)\r\ntransfer-encoding:[^\r\n]*chunked")


@dataclass(frozen=True)
class Record:
    kind: str
    head: dict[str, str]
    block: bytes
    offset: int
    length: int

    def __getitem__(self, name: str) -> str | None:
        return self.head.get(name)


def read(path: Path) -> list[Record]:
    """All records of a file, their blocks untouched."""
    with path.open("rb") as stream:
        records = ArchiveIterator(stream, no_record_parse=True)
        found = []
        for record in records:
            block = record.raw_stream.read()
            head = dict(record.rec_headers.headers)
            assert len(head) == len(record.rec_headers.headers), "a field is repeated"
            found.append(Record(record.rec_type, head, block, records.get_record_offset(), records.get_record_length()))
    return found


def read_all(folder: Path) -> list[Record]:
    """All records of a folder's files, all of which must be valid."""
    files = sorted(folder.glob("*.warc.gz"))
    for path in files:
        check(path)
    return [record for path in files for record in read(path)]


def check(path: Path) -> None:
    """Fail unless the file passes ``gzip -t`` and ``warcio check``.

    Of a chunked response ``warcio check`` compares the payload digest with the chunks instead of the entity body
    (a known fault of it): those complaints alone are passed over.
    """
    gzip_test = subprocess.run(["gzip", "-t", str(path)], capture_output=True, text=True, check=False)
    assert gzip_test.returncode == 0, gzip_test.stderr
    with gzip.open(path) as stream:
        stream.read()
    chunked = {record["WARC-Record-ID"] for record in read(path) if CHUNKED.search(record.block)}
    for record_id, problem in complaints(path):
        assert "payload digest failed" in problem, problem
        assert record_id in chunked, problem


def complaints(path: Path) -> Iterator[tuple[str, str]]:
    """What ``warcio check`` has to say of which record, without the process that the command takes.

    warcio 1.8.1 cannot use the module brotli and stops at the first such response; without it, it checks the bytes.
    """
    with path.open("rb") as stream, patch.dict(BufferedReader.DECOMPRESSORS):
        BufferedReader.DECOMPRESSORS.pop("br", None)
        for record in ArchiveIterator(stream, check_digests=True):
            content = record.content_stream()
            while content.read(1 << 20):
                pass
            if record.digest_checker.passed is False:
                for problem in record.digest_checker.problems:
                    yield record.rec_headers["WARC-Record-ID"], problem


def page(
    body: bytes = b"hello", url: str = URL, started: float = 1_795_000_000.25, head: bytes = b"", **other
) -> Exchange:
    """A plain exchange."""
    values = {
        "url": url,
        "started": started,
        "ended": started + 1,
        "request": b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
        "response": OK + b"Content-Length: %d\r\n" % len(body) + head + b"\r\n" + body,
        "ip": "127.0.0.1",
    }
    return Exchange(**(values | other))
