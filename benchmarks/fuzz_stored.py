"""What archives, people and we keep, for ``fuzz_targets.py``: bytes in, an invariant that must hold."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from functools import cache
from pathlib import Path

from sharc_crawler.archive.histories import cdx
from sharc_crawler.archive.histories.gathering import Gathering
from sharc_crawler.archive.histories.reading import read_history
from sharc_crawler.archive.members import Record, read_at, records
from sharc_crawler.certificate.verify import verify
from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.changes.masks import load_masks
from sharc_crawler.errors import SharcError
from sharc_crawler.model import Hints
from sharc_crawler.seeds.temporal.views import LogOptions, read_views
from sharc_crawler.state.rows import Batch, LinksRow
from sharc_crawler.storage.sqlite import SqliteStore
from sharc_crawler.testing.stores import capture_row, page_row, visit_row

ROOT = Path(__file__).resolve().parents[1]


def run_history(data: bytes) -> None:
    """Any file: CDX, CDXJ, JSON rows and objects, TimeMaps, WARC, WACZ."""
    path = _folder() / "file"
    path.write_bytes(data)
    try:
        read_history([path], links=True)
    except SharcError as error:
        assert str(path) in str(error)


def run_cdx(data: bytes) -> None:
    """Read in blocks as line by line; and as a file."""
    lines = data.split(b"\n")
    blocks, single = Gathering(), Gathering()
    cdx.read_cdx(lines, "f", blocks)
    reader = cdx._Lines("f", single)
    for number, line in enumerate(lines, 1):
        reader.read(number, line.split())
    for name in ("owners", "times", "statuses", "digests", "resume_key"):
        assert getattr(blocks, name) == getattr(single, name), name
    cdx.read_cdxj(lines, "f", Gathering())
    run_history(data)


def index_seeds() -> list[bytes]:
    from tests.archive.test_reading_anything import SAMPLES

    return SAMPLES


def run_warc(data: bytes) -> None:
    """The strict reader; with an even first byte of records that the fuzzer need not pack."""
    packed = data[1:] if data[:1] and data[0] % 2 else b"".join(map(gzip.compress, data[1:].split(b"\0\0")))
    stream, end = io.BytesIO(packed), 0
    for found in records(stream):
        assert found.offset >= end
        if isinstance(found, Record):
            end = found.end
            assert end <= len(packed)
            again = read_at(io.BytesIO(packed), found.offset)
            assert again == found
    run_history(packed)


def warc_seeds() -> list[bytes]:
    from tests.archive.test_reading_anything import warc

    return [b"\1" + warc(packed=True), b"\0" + warc(packed=False).replace(b"\r\n\r\nWARC/", b"\r\n\r\n\0\0WARC/")]


def run_accesslog(data: bytes) -> None:
    path = _folder() / "access.log"
    path.write_bytes(data)
    try:
        views = read_views([path], LogOptions(days=3, least_views=1, host="https://example.org"))
    except SharcError as error:
        assert str(error)
    else:
        assert views.views.min() >= 0
        assert len(views.pages) == len(views.views)


def accesslog_seeds() -> list[bytes]:
    line = b'%b1.2.3.4 - - [18/Nov/2026:11:06:40 +0100] "GET %b HTTP/1.1" 200 12 "-" "Mozilla/5.0"\n'
    return [
        line % (b"", b"/a") + line % (b"www.example.org:443 ", b"/b?c") + line % (b"", b"http://x/y"),
        b'::1 - u [01/Jan/2026:00:00:00 -0000] "POST / HTTP/1.0" 304 -\n',
    ]


def run_certificate(data: bytes) -> None:
    """A certificate of anybody's making beside WARC files of ours."""
    folder = _certified()
    (folder / "certificate.json").write_bytes(data)
    try:
        verify(folder)
    except SharcError as error:
        assert str(error)


@cache
def _certified() -> Path:
    from tests.certificate.made import certified

    folder = _folder() / "capture"
    certified(folder)
    return folder


def certificate_seeds() -> list[bytes]:
    whole = (_certified() / "certificate.json").read_bytes()
    compact = json.dumps(json.loads(whole), separators=(",", ":")).encode()
    return [whole, compact, b"{}", b"[]", b'{"format":"sharc-certificate","version":1}']


def run_masks(data: bytes) -> None:
    path = _folder() / "masks.json"
    path.write_bytes(data)
    try:
        masks = load_masks(path)
        fingerprint(b"<p id=a>x<b>y</b></p>", "text/html", masks)
    except SharcError as error:
        assert "masks" in str(error)


def mask_seeds() -> list[bytes]:
    return [
        b'{"version":1,"masks":[{"path":"//*[@id=\'a\']","pattern":"x.*"},{"path":"//b"}]}',
        b'{"version":1,"masks":[{"path":"string(//b)","pattern":null}]}',
    ]


def run_frontier(data: bytes) -> None:
    """A frontier's state whose JSON was tampered with."""
    store, columns = _store()
    table, column = columns[data[0] % len(columns)] if data else columns[0]
    store._db.execute("SAVEPOINT before")
    try:
        text = data[1:].decode("utf-8", "replace")
        store._db.execute(f"UPDATE {table} SET {column} = ?", (text,))
        try:
            store.load()
            list(store.links())
        except SharcError as error:
            assert "frontier" in str(error)
    finally:
        store._db.execute("ROLLBACK TO before")
        store._db.execute("RELEASE before")


@cache
def _store() -> tuple[SqliteStore, list[tuple[str, str]]]:
    rows = [page_row(0, hints=Hints(5.0, 86400.0, "daily", 0.8)), page_row(1, shape=2.5, reason="why", state=6)]
    capture = capture_row(notes=("a", "b"), interruptions=((3.0, 4.5),), skipped={"x": 3}, audit={"share": 0.02})
    batch = Batch(
        rows, [visit_row(0), visit_row(1, finished=False)], captures={0: capture}, links=[LinksRow(0, 1.0, (0, 1))]
    )
    store = SqliteStore(Path(tempfile.mkdtemp(prefix="sharc-fuzz-")))
    store.commit(batch)
    columns = [
        ("page", "hints"), ("capture", "spec"), ("capture", "notes"), ("capture", "interruptions"),
        ("capture", "skipped"), ("capture", "audit"), ("link", "targets"), ("visit", "result"), ("page", "kind"),
    ]  # fmt: skip
    return store, columns


def frontier_seeds() -> list[bytes]:
    store, columns = _store()
    seeds = []
    for number, (table, column) in enumerate(columns):
        for (value,) in store._db.execute(f"SELECT DISTINCT {column} FROM {table}"):
            seeds.append(bytes([number]) + str(value).encode())
    return seeds


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="sharc-fuzz-"))
