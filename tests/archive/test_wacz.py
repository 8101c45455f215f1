"""WACZ files: what is in them, and that no byte of them can change unnoticed."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import random
import struct
import subprocess
import sys
import zipfile
import zlib
from contextlib import suppress

import pytest
from click.testing import CliRunner

from sharc_crawler.archive import wacz_check, zipnum
from sharc_crawler.archive.members import Record
from sharc_crawler.archive.wacz import About, write_multi_wacz
from sharc_crawler.archive.wacz_check import altered
from sharc_crawler.archive.zipnum import merged, write_zipnum
from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.report.packaging import package, title_of
from sharc_crawler.report.write import write
from tests.certificate.made import SITE, certified


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packaged")
    facts = certified(folder, max_size=4_000)
    write([facts], folder)
    return folder, package(folder, [facts])


@pytest.mark.slow
def test_everything_is_in_it_stored_and_listed_with_its_digest(made):
    folder, path = made
    assert path.name == "example.org-20261118110641-run1.wacz"
    with zipfile.ZipFile(path) as wacz:
        names = wacz.namelist()
        assert {info.compress_type for info in wacz.infolist()} == {zipfile.ZIP_STORED}
        about = json.loads(wacz.read("datapackage.json"))
        assert [one["path"] for one in about["resources"]] == names[:-2]
        for one in about["resources"]:
            data = wacz.read(one["path"])
            assert (one["bytes"], one["hash"]) == (len(data), f"sha256:{hashlib.sha256(data).hexdigest()}")
            lines = one["path"].endswith(".jsonl")
            assert one.get("format") == ("txt" if lines else None), "no table, whose empty cells tell a type"
        seal = json.loads(wacz.read("datapackage-digest.json"))
        assert seal["hash"] == f"sha256:{hashlib.sha256(wacz.read('datapackage.json')).hexdigest()}"
    warcs = sorted(folder.glob("*.warc.gz"))
    assert len(warcs) > 2
    expected = [f"archive/{warc.name}" for warc in warcs]
    expected += ["indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl", "report/report.html"]
    report = ["report/data.json", "report/data-pages.jsonl"]
    assert names[:-2] == [*expected, *report, "certificate/certificate-pages.jsonl", "certificate/certificate.json"]
    assert about["wacz_version"] == "1.1.1"
    assert about["mainPageUrl"] == SITE + "apex"
    assert about["description"].startswith("3 of 7 pages were in this state together")


@pytest.mark.slow
def test_pages_are_listed_at_both_times(made):
    with zipfile.ZipFile(made[1]) as wacz:
        head, *lines = map(json.loads, wacz.read("pages/pages.jsonl").decode().splitlines())
    assert head["format"] == "json-pages-1.0"
    times = {name: [line["ts"][11:19] for line in lines if line["url"] == SITE + name] for name in ("apex", "modest")}
    assert times == {"apex": ["11:08:20"], "modest": ["11:06:43", "11:08:23"]}
    assert {line["download"] for line in lines} == {"visit", "revisit"}
    assert not any(line["url"].endswith("style.css") for line in lines), "resources are no pages"
    assert [line["ts"][11:19] for line in lines if line["url"] == SITE + "broken"] == ["11:06:46"], (
        "a failure shows nothing"
    )


def test_the_index_is_that_of_the_folder_in_blocks(made):
    folder, path = made
    lines = list(merged(sorted(folder.glob("*.cdxj"))))
    assert lines == sorted(lines)
    with zipfile.ZipFile(path) as wacz:
        assert gzip.decompress(wacz.read("indexes/index.cdx.gz")).decode() == "".join(lines)
        blocks = wacz.read("indexes/index.idx").decode().splitlines()
    assert blocks[0] == '!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}'
    assert blocks[1].startswith(lines[0].partition(" {")[0])


def test_blocks_can_be_read_one_by_one():
    lines = [f"org,a)/{number:03d} 2026 {{}}\n" for number in range(10)]
    data = io.BytesIO()
    blocks = [line.partition(" {")[::2] for line in write_zipnum(lines, data, size=4).splitlines()[1:]]
    read = []
    for key, text in blocks:
        place = json.loads("{" + text)
        part = data.getvalue()[place["offset"] : place["offset"] + place["length"]]
        read.append(gzip.decompress(part).decode().splitlines(keepends=True))
        assert read[-1][0].startswith(key)
    assert read == [lines[:4], lines[4:8], lines[8:]]


def test_a_collection_may_name_and_describe_it(tmp_path):
    facts = certified(tmp_path)
    path = package(tmp_path, [facts], title="Council", description="Weekly.")
    with zipfile.ZipFile(path) as wacz:
        about = json.loads(wacz.read("datapackage.json"))
    assert about["title"] == "Council"
    assert about["description"].startswith("Weekly. 3 of 7 pages were in this state together")


def test_a_package_is_not_replaced_unless_asked_for(made):
    folder, path = made
    with pytest.raises(UsageError, match="exists and is left as it is"):
        package(folder, [], path)


@pytest.mark.slow
def test_two_processes_that_write_a_package_at_once_do_not_write_into_the_same_draft(made, tmp_path):
    _, part = made
    path, about = tmp_path / "all.wacz", About("all", "", 0.0, "test")
    write = f"write_multi_wacz(Path({str(path)!r}), [('a.wacz', Path({str(part)!r}))], About('more', '', 0.0, 'test'))"
    script = f"from pathlib import Path; from sharc_crawler.archive.wacz import *; {write}"

    def parts():
        yield part.name, part
        subprocess.run([sys.executable, "-c", script], check=True)
        assert list(altered(path)) == []

    write_multi_wacz(path, parts(), about)
    with zipfile.ZipFile(path) as wacz:
        assert json.loads(wacz.read("datapackage.json"))["title"] == "all"
    assert list(altered(path)) == []
    assert [one.name for one in tmp_path.iterdir()] == ["all.wacz"]


def test_a_package_of_several_captures_is_named_after_their_folder(tmp_path):
    facts = certified(tmp_path / "two-sites")
    assert package(tmp_path / "two-sites", [facts, facts]).name == "two-sites.wacz"


def test_a_package_as_it_was_written_holds(made):
    _, path = made
    assert list(altered(path)) == []
    verification = verify(path)
    assert verification.findings == []
    assert (verification.pages, verification.resources) == (7, 2)


@pytest.mark.slow
def test_a_package_of_many_gigabytes_holds_too(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1_000)  # as if these few kilobytes were so much
    facts = certified(tmp_path / "capture")
    path = package(tmp_path / "capture", [facts])
    assert verify(path).findings == []
    with zipfile.ZipFile(path) as wacz:
        wide = [info.extra for info in wacz.infolist() if info.file_size > 1_000]
    assert wide
    assert all(wide)


@pytest.mark.parametrize("what", ["of nobody's kind", "another name", "a directory in an extra field"])
def test_what_other_readers_would_see_in_a_package_is_found(made, tmp_path, what):
    """Python's own reader looks at no extra field, and takes a large file's end to lie just before the last record."""
    whole, path = made[1].read_bytes(), tmp_path / "altered.wacz"
    last, end = whole.rindex(b"PK\x01\x02"), whole.rindex(b"PK\x05\x06")
    name = whole[last + 46 : last + 46 + struct.unpack_from("<H", whole, last + 28)[0]]
    kind, data = {
        "of nobody's kind": (0x9999, b"abcd"),
        "another name": (0x7075, struct.pack("<BI", 1, zlib.crc32(name)) + b"pages/evil.jsonl"),
        "a directory in an extra field": (0x9999, struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 0, 0, 0, 0)),
    }[what]
    extra = struct.pack("<HH", kind, len(data)) + data
    count, size, start = struct.unpack_from("<HII", whole, end + 10)
    directory = bytearray(whole[start:end] + extra)
    struct.pack_into("<H", directory, last - start + 30, len(extra))
    tail = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, size + len(extra), start, 0)
    if what.startswith("a directory"):
        inner = start + len(directory) - len(data)  # where the end that others go by lies
        true = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(directory), start)
        tail = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, 0xFFFFFFFF, 0xFFFFFFFF, 0)
        tail = true + struct.pack("<4sIQI", b"PK\6\7", 0, inner, 1) + tail
    path.write_bytes(whole[:start] + directory + tail)
    try:
        with zipfile.ZipFile(path) as wacz:
            assert wacz.testzip() is None, "nothing is wrong with it to this reader"
    except zipfile.BadZipFile:  # Pythons since late 2025 ask for a large file's end where its locator says
        assert what.startswith("a directory")
        with pytest.raises(DataError, match="Corrupt zip64 end"):
            verify(path)
        return
    findings = list(map(str, verify(path).findings))
    assert len(findings) == 1
    assert "directory or end is not as it was written" in findings[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 6))])
def test_one_flipped_bit_anywhere_is_found(made, tmp_path, seed):
    whole = made[1].read_bytes()
    chosen = random.Random(seed)
    path = tmp_path / "altered.wacz"
    # half of the places near the end, in what makes it a zip file
    places = [*chosen.sample(range(len(whole)), 15), *chosen.sample(range(len(whole) - 1_500, len(whole)), 15)]
    for at in places:
        data = bytearray(whole)
        data[at] ^= 1 << chosen.randrange(8)
        path.write_bytes(data)
        with suppress(DataError):  # so much altered that it is no package
            assert verify(path).findings, at


@pytest.mark.slow
def test_any_bit_of_the_last_entry_of_the_directory_counts(made, tmp_path):
    whole = made[1].read_bytes()
    path = tmp_path / "altered.wacz"
    for at in range(whole.rindex(b"PK\x01\x02"), len(whole)):
        for bit in range(8):
            data = bytearray(whole)
            data[at] ^= 1 << bit
            path.write_bytes(data)
            with suppress(zipfile.BadZipFile, NotImplementedError):
                assert list(altered(path)), (at, bit)


def test_a_zip_file_of_a_version_to_come_is_refused(made, tmp_path):
    data = bytearray(made[1].read_bytes())
    data[data.index(b"PK\x01\x02") + 6] = 84  # the version that it takes to read the entry
    path = tmp_path / "altered.wacz"
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"zip file version 8\.4"):
        verify(path)


@pytest.mark.parametrize("name", ["pages/pages.jsonl", "report/report.html", "datapackage.json"])
def test_an_altered_part_is_named(made, tmp_path, name):
    path = tmp_path / "altered.wacz"
    with zipfile.ZipFile(made[1]) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            new.writestr(info, data.replace(b"2026", b"2025", 1) if info.filename == name else data)
    findings = list(map(str, verify(path).findings))
    assert len(findings) == 1
    assert findings[0].startswith(f"{name}: its digest is sha256:")


def test_an_added_file_is_named(made, tmp_path):
    path = tmp_path / "altered.wacz"
    path.write_bytes(made[1].read_bytes())
    with zipfile.ZipFile(path, "a") as wacz:
        wacz.writestr("report/more.html", "more")
    assert "report/more.html: datapackage.json does not list it" in map(str, verify(path).findings)


@pytest.mark.parametrize("name", ["datapackage.json", "indexes/index.idx"])
def test_a_document_that_unpacks_to_more_than_any_of_ours_is_not_read(made, tmp_path, monkeypatch, name):
    monkeypatch.setattr(wacz_check, "LARGEST", 1 << 20)
    path = tmp_path / "bomb.wacz"
    with zipfile.ZipFile(made[1]) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            if info.filename == name:
                new.writestr(info.filename, b" " * (1 << 21) + old.read(info), zipfile.ZIP_DEFLATED)
            else:
                new.writestr(info, old.read(info))
    assert path.stat().st_size < 1 << 20
    answer = CliRunner().invoke(main, ["verify", str(path)])
    assert answer.exit_code == 3
    assert f"{name} is of 2,0" in answer.stderr or f"{name} is of 2,1" in answer.stderr
    assert "more than 1,048,576" in answer.stderr


def test_what_is_no_zip_file_is_named(tmp_path):
    (tmp_path / "x.wacz").write_text("hello")
    answer = CliRunner().invoke(main, ["verify", str(tmp_path / "x.wacz")])
    assert answer.exit_code == 3
    assert "is neither a capture's folder nor a WACZ file" in answer.stderr


def test_a_folder_without_warcs_or_still_written_is_named(tmp_path):
    with pytest.raises(UsageError, match="holds no WARC files"):
        package(tmp_path, [])
    facts = certified(tmp_path / "capture")
    with pytest.raises(UsageError, match="cannot be written"):
        package(tmp_path / "capture", [facts], tmp_path / "nowhere" / "x.wacz")


def test_indexes_of_more_captures_than_files_may_be_open_are_merged(tmp_path, monkeypatch):
    monkeypatch.setattr(zipnum, "AT_ONCE", 3)
    indexes = [tmp_path / f"{number}.cdxj" for number in range(10)]
    for number, index in enumerate(indexes):
        index.write_text(f"a {number} {{}}\nb {9 - number} {{}}\n")
    assert list(zipnum.merged(indexes)) == [f"{key} {number} {{}}\n" for key in "ab" for number in range(10)]


def test_no_title_steers_the_terminal_of_who_reads_the_list() -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>a\x1b[2J\xe2\x80\xae\xc2\x9bb</title>"
    assert title_of(Record(0, 0, (("WARC-Type", "response"),), block)) == "a\\x1b[2J\\u202e\\x9bb"
