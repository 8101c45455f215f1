from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from sharc_crawler.archive.cdxj import read_index
from sharc_crawler.archive.indexing import entries
from sharc_crawler.archive.options import WarcOptions
from sharc_crawler.archive.records import member
from sharc_crawler.archive.recovery import record_ends, recover
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.errors import DataError
from tests.archive.readback import INFO, check, page, read, read_all

ROOT = Path(__file__).resolve().parents[2]


def torn_copy(folder: Path, whole: bytes, size: int) -> Path:
    path = folder / "example.org-19700101000000-00000-run1.warc.gz.open"
    path.write_bytes(whole[:size])
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    folder = tmp_path_factory.mktemp("whole")
    with WarcWriter(folder, "example.org", "run1", INFO, WarcOptions(dedup="off")) as out:
        for number in range(6):
            out.write(page(random.Random(number).randbytes(300 * number), started=number))
    return next(folder.glob("*.warc.gz")).read_bytes()


@pytest.mark.slow
def test_a_file_cut_anywhere_keeps_every_whole_exchange_and_nothing_else(tmp_path, whole):
    path = torn_copy(tmp_path, whole, len(whole))
    with path.open("rb") as stream:
        ends = list(record_ends(stream))
    assert len(ends) == 13
    assert ends[-1] == len(whole)
    cuts = {
        *random.Random(1).sample(range(len(whole)), 60),
        *ends,
        *(end - 1 for end in ends),
        *(end + 1 for end in ends),
    }
    for size in sorted(size for size in cuts if 0 < size <= len(whole)):
        path = torn_copy(tmp_path, whole, size)
        (found,) = recover(tmp_path)
        kept = [end for end in [ends[0], *ends[2::2]] if end <= size]  # an answer comes before its request
        expected = max(kept, default=0)
        assert (found.kept, found.cut) == (expected, size - expected)
        assert found.records == sum(end <= expected for end in ends)
        assert not path.exists()
        assert found.path.exists() == bool(found.records)
        assert not found.records or found.path.read_bytes() == whole[:expected]


def test_what_is_recovered_is_valid(tmp_path, whole):
    torn_copy(tmp_path, whole, len(whole) - 10)
    (found,) = recover(tmp_path)
    check(found.path)
    assert len(read(found.path)) == found.records == 11, "no answer without its request"


@pytest.mark.parametrize("tail", [b"\x00" * 5000, b"\x1f\x8b\x08\x00garbage", b"\xff"])
def test_garbage_after_the_last_record_is_cut(tmp_path, whole, tail):
    torn_copy(tmp_path, whole + tail, len(whole) + len(tail))
    (found,) = recover(tmp_path)
    assert (found.kept, found.cut) == (len(whole), len(tail))


def test_finished_files_are_left_alone(tmp_path, whole):
    (tmp_path / "a.warc.gz").write_bytes(whole[:-7])
    (tmp_path / "b.open").write_bytes(b"other")
    assert recover(tmp_path) == []
    assert (tmp_path / "a.warc.gz").read_bytes() == whole[:-7]


def test_a_file_that_is_being_written_is_not_touched(tmp_path):
    with WarcWriter(tmp_path, "example.org", "run1", INFO) as out:
        out.write(page())
        assert recover(tmp_path) == []
        out.write(page(started=2))
    assert len(read_all(tmp_path)) == 5


_WRITE_ON = """
import random, sys
from pathlib import Path
from sharc_crawler.archive.options import WarcOptions
from sharc_crawler.archive.records import member
from sharc_crawler.archive.warc import WarcWriter
from tests.archive.readback import INFO, page
out = WarcWriter(Path(sys.argv[1]), "example.org", "run1", INFO, WarcOptions(max_size=200_000))
bytes_of = random.Random(int(sys.argv[2])).randbytes
for number in range(100_000):
    ref = out.write(page(bytes_of(number % 3000), url=f"http://example.org/{sys.argv[2]}/{number}", started=number))
    print(number, ref.file, ref.offset, ref.length, flush=True)
"""


def recovered(caplog):
    """Files that a writer found left open, by its log."""
    return [record.args[0] for record in caplog.records if "was left open" in record.msg]


def test_kill_9_loses_nothing_that_was_reported_written(tmp_path, caplog):
    """Killed at random points, four times over, each run carrying on from the one before."""
    reported = []
    for turn in range(4):
        writing = subprocess.Popen(
            [sys.executable, "-c", _WRITE_ON, str(tmp_path), str(turn)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        lines = [writing.stdout.readline() for _ in range(random.Random(turn).randrange(1, 200))]
        writing.kill()
        lines += writing.stdout.read().splitlines(keepends=True)
        writing.wait()
        reported += [(turn, *line.split()) for line in lines if line.endswith("\n")]
    with WarcWriter(tmp_path, "example.org", "run1", INFO) as out:
        assert len(recovered(caplog)) == 1
        out.write(page(b"after", started=1))
    assert not list(tmp_path.glob("*.open"))
    records = read_all(tmp_path)
    kept = {(record["WARC-Target-URI"], record.offset, record.length) for record in records}
    for turn, number, _, offset, length in reported:
        assert (f"http://example.org/{turn}/{number}", int(offset), int(length)) in kept
    assert len(reported) > 100


def test_a_finished_file_without_an_index_gets_one(tmp_path, whole, caplog):
    """A crash came between."""
    warc = torn_copy(tmp_path, whole, len(whole))
    warc = warc.rename(warc.with_suffix(""))
    with WarcWriter(tmp_path, "other.example", "run2", INFO):
        assert recovered(caplog) == []
    assert len(list(read_index(index_path(warc)))) == 6


def test_a_recovered_file_has_its_index_whatever_its_run(tmp_path, whole, caplog):
    torn_copy(tmp_path, whole, len(whole) - 10)
    with WarcWriter(tmp_path, "other.example", "run2", INFO):
        (found,) = recovered(caplog)
    index = found.with_name(found.name.replace(".warc.gz", ".cdxj"))
    assert index.read_text().splitlines() == sorted(entry.line() for entry in entries(found))
    assert len(index.read_text().splitlines()) == 5


def test_a_record_without_a_url_gets_no_index_and_says_so(tmp_path):
    path = torn_copy(
        tmp_path, member([("WARC-Type", "response"), ("WARC-Date", "2026-11-18T11:06:40Z")], b"", 6), 9_999
    )
    path = path.rename(path.with_suffix(""))
    with pytest.raises(DataError, match=r"run1\.warc\.gz is damaged, and gets no index"):
        recover(tmp_path)
    assert not index_path(path).exists()
