"""Records of bodies that are too large for memory are the same as of small ones, byte for byte."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace

import pytest
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.archive.members import Damage, Record, records
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.bodies.spool import LARGE, Spool
from sharc_crawler.bodies.spooling import Spooling
from sharc_crawler.certificate.witness import ingest
from sharc_crawler.model import Exchange
from tests.archive.readback import INFO

BODY = random.Random(1).randbytes(LARGE // 2) + bytes(2 * LARGE)
CODED = gzip.compress(random.Random(2).randbytes(LARGE + 5), 0, mtime=0)
ANSWERS = {
    "plain": b"HTTP/1.1 200 OK\r\n\r\n" + BODY,
    "chunked, after hints": b"HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY),
    "coded": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + CODED,
}


def written(folder, *exchanges):
    """The WARC file of these exchanges."""
    folder.mkdir()
    with WarcWriter(folder, "example.org", "run1", INFO) as out:
        for exchange in exchanges:
            out.write(exchange)
    (path,) = folder.glob("*.warc.gz")
    return path


def exchange(answer, url="http://example.org/"):
    return Exchange(url, 100.0, 101.0, b"GET / HTTP/1.1\r\n\r\n", answer)


def told(path):
    """Each record without what is made for it alone."""
    with path.open("rb") as stream:
        return [
            (
                [field for field in one.rec_headers.headers if not field[0].endswith(("-ID", "-Filename", "-To"))],
                one.raw_stream.read(),
            )
            for one in ArchiveIterator(stream, no_record_parse=True)
        ]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_large_answer_is_written_and_verified_as_a_small_one_is(answer, tmp_path) -> None:
    one = exchange(answer)
    there = Spooling(tmp_path, [answer]).done()
    path = written(tmp_path / "large", replace(one, response=there), replace(one, response=there, url="http://h.de/"))
    assert told(path)[1:] == told(written(tmp_path / "small", one, replace(one, url="http://h.de/")))[1:]
    witness = ingest({path.name: lambda: path.open("rb")})
    assert not witness.findings
    assert [one.kind for one in list(witness)] == ["response", "revisit"], "one payload is stored once"
    assert all(one.decoded for one in list(witness) if one.kind == "response" and answer.endswith(CODED))


@pytest.mark.slow
def test_a_large_record_is_told_as_it_is_read_and_leaves_no_file(tmp_path, monkeypatch) -> None:
    path = written(tmp_path / "large", exchange(Spooling(tmp_path, [ANSWERS["plain"]]).done()))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    there = {*tmp_path.iterdir()}
    told, left = [], set()
    ingest({path.name: lambda: path.open("rb")}, lambda size: told.append(size) or left.update(tmp_path.iterdir()))
    assert sum(told) == 2 * path.stat().st_size, "as it is read, and as its digest is taken"
    assert max(told) < LARGE, "no part of it is told at its end alone"
    assert left == there, "whoever is killed leaves nothing behind"


@pytest.mark.slow
def test_a_large_record_is_read_from_the_disk_and_a_damaged_one_is_found(tmp_path) -> None:
    path = written(tmp_path / "large", exchange(Spooling(tmp_path, [ANSWERS["plain"]]).done()))
    with path.open("rb") as stream:
        info, answer, request = records(stream)
    assert isinstance(answer, Record) and isinstance(answer.block, Spool) and answer.block[:] == ANSWERS["plain"]
    assert isinstance(request, Record) and isinstance(request.block, bytes)
    packed = path.read_bytes()
    at = answer.offset + 1_000_000
    for damaged in (packed[: answer.end - 9], packed[:at] + bytes(2) + packed[at + 2 :]):
        path.write_bytes(damaged)
        with path.open("rb") as stream:
            found = list(records(stream))
        assert found[0] == info and isinstance(found[1], Damage)


def test_what_cannot_be_written_whole_leaves_no_trace(tmp_path, monkeypatch) -> None:
    large = exchange(Spooling(tmp_path, [ANSWERS["coded"]]).done())
    small = exchange(b"HTTP/1.1 200 OK\r\n\r\nsmall")
    (tmp_path / "out").mkdir()
    with WarcWriter(tmp_path / "out", "example.org", "run1", INFO) as out:
        out.write(small)
        let_go = Spool.let_go
        monkeypatch.setattr(Spool, "let_go", _full)
        with pytest.raises(OSError, match="full"):
            out.write(large)
        monkeypatch.setattr(Spool, "let_go", let_go)
        out.write(replace(small, url="http://example.org/b"))
    (path,) = (tmp_path / "out").glob("*.warc.gz")
    with path.open("rb") as stream:
        assert [one.kind for one in records(stream) if isinstance(one, Record)] == [
            "warcinfo", "response", "request", "revisit", "request",
        ]  # fmt: skip


def _full(_: object) -> None:
    raise OSError(28, "the disk is full")
