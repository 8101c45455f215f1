"""Whatever stands in a file: the history is read as far as it goes, or there is an error that names the file."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from sharc_crawler.archive.histories.reading import read_history
from sharc_crawler.archive.wacz import About, Contents, write_wacz
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.errors import DataError
from sharc_crawler.seeds.hacs.updates import digest_change, link_addition
from tests.archive.readback import INFO, page

if TYPE_CHECKING:
    from pathlib import Path

CDX = b" CDX N b a m s k S\norg,a)/ 20200101000000 http://a.org/ text/html 200 AAAA 10\n"
CDXJ = b'org,a)/ 20200101000000 {"url": "http://a.org/", "status": "200", "digest": "sha1:AAAA"}\n'
ROWS = (
    b'[["urlkey","timestamp","original","statuscode"],\n["org,a)/","20200101000000","http://a.org/","200"],[],["key"]]'
)
OBJECTS = b'{"urlkey": "org,a)/", "timestamp": "20200101000000", "url": "http://a.org/", "status": "200"}\n'
MEMENTO = "http://x/web/20200101000000id_/http://a.org/"
LINKS = (
    f'<http://a.org/>; rel="original",\n<http://x/2>; rel="timemap",\n<{MEMENTO}>; rel="memento"; '
    'datetime="Wed, 01 Jan 2020 00:00:00 GMT"'
).encode()
TIMEMAP = json.dumps(
    {
        "original_uri": "http://a.org/",
        "timemap_index": [{"uri": "http://x/2"}],
        "mementos": {"list": [{"datetime": "2020-01-01T00:00:00Z", "uri": MEMENTO}]},
    }
).encode()


def warc(packed: bool) -> bytes:
    stream = io.BytesIO()
    writer = WARCWriter(stream, gzip=packed)
    for url, more in (("http://a.org/", []), (MEMENTO, [("Memento-Datetime", "Wed, 01 Jan 2020 00:00:00 GMT")])):
        headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html"), *more], protocol="HTTP/1.1")
        date = {"WARC-Date": "2020-01-01T00:00:00Z"}
        body = io.BytesIO(b'<a href="/x">')
        record = writer.create_warc_record(url, "response", body, http_headers=headers, warc_headers_dict=date)
        writer.write_record(record)
    return stream.getvalue()


def wacz() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as package:
        package.writestr("archive/a.warc.gz", warc(packed=True))
    return stream.getvalue()


SAMPLES = [CDX, CDXJ, ROWS, OBJECTS, LINKS, TIMEMAP, gzip.compress(CDX), warc(packed=False), warc(packed=True), wacz()]
VALUE = re.compile(rb'"[^"]*"|\{[^{}]*\}|\[[^\[\]]*\]|\d+')
OTHERS = [
    b"null",
    b"1",
    b'"x"',
    b"[]",
    b"{}",
    b"-1e999",
    b'"\\ud800"',
    b"true",
    b"http://[",
    b"99999999999999",
    b"\0\n",
]
EDITS = st.lists(
    st.tuples(st.sampled_from(["cut", "put", "value", "end"]), st.floats(0, 0.999), st.sampled_from(OTHERS)),
    min_size=1,
    max_size=4,
)


def edited(data: bytes, edits: list[tuple[str, float, bytes]]) -> bytes:
    for kind, where, other in edits:
        at = int(where * len(data))
        values = list(VALUE.finditer(data))
        if kind == "value" and values:
            start, end = values[int(where * len(values))].span()
            data = data[:start] + other + data[end:]
        elif kind == "end":
            data = data[: at + 1]
        else:
            data = data[:at] + (other if kind == "put" else b"") + data[at + (kind == "cut") * len(other) :]
    return data


@pytest.mark.slow
@settings(max_examples=5 * settings.default.max_examples)
@given(sample=st.sampled_from(SAMPLES), edits=EDITS, links=st.booleans())
def test_nothing_but_our_error_comes_of_any_file(tmp_path_factory, sample, edits, links):
    file = tmp_path_factory.getbasetemp() / "anything"
    file.write_bytes(edited(sample, edits))
    try:
        history = read_history([file], links=links)
    except DataError as error:
        assert str(file) in str(error)
    else:
        assert len(history.captures.times)
        assert len(history.problems.named) == history.problems.count


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_samples_are_good(tmp_path, sample):
    (tmp_path / "h").write_bytes(sample)
    history = read_history([tmp_path / "h"], links=True)
    assert history.captures.urls == ["http://a.org/"]
    assert history.problems.count == 0


def test_our_own_wacz_says_what_its_warcs_say(tmp_path: Path) -> None:
    """Three captures of two pages, one of them with a new link in the last."""
    made = tmp_path / "made"
    with WarcWriter(made, "example.org", "run1", INFO) as out:
        for day in range(3):
            for name in ("a", "b"):
                body = b'<a href="/%d">x</a>' % (day if (name, day) == ("a", 2) else 0)
                head = b"Content-Type: text/html\r\n"
                out.write(page(body, f"http://example.org/{name}", 1_600_000_000.0 + 86_400 * day, head))
    warcs = sorted(made.glob("*.warc.gz"))
    package = tmp_path / "a.wacz"
    about = About("made", "by a test", 1_600_000_000.0, "test")
    write_wacz(package, Contents(warcs, sorted(made.glob("*.cdxj")), []), about)
    found, plain = (read_history([path], links=True) for path in (package, made))
    assert found.problems.count == plain.problems.count == 0
    assert found.captures.times.tolist() == plain.captures.times.tolist()
    for notion in (digest_change, link_addition):
        assert notion(found.captures).tolist() == notion(plain.captures).tolist() == [-1, 0, 1, -1, 0, 0]


def test_a_zip_without_warcs_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.wacz", "w") as package:
        package.writestr("datapackage.json", "{}")
    with pytest.raises(DataError, match="a.wacz:1: no WARC file in it".replace(".", r"\.")):
        read_history([tmp_path / "a.wacz"])
