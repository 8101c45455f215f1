"""Reading history: every format, every trap; what is malformed is named and the rest is used."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from sharc_crawler.archive.histories.cdx import instant, instants
from sharc_crawler.archive.histories.reading import History, read_history
from sharc_crawler.archive.histories.timemap import memento_links
from sharc_crawler.archive.options import Original
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.errors import DataError
from sharc_crawler.model import Result, Url
from sharc_crawler.observation import Observation
from sharc_crawler.seeds.hacs.updates import digest_change
from tests.archive.readback import INFO, URL, page

if TYPE_CHECKING:
    from pathlib import Path

SEVEN = "org,a)/ 20200101000000 http://a.org/ text/html 200 AAAA 10\n"
LATER = "org,a)/ 20200102000000 http://a.org/ text/html 200 BBBB 10\n"
DAY = 86_400.0
FIRST = 1577836800.0  # 2020-01-01


def read(tmp_path: Path, text: str | bytes, name: str = "h", **options: bool) -> History:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_history([path], **options)


def problems(history: History) -> list[tuple[int, str]]:
    assert history.problems.count == len(history.problems.named)
    return [(problem.line, problem.reason) for problem in history.problems.named]


def days(history: History) -> list[float]:
    return ((history.captures.times - FIRST) / DAY).tolist()


def test_seven_fields(tmp_path: Path) -> None:
    history = read(tmp_path, SEVEN + LATER)
    captures = history.captures
    assert (captures.keys, captures.urls, captures.offsets.tolist()) == (["org,a)/"], ["http://a.org/"], [0, 2])
    assert days(history) == [0.0, 1.0]
    assert captures.digests[0] != captures.digests[1]
    assert problems(history) == []


def test_eleven_fields_with_a_header_gzipped(tmp_path: Path) -> None:
    lines = " CDX N b a m s k r M S V g\norg,a)/ 20200101000000 http://a.org/ text/html 200 AAAA - - 9 0 a.warc.gz\n"
    assert days(read(tmp_path, gzip.compress(lines.encode()))) == [0.0]


def test_a_header_is_none_of_the_lines_that_have_as_many_fields(tmp_path: Path) -> None:
    lines = " CDX N b a m s k S V g\norg,a)/ 20200102000000 http://a.org/ text/html 200 AAAA 9 0 a.warc.gz\n"
    history = read(tmp_path, lines)
    assert (days(history), problems(history)) == ([1.0], [])


def test_a_header_names_the_fields(tmp_path: Path) -> None:
    assert days(read(tmp_path, " CDX k b a s m\nAAAA 20200102000000 http://a.org/ 200 text/html\n")) == [1.0]


def test_a_header_in_the_middle_and_one_that_lacks_the_date(tmp_path: Path) -> None:
    history = read(tmp_path, SEVEN + " CDX N a\nx http://a.org/\n CDX N b a m s k S\n" + LATER)
    assert days(history) == [0.0, 1.0]
    assert problems(history) == [(2, "CDX header without field b, s, k"), (3, "fields of an unknown header")]


def test_malformed_lines_are_named_and_the_rest_is_used(tmp_path: Path) -> None:
    bad = [
        "org,a)/ 20201301000000 http://a.org/ text/html 200 AAAA 10",
        "org,a)/ 20200230000000 http://a.org/ text/html 200 AAAA 10",
        "org,a)/ 20200101240000 http://a.org/ text/html 200 AAAA 10",
        "org,a)/ 2020 http://a.org/ text/html 200 AAAA 10",
        "org,a)/ 2020010100000x http://a.org/ text/html 200 AAAA 10",
        "org,a)/ 20200101000000 http://a.org/ text/html OK AAAA 10",
        "only three fields",
    ]
    history = read(tmp_path, SEVEN + "\n".join(bad) + "\n" + LATER)
    assert days(history) == [0.0, 1.0]
    assert [line for line, _ in problems(history)] == [2, 3, 4, 5, 6, 7, 8]
    assert str(history.problems.named[0]).endswith("h:2: impossible date '20201301000000'")


def test_what_shows_no_content_is_left_out_and_counted(tmp_path: Path) -> None:
    lines = SEVEN + SEVEN + SEVEN.replace("0000 ", "0001 ").replace(" 200 ", " 404 ")
    lines += "dns:a.org 20200101000000 dns:a.org text/dns - CCCC 10\n"
    history = read(tmp_path, lines)
    assert days(history) == [0.0]
    assert dict(history.problems.left_out) == {
        "status is not 200": 1,
        "listed more than once": 1,
        "not a web page": 1,
    }


def test_revisits_have_the_digest_of_what_they_revisit(tmp_path: Path) -> None:
    revisit = "org,a)/ 20200103000000 http://a.org/ warc/revisit - BBBB 10\n"
    of_an_error = "org,a)/ 20200104000000 http://a.org/ warc/revisit - EEEE 10\n"
    error = "org,a)/ 20200101120000 http://a.org/ text/html 404 EEEE 10\n"
    history = read(tmp_path, SEVEN + error + LATER + revisit + of_an_error)
    assert days(history) == [0.0, 1.0, 2.0]
    assert np.diff(history.captures.digests).tolist()[1] == 0


def test_an_unknown_digest_is_no_digest(tmp_path: Path) -> None:
    assert read(tmp_path, SEVEN.replace("AAAA", "-")).captures.digests.tolist() == [0]


def test_keys_that_are_no_surt_are_made_anew(tmp_path: Path) -> None:
    other = "www.a.org/ 20200102000000 http://www.A.org:80/ text/html 200 BBBB 10\n"
    assert read(tmp_path, SEVEN + other).captures.keys == ["org,a)/"]


def test_a_key_of_an_ip_address_reversed_or_not_is_of_one_page(tmp_path: Path) -> None:
    """Wayback's indexes have such addresses as they are, pywb's reversed."""
    keys = "192.0.2.7)/", "7,2,0,192)/", "192.0.2.7:8080)/", "7,2,0,192:8080)/"
    rows = [
        f"{key} 2020010{n}000000 http://192.0.2.7{':8080' * (n > 1)}/ text/html 200 A 9" for n, key in enumerate(keys)
    ]
    found = read(tmp_path, "\n".join(rows)).captures
    assert found.keys == ["7,2,0,192)/", "7,2,0,192:8080)/"]


def test_text_answer_with_resume_key(tmp_path: Path) -> None:
    history = read(tmp_path, SEVEN + "\norg%2Ca%29%2F+20200101000001\n")
    assert history.resume_key == "org%2Ca%29%2F+20200101000001"
    assert problems(history) == []


def test_a_resume_key_whose_answer_is_there_is_not_reported(tmp_path: Path) -> None:
    for seed, texts in {"a": (SEVEN + "\nkey\n", LATER), "b.part": (SEVEN, LATER + "\nother\n")}.items():
        for number, text in enumerate(texts):
            (tmp_path / seed).mkdir(exist_ok=True)
            (tmp_path / seed / f"{number:05d}").write_text(text)
    assert read_history([tmp_path / "a"]).resume_key is None
    assert read_history([tmp_path]).resume_key == "other"


def test_what_our_crawls_keep_beside_their_warcs_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "index.cdx").write_text(SEVEN)
    for name in (
        "report.json",
        "report-1.html",
        "seeds.json",
        "fetch.json",
        "learned-masks.json",
        "certificate-a.org.json",
        ".draft",
    ):
        (tmp_path / name).write_text("<html>")
    (tmp_path / "frontier.db-wal").write_bytes(b"\0\n\0")
    (tmp_path / "a.cdxj").write_text('com,b)/ 20200101000000 {"url": "http://b.com/"}\n')
    (tmp_path / "a.warc").write_bytes(b"")
    history = read_history([tmp_path])
    assert (history.captures.keys, problems(history)) == (["org,a)/"], [])


def test_rows_of_one_capture_complete_each_other(tmp_path: Path) -> None:
    memento = '<http://x/20200101000000/http://a.org/>; rel="memento"; datetime="Wed, 01 Jan 2020 00:00:00 GMT"'
    (tmp_path / "1").write_text('<http://a.org/>; rel="original", ' + memento)
    (tmp_path / "2").write_text(SEVEN)
    captures = read_history([tmp_path]).captures
    assert len(captures.times) == 1
    assert captures.digests[0] != 0


def test_cdxj(tmp_path: Path) -> None:
    line = (
        'org,a)/ 20200101000000 {"url": "http://a.org/", "mime": "text/html", "status": "200", "digest": "sha1:AAAA"}\n'
    )
    history = read(tmp_path, "!OpenWayback-CDXJ 1.0\n" + line + "org,a)/ 20200101000000 {broken\norg,a)/\n" + line)
    assert days(history) == [0.0]
    assert [line for line, _ in problems(history)] == [3, 4]


def test_labels_of_digests_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "a.cdx").write_text(SEVEN)
    (tmp_path / "b.cdxj").write_text('org,a)/ 20200102000000 {"url": "http://a.org/", "digest": "sha1:AAAA"}\n')
    assert np.diff(read_history([tmp_path]).captures.digests).tolist() == [0]


NAMES = '["urlkey","timestamp","original","mimetype","statuscode","digest","length"]'
ROW = '["org,a)/","20200101000000","http://a.org/","text/html","200","AAAA","10"]'


def test_wayback_answer_with_resume_key(tmp_path: Path) -> None:
    history = read(tmp_path, f'[{NAMES},\n{ROW},\n["x"],\n[],\n["org%2Ca%29%2F+2020"]]\n')
    assert days(history) == [0.0]
    assert history.resume_key == "org%2Ca%29%2F+2020"
    assert problems(history) == [(3, "not a record of the named fields")]


def test_wayback_answer_in_another_order(tmp_path: Path) -> None:
    assert days(read(tmp_path, '[["timestamp","original"],["20200102000000","http://a.org/"]]')) == [1.0]


def test_truncated_answer(tmp_path: Path) -> None:
    history = read(tmp_path, f'[{NAMES},\n{ROW},\n["org,a)/","2020010')
    assert days(history) == [0.0]
    assert problems(history) == [(3, "not JSON"), (3, "cut short")]


def test_pywb_answer(tmp_path: Path) -> None:
    one = {"urlkey": "org,a)/", "timestamp": "20200101000000", "url": "http://a.org/", "status": "200", "digest": "A"}
    history = read(tmp_path, json.dumps(one) + "\n\n{oops\n" + json.dumps({"timestamp": "1"}) + "\n")
    assert days(history) == [0.0]
    assert problems(history) == [(3, "not a record of the named fields"), (4, "no URL")]


def test_empty_and_useless_input_is_an_error(tmp_path: Path) -> None:
    deep = "[" * 100_000, (deeper := '{"a":' * 100_000), "org,a)/ 20200101000000 " + deeper
    for text in (*deep, "", "[]", "<!DOCTYPE html><html>busy</html>", "nonsense\n", SEVEN.replace(" 200 ", " 500 ")):
        with pytest.raises(DataError, match=r"no usable capture in .*h"):
            read(tmp_path, text)
    with pytest.raises(DataError, match="an HTML page"):
        read(tmp_path, "\n<html>")
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_history([tmp_path / "absent"])
    with pytest.raises(DataError, match="no usable capture there: no files; give CDX"):
        read_history([])


def test_gzip_cut_short(tmp_path: Path) -> None:
    rows = "".join(SEVEN.replace("0000 http", f"{second:04d} http") for second in range(60))
    data = gzip.compress(rows.encode())
    history = read(tmp_path, data[:-9])
    assert days(history)
    assert "cut short" in problems(history)[-1][1]


LINKS = """<http://a.org/>; rel="original",
<http://archive.example/timemap/link/http://a.org/>; rel="self"; type="application/link-format",
<http://archive.example/timemap/link/2/http://a.org/>; rel="timemap"; from="Thu, 02 Jan 2020 00:00:00 GMT",
<http://archive.example/http://a.org/>; rel="timegate",
<http://archive.example/20200101000000/http://a.org/>; rel="first memento"; datetime="Wed, 01 Jan 2020 00:00:00 GMT",
<http://archive.example/20200102000000/http://a.org/>; rel="memento"; datetime="Thu, 32 Jan 2020 00:00:00 GMT",
this is no link, it is not
<http://archive.example/20200103000000/http://a.org/>;rel=memento;datetime="Fri, 03 Jan 2020 00:00:00 GMT"
"""


def test_timemap_as_links(tmp_path: Path) -> None:
    history = read(tmp_path, LINKS)
    assert history.captures.keys == ["org,a)/"]
    assert days(history) == [0.0, 2.0]
    assert history.captures.digests.tolist() == [0, 0]
    assert problems(history) == [(7, "not a link"), (6, "impossible date 'Thu, 32 Jan 2020 00:00:00 GMT'")]
    assert history.missing == ("http://archive.example/timemap/link/2/http://a.org/",)


@pytest.mark.parametrize("blanks", [" ", "\n"])
def test_a_line_that_ends_in_blanks_is_read_once(tmp_path: Path, blanks: str) -> None:
    """Where each blank is tried anew, this takes an hour."""
    assert days(read(tmp_path, f"<http://a/>{blanks * 10**6}x\n{LINKS}")) == [0.0, 2.0]


LONG = "http://a.org/" + "x" * 70_000
REST = "text/html 200 A - - -"
EARLY, LATE = "20200101000000", "20200103000000"
FORMS = {
    "cdx": f"org,a)/x {EARLY} {LONG} {REST}\norg,a)/ {LATE} http://a.org/ {REST}",
    "key": f"{LONG} {EARLY} http://a.org/ {REST}\norg,a)/ {LATE} http://a.org/ {REST}",
    "cdxj": f'org,a)/x {EARLY} {{"url": "{LONG}"}}\norg,a)/ {LATE} {{"url": "http://a.org/"}}',
    "objects": f'{{"timestamp": "{EARLY}", "url": "{LONG}"}}\n{{"timestamp": "{LATE}", "url": "http://a.org/"}}',
    "rows": f'[["timestamp", "original"],\n["{EARLY}", "{LONG}"],\n["{LATE}", "http://a.org/"]]',
    "timemap": f'<http://x/20200101000000/{LONG}>; rel="memento"; datetime="Wed, 01 Jan 2020 00:00:00 GMT",\n'
    '<http://x/20200103000000/http://a.org/>; rel="memento"; datetime="Fri, 03 Jan 2020 00:00:00 GMT"',
}


@pytest.mark.parametrize("form", FORMS)
def test_an_address_of_any_length_is_left_out_and_named(tmp_path: Path, form: str) -> None:
    history = read(tmp_path, FORMS[form])
    assert history.captures.urls == ["http://a.org/"]
    (said,) = problems(history)
    assert said[1] == "an address of 70,013 bytes: none above 65,536 is read"


def test_a_long_line_is_read_in_one_go(tmp_path: Path) -> None:
    """Joined anew with each piece, this would copy 76 GB."""
    text = f"org,a)/ 20200103000000 http://a.org/ text/html 200 A - - -\n{'x' * 100_000_000}"
    assert problems(read(tmp_path, text)) == [(2, "1 field")]


def test_timemap_without_an_original(tmp_path: Path) -> None:
    memento = '<http://x/web/20200101000000id_/http://a.org/>; rel="memento"; datetime="Wed, 01 Jan 2020 00:00:00 GMT"'
    assert read(tmp_path, memento).captures.urls == ["http://a.org/"]


def test_timemap_as_json(tmp_path: Path) -> None:
    items = [{"datetime": "2020-01-02T00:00:00Z", "uri": "http://x/1"}, {"datetime": "soon", "uri": "u"}, 3]
    document = {"original_uri": "http://a.org/", "mementos": {"list": items}, "timemap_index": [{"uri": "http://x/2"}]}
    history = read(tmp_path, json.dumps(document, indent=1))
    assert days(history) == [1.0]
    assert [line for line, _ in problems(history)] == [2, 3]
    assert history.missing == ("http://x/2",)


def warc(*pages: tuple[str, str]) -> bytes:
    stream = io.BytesIO()
    writer = WARCWriter(stream, gzip=True)
    for date, body in pages:
        http = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        record = writer.create_warc_record(
            "http://a.org/",
            "response",
            payload=io.BytesIO(body.encode()),
            warc_headers_dict={"WARC-Date": date},
            http_headers=http,
        )
        writer.write_record(record)
    return stream.getvalue()


PAGES = ("2020-01-01T00:00:00Z", '<a href="b">'), ("2020-01-02T00:00:00Z", '<a href="b"><a href="c.pdf">')


def test_warc_with_links(tmp_path: Path) -> None:
    history = read(tmp_path, warc(*PAGES), "a.warc.gz", links=True)
    assert days(history) == [0.0, 1.0]
    assert history.captures.links is not None
    assert history.captures.links.tolist() == [{"http://a.org/b"}, {"http://a.org/b", "http://a.org/c.pdf"}]
    assert problems(history) == []


@pytest.mark.parametrize("cut", [5, 30, 60, 120, 200])
def test_warc_cut_short(tmp_path: Path, cut: int) -> None:
    history = read(tmp_path, warc(*PAGES)[:-cut], "a.warc.gz", links=True)
    assert days(history)[0] == 0.0
    assert "cut short" in problems(history)[-1][1]


def test_wacz_and_a_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.wacz", "w") as package:
        package.writestr("archive/one.warc.gz", warc(*PAGES))
        package.writestr("pages/pages.jsonl", "{}")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.cdx").write_text(LATER.replace("0102", "0105"))
    history = read_history([tmp_path])
    assert days(history) == [0.0, 1.0, 4.0]
    assert history.captures.links is None


def test_our_own_captures() -> None:
    def seen(time: float, result: Result, digest: str | None) -> Observation:
        return Observation("a", Url("http://a.org/"), time, result, digest=digest)

    rows = [
        seen(1.0, Result.OK, "sha1:A"),
        seen(2.0, Result.NOT_MODIFIED, None),
        seen(3.0, Result.FAILED, None),
        seen(4.0, Result.OK, "sha1:B"),
    ]
    captures = read_history([], rows).captures
    assert captures.times.tolist() == [1.0, 2.0, 4.0]
    assert (np.diff(captures.digests) != 0).tolist() == [False, True]


@given(st.integers(631_152_000, 4_000_000_000))
def test_dates(seconds: int) -> None:
    stamp = str(np.datetime64(seconds, "s")).replace("-", "").replace(":", "").replace("T", "").encode()
    assert instant(stamp) == seconds
    assert instants([stamp, stamp]).tolist() == [seconds, seconds]


@given(st.text("0123456789x", min_size=12, max_size=15))
def test_dates_agree_on_what_is_impossible(text: str) -> None:
    stamp = text.encode()
    try:
        expected: float | None = instant(stamp)
    except ValueError:
        expected = None
    if expected is None:
        with pytest.raises(ValueError, match="timestamp"):
            instants([stamp])
    else:
        assert instants([stamp])[0] == expected


def test_real_answers_of_a_server(shared_data: Path) -> None:
    history = read_history([shared_data / "cdx" / "nasa.gov.cdx"])
    assert len(history.captures) == 1
    assert len(history.captures.times) > 400
    assert problems(history) == []


@pytest.mark.slow
def test_links_of_mementos() -> None:
    banner = b'<!-- BEGIN WAYBACK TOOLBAR INSERT --><a href="/web/2*/x"></a><!-- END WAYBACK TOOLBAR INSERT -->'
    body = banner + b'<a href="/root"><a href="https://w.net/c/20200101000000mp_/https:/b.org/x?y=http://c.org/">'
    found = memento_links(body, "http://a.org/d/", "https://w.net/c/20200101000000/http://a.org/d/", "text/html")
    assert found == {"http://a.org/root", "https://b.org/x?y=http://c.org/"}
    cut = banner[:41] * 20_000 + b"<a href=/left>"  # begun for ever: looked through once
    assert memento_links(cut, "http://a.org/", "https://w.net/c/20200101000000/http://a.org/") == {"http://a.org/left"}


UNCHANGED_INDEXES = {
    "cdxj": (
        'org,example)/ 20261121000000 {"url": "http://example.org/", "status": "200", "digest": "sha1:A"}\n'
        'org,example)/ 20261122000000 {"url": "http://example.org/", "mime": "warc/revisit"}\n'
        'org,example)/ 20261123000000 {"url": "http://example.org/", "status": "200", "digest": "sha1:B"}\n'
    ),
    "cdx": (
        "org,example)/ 20261121000000 http://example.org/ text/html 200 A 9\n"
        "org,example)/ 20261122000000 http://example.org/ warc/revisit - - 9\n"
        "org,example)/ 20261123000000 http://example.org/ text/html 200 B 9\n"
    ),
}


@pytest.mark.parametrize("kind", UNCHANGED_INDEXES)
def test_a_304_in_an_index_shows_the_page_unchanged(tmp_path: Path, kind: str) -> None:
    """By the server's word, without status and digest."""
    (tmp_path / kind).write_text(UNCHANGED_INDEXES[kind])
    history = read_history([tmp_path / kind])
    assert digest_change(history.captures).tolist() == [-1, 0, 1]
    assert not history.problems.left_out.total()
    alone = UNCHANGED_INDEXES[kind].splitlines(keepends=True)[1:]
    (tmp_path / kind).write_text("".join(alone))
    history = read_history([tmp_path / kind])
    assert history.problems.left_out["not modified since a capture that is not there"] == 1
    assert len(history.captures.times) == 1


def test_a_304_in_a_warc_shows_the_capture_that_its_record_names(tmp_path: Path) -> None:
    """Not the one before it, which another crawler may have made."""
    with WarcWriter(tmp_path, "example.org", "run1", INFO) as out:
        out.write(page(b"one", started=1000))
        out.write(page(b"two", started=1001))
        out.write_revisit(page(response=b"HTTP/1.1 304 Same\r\n\r\n", started=1002), Original(URL, 1000, None))
    captures = read_history([tmp_path], links=True).captures
    assert digest_change(captures).tolist() == [-1, 1, 1]
    assert captures.digests[0] == captures.digests[2]
