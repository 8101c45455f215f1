from __future__ import annotations

import gzip
import hashlib
from base64 import b32encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.changes.chunks import dechunk
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.http import parse_response, target

OK = b"HTTP/1.1 200 OK\r\n"


def test_head_body_and_headers_as_sent():
    raw = OK + b"Content-Type: text/html\r\nSET-Cookie: a\r\nset-cookie: b\r\n\r\nbody"
    response = parse_response(raw)
    assert response.status == 200
    assert response.head + bytes(response.payload) == raw
    assert response.message == raw
    assert response.interim == b""
    assert response.header(b"content-type") == b"text/html"
    assert response.values(b"set-cookie") == [b"a", b"b"]
    assert response.header(b"etag") is None
    assert response.headers[1] == (b"SET-Cookie", b"a")


def test_lenient_as_browsers_are():
    raw = b"HTTP/1.0 404\nA : 1\n\tfolded\n  twice\nnonsense\n: empty\nB:\xff\n\nbody"
    response = parse_response(raw)
    assert response.status == 404
    assert response.header(b"a") == b"1 folded twice"
    assert response.header(b"b") == b"\xff"
    assert bytes(response.payload) == b"body"


def test_interim_responses_are_told_apart_from_the_final_one():
    hints = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    response = parse_response(hints + OK + b"A: b\r\n\r\nbody")
    assert response.interim == hints
    assert response.message == OK + b"A: b\r\n\r\nbody"
    assert response.status == 200


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        OK,
        OK + b"Content-Type: te",
        b"HTTP/1.1 103 Early Hints\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nA:",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"<html>\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
    ],
)
def test_no_final_response(raw):
    assert parse_response(raw) is None


@pytest.mark.parametrize(
    ("body", "data"),
    [
        (b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b'5;name="v"\r\nhello\r\n0\r\nTrailer: t\r\n\r\n', b"hello"),
        (b"00A \r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        (b"3\nabc\n0\n\n", b"abc"),
        (b"0\r\n\r\n", b""),
        (b"", b""),
        (b"5\r\nhel", b"hel"),  # cut in a chunk
        (b"3\r\nabc\r\n5", b"abc"),  # cut in a size
        (b"3\r\nabc\r\n-1\r\nx", b"abc"),
        (b"3\r\nabcdef\r\n0\r\n\r\n", b"abc"),  # longer than announced
        (b"not chunks at all", b""),
        (b"0x3\r\nabc\r\n", b""),
    ],
)
def test_dechunk(body, data):
    assert dechunk(body) == data


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=8), st.binary(max_size=20))
def test_any_chunking_of_a_body_is_undone(chunks, head):
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    assert dechunk(head + body, len(head)) == b"".join(chunks)
    assert parse_response(OK + b"Transfer-Encoding: Chunked\r\n\r\n" + body).digest == labelled_digest(b"".join(chunks))


@given(st.binary(max_size=200))
def test_nothing_that_a_server_may_say_raises(raw):
    parse_response(OK + raw)
    dechunk(raw)
    parse_response(b"HTTP/1.1 " + raw)


def test_the_digest_is_of_the_entity_body_before_content_decoding():
    packed = gzip.compress(b"page")
    expected = "sha1:" + b32encode(hashlib.sha1(packed).digest()).decode()
    assert parse_response(OK + b"Content-Encoding: gzip\r\n\r\n" + packed).digest == expected


def test_only_the_last_transfer_coding_decides_on_chunks():
    assert parse_response(OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n").chunked
    assert parse_response(OK + b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n").chunked
    assert not parse_response(OK + b"Transfer-Encoding: chunked, gzip\r\n\r\n").chunked
    assert not parse_response(OK + b"X: chunked\r\n\r\n").chunked


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("/müll.html?ü=1".encode(), "http://h/müll.html?ü=1"),
        (b"/m\xfcll.html", "http://h/m%FCll.html"),
        (b"//m\xc3\xbcller.example/", "http://müller.example/"),
        (b" rel ", "http://h/a/rel"),
        (b"", None),
        (None, None),
        (b"http://[no address", None),
    ],
)
def test_a_location_is_read_as_browsers_read_it(sent, meant):
    assert target("http://h/a/b", sent) == meant


@given(st.binary(max_size=40))
def test_any_location_is_read(value):
    target("http://h/", value)
