"""Answers to POSTs are found by what was sent, as replay tools look for them."""

from __future__ import annotations

import json

import pytest

from sharc_crawler.archive.indexing import entries
from sharc_crawler.archive.posted import Posted, sent
from sharc_crawler.archive.warc import WarcWriter
from tests.archive.readback import INFO, page


def post(body: bytes, media_type: str) -> bytes:
    return b"POST /api HTTP/1.1\r\nHost: h\r\nContent-Type: %b\r\n\r\n%b" % (media_type.encode(), body)


FORM = b'--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n1 2\r\n--B--\r\n'


@pytest.mark.parametrize(
    ("media_type", "body", "query"),
    [
        ("application/x-www-form-urlencoded", b"q=a%20b&c=d", "q=a%20b&c=d"),
        ("application/x-www-form-urlencoded", b"\xff", "__wb_post_data=/w=="),
        ("application/json; charset=utf-8", b'{"a": {"b": [1, 2.0, null, false, "x y"]}}',
         "b=1&b.2_=2&b.3_=null&b.4_=false&b.5_=x+y"),
        ("application/json", b"{", ""),
        ("text/plain", b'{"a": 1}', "a=1"),
        ("text/plain", b"a b", "__wb_post_data=YSBi"),
        ("multipart/form-data; boundary=B", FORM, "a=1+2"),
        ("multipart/form-data", FORM, None),
        ("application/octet-stream", b"\x00", "__wb_post_data=AA=="),
        ("application/octet-stream", b"\x00" * 9999, "__wb_post_data=" + "A" * 4081),
    ],
)  # fmt: skip
def test_what_was_sent_is_a_query(media_type, body, query):
    method, posted = sent(post(body, media_type))
    assert method == "POST"
    assert posted == query if query is not None else posted.startswith("__wb_post_data=")


def test_other_methods_send_nothing():
    assert sent(b"HEAD / HTTP/1.1\r\n\r\n") == Posted("HEAD", None)
    assert sent(b"") == Posted()


def test_the_index_names_what_was_sent_and_so_does_one_made_anew(tmp_path):
    with WarcWriter(tmp_path, "example.org", "run1", INFO) as out:
        for number in range(2):
            asked = post(b'{"page": %d}' % number, "application/json")
            out.write(page(url="http://example.org/api", request=asked, started=number))
        out.write(
            page(response=b"", error="reset", request=post(b"x=9", "application/x-www-form-urlencoded"), started=5)
        )
    (warc,) = tmp_path.glob("*.warc.gz")
    (index,) = tmp_path.glob("*.cdxj")
    lines = index.read_text().splitlines()
    assert lines == sorted(entry.line() for entry in entries(warc))
    found = [(line.split(" ")[0], json.loads(line.split(" ", 2)[2])) for line in lines]
    assert [key for key, _ in found] == [f"org,example)/api?__wb_method=post&page={number}" for number in range(2)]
    assert [(about["url"], about["method"], about["requestBody"]) for _, about in found] == [
        ("http://example.org/api", "POST", f"page={number}") for number in range(2)
    ]
