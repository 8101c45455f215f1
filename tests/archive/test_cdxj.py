from __future__ import annotations

import json

import pytest

from sharc_crawler.archive.archived_pages import pages
from sharc_crawler.archive.cdxj import read_index
from sharc_crawler.archive.indexing import entries, media_type
from sharc_crawler.archive.options import Original, Resource, WarcOptions
from sharc_crawler.archive.surt import surt
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.evidence.headers import of_headers
from tests.archive.readback import INFO, OK, URL, page


def test_the_index_written_is_the_index_read_back(tmp_path):
    with WarcWriter(tmp_path, "example.org", "run1", INFO, WarcOptions(max_size=2500)) as out:
        out.write(page(head=b"Content-Type: text/html; charset=utf-8\r\n", started=1))
        out.write(page(started=2))
        out.write(page(url="http://a.example.org/", response=b"HTTP/1.1 404 Gone\r\n\r\nno", started=3))
        out.write_revisit(page(response=b"HTTP/1.1 304 Same\r\n\r\n", started=4), Original(URL, 1, None))
        out.write(page(response=b"", error="reset", started=5))
        out.write_resource(Resource(f"urn:view:{URL}", 6, "image/png", b"picture"))
        out.write_resource(Resource(f"urn:text:{URL}", 20, "text/plain", b""))
        for number in range(10):
            out.write(page(b"%d" % number, started=7 + number))
    indexes = sorted(tmp_path.glob("*.cdxj"))
    assert len(indexes) > 1
    for index in indexes:
        warc = index.with_name(index.name.replace(".cdxj", ".warc.gz"))
        assert index.read_text().splitlines() == sorted(entry.line() for entry in entries(warc))
    lines = [line.split(" ", 2) for index in indexes for line in index.read_text().splitlines()]
    assert len(lines) == 16
    by_time = {time: (key, json.loads(fields)) for key, time, fields in lines}
    key, picture = by_time["19700101000006"]
    assert (key, picture["mime"], "status" in picture) == (f"urn:view:{URL}", "image/png", False)
    assert by_time["19700101000020"][1]["mime"] == "text/plain", "of a page that says nothing"
    assert by_time["19700101000001"][0] == "org,example)/page"
    assert by_time["19700101000001"][1]["mime"] == "text/html"
    assert by_time["19700101000002"][1]["mime"] == "warc/revisit"
    assert by_time["19700101000003"][1]["status"] == "404"
    assert "mime" not in by_time["19700101000003"][1]
    assert "digest" not in by_time["19700101000004"][1]


@pytest.mark.parametrize(
    ("header", "expected"),
    [(b"text/html; charset=x", "text/html"), (b"image/png", "image/png"), (None, None), (b" ", None), (b"\xe9;", "é")],
)
def test_media_type(header, expected):
    assert media_type(header) == expected


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.example.org/", "org,example)/"),
        ("https://WWW2.Example.org:443", "org,example)/"),
        ("http://example.org:8080/A/", "org,example:8080)/a"),
        ("http://127.0.0.3:80/x", "3,0,0,127)/x"),
        ("http://[::1]:8080/x", "::1:8080)/x"),
        ("http://u:p@example.org./?", "org,example)/"),
        ("http://example.org/a/./b//../c%2Fd?z=1&A=%41#f", "org,example)/a/c/d?a=a&z=1"),
        ("http://example.org/ä?x=%C3%A9", "org,example)/%c3%a4?x=%c3%a9"),
        ("http://example.org/a%2523", "org,example)/a%23"),
        ("http://example.org/a?sid=0123456789abcdef0123456789abcdef&x=1", "org,example)/a?x=1"),
        ("http://example.org/a?x=1&phpsessid=0123456789abcdef0123456789abcdef", "org,example)/a?x=1"),
        ("urn:x:y", "urn:x:y"),
    ],
)
def test_surt(url, key):
    assert surt(url) == key


def test_truncated_and_headerless_responses_have_an_entry(tmp_path):
    with WarcWriter(tmp_path, "example.org", "run1", INFO) as out:
        out.write(page(response=OK + b"\r\n", truncated="time", started=1))
    (warc,) = tmp_path.glob("*.warc.gz")
    assert [entry.status for entry in entries(warc)] == ["200"]


@pytest.mark.parametrize(
    "value", [b"image/png\xc3\xa9", b"image/png\xc3\xa0", b"image/png\xe9", b"\xc2\x85", b"a\xff\xc3\xa9;q"]
)
def test_writer_index_and_verifier_read_one_text(tmp_path, value):
    with WarcWriter(tmp_path, "example.org", "run1", INFO) as out:
        out.write(page(head=b"Content-Type: " + value + b"\r\n", started=1))
    (warc,) = tmp_path.glob("*.warc.gz")
    (entry,) = entries(warc)
    assert index_path(warc).read_text().splitlines() == [entry.line()]
    verified = of_headers([(b"Content-Type", value)])["media_type"]
    assert entry.mime.lower() == verified


def test_responses_that_differ_in_one_byte_differ_in_the_index(tmp_path):
    with WarcWriter(tmp_path, "example.org", "run1", INFO) as out:
        out.write(page(head=b"Content-Type: image/png\xc3\xa9\r\n", started=1))
        out.write(page(head=b"Content-Type: image/png\xe9\r\n", started=2))
    (warc,) = tmp_path.glob("*.warc.gz")
    assert len({entry.mime for entry in entries(warc)}) == 2


def test_a_head_longer_than_one_reading_is_indexed(tmp_path):
    with WarcWriter(tmp_path, "example.org", "run1", INFO) as out:
        out.write(page(head=b"X: " + b"x" * 100_000 + b"\r\nContent-Type: image/png\r\n", started=1))
    (warc,) = tmp_path.glob("*.warc.gz")
    assert [entry.mime for entry in entries(warc)] == ["image/png"]


def test_two_downloads_within_a_second_are_two_lines_and_two_fetches(tmp_path):
    with WarcWriter(tmp_path, "example.org", "run1", INFO) as out:
        for number in range(2):
            out.write(page(b"body %d" % number, started=1 + number / 4))
    (index,) = tmp_path.glob("*.cdxj")
    assert [entry.date for entry in read_index(index)] == ["19700101000001"] * 2
    assert [(one.time, one.body) for one in pages(tmp_path)] == [(1.0, b"body 0"), (1.25, b"body 1")]
