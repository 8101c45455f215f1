"""Where an answer ends, and what a strict parser is handed of it, however it is cut into pieces."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharc_crawler.changes.chunks import dechunk
from sharc_crawler.changes.http import parse_response
from sharc_crawler.live.wire.chunks import TRAILERS
from sharc_crawler.live.wire.framing import LINE, Framing

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
#: what arrives, and of it the body and what lies beyond its end
WHOLE = {
    "length": (OK + b"Content-Length: 5\r\n\r\nhello", b"hello"),
    "the same length twice": (OK + b"Content-Length: 5, 5\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
    "a blank before the colon": (OK + b"Content-Length : 5\r\n\r\nhello", b"hello"),
    "nothing": (OK + b"Content-Length: 0\r\n\r\n", b""),
    "no headers": (b"HTTP/1.1 204 None\n\n", b""),
    "not modified": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", b""),
    "switched": (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n", b""),
    "interim": (b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\nx", b"x"),
    "chunks": (CHUNKED + b"3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", b"abc0123456789"),
    "identity, with a length": (OK + b"Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
    "padded, with a trailer": (CHUNKED + b"3  \r\nabc\r\n00 ;e\r\nT: u\r\n\r\n", b"abc"),
}


def heard(data: bytes, size: int, method: bytes = b"GET") -> tuple[Framing, bytes, bytes]:
    framing, clean, surplus = Framing(method), b"", b""
    for start in range(0, len(data), size):
        if framing.ended:
            surplus += data[start : start + size]
            continue
        one, more = framing.feed(data[start : start + size])
        clean, surplus = clean + one, surplus + more
    return framing, clean, surplus


@pytest.mark.parametrize("size", [1, 2, 7, 1 << 20])
@pytest.mark.parametrize("case", WHOLE)
def test_an_answer_ends_where_it_says_and_what_follows_is_no_part_of_it(case, size):
    data, body = WHOLE[case]
    framing, clean, surplus = heard(data + b"HTTP/1.1 200 evil", size)
    assert framing.ended
    assert surplus == b"HTTP/1.1 200 evil"
    rest = clean.partition(b"\r\n\r\n")[2] if b"chunked" in data else clean.rpartition(b"\n\r\n")[2]
    assert (dechunk(rest) if b"chunked" in data else rest) == body


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_to_head_only_a_head_comes(size):
    framing, clean, surplus = heard(OK + b"Content-Length: 5\r\n\r\nHTTP", size, b"HEAD")
    assert (framing.ended, clean, surplus) == (True, OK + b"Content-Length: 5\r\n\r\n", b"HTTP")


@pytest.mark.parametrize("size", [1, 1 << 20])
@pytest.mark.parametrize(
    "head", [b"", b"Content-Length: x\r\n", b"Content-Length: " + b"9" * 5_000 + b"\r\n", b"Transfer-Encoding: br\r\n"]
)
def test_without_a_length_there_is_no_end(head, size):
    framing, clean, _ = heard(OK + head + b"\r\nbody", size)
    assert not framing.ended
    assert clean == OK + head + b"\r\nbody", "an odd length is the parser's to refuse"


@pytest.mark.parametrize(
    "body", [b"3\r\nabcX\r\n", b"zz\r\n", b"-1\r\n", b"\r\n", b"1" * 2000, b"0\r\n" + b"T: u\r\n" * TRAILERS]
)
@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_chunks_that_are_none_end_in_what_no_parser_takes(body, size):
    framing, clean, _ = heard(CHUNKED + body, size)
    assert not framing.ended
    assert clean.endswith(b"\r\n!\r\n")
    assert framing.feed(b"5\r\nhello\r\n0\r\n\r\n") == (b"", b"")


def test_the_first_line_is_handed_on_at_once_and_one_that_is_cut_off_at_the_end():
    framing = Framing(b"GET")
    assert framing.feed(b"SSH-2") == (b"", b"")
    assert framing.cut() == b"SSH-2"
    assert framing.feed(b".0\r\nx") == (b"SSH-2.0\r\n", b"")
    assert framing.cut() == b""


@pytest.mark.parametrize(
    "line", [b"\0HTTP/1.1 200 OK", b"bodyHTTP/1.1 200 OK", b"HTTP/1.1 -200 OK", b"HTTP/1.1 1000", b"X 2_0"]
)
def test_a_first_line_that_the_archive_does_not_read_is_none_for_the_parser_either(line):
    _, clean, _ = heard(line + b"\r\n\r\nbody", 1 << 20)
    assert parse_response(line + b"\r\n\r\nbody") is None
    assert clean.partition(b"\r\n")[0] == line.replace(b" ", b""), "a line of one part is refused"


def test_lines_that_are_no_headers_are_left_out_and_long_headers_are_told_apart():
    value = b"v" * LINE
    odd = b" folded from nowhere\r\nno colon\r\n to be seen\r\nX Y: 1\r\n: 2\r\n"
    data = OK + odd + b"A: 1\r\n\tand 2\r\nLong: " + value + b"\r\n more\r\nContent-Length: 0\r\n\r\n"
    framing, clean, _ = heard(data, 1 << 20)
    assert clean == OK + b"A: 1\r\n\tand 2\r\nContent-Length: 0\r\n\r\n"
    assert framing.long == [(b"Long", value + b" more")]


def test_a_first_line_that_is_too_long_is_cut():
    assert (
        heard(b"HTTP/1.1 200 " + b"x" * 20_000 + b"\r\n\r\n", 999)[1]
        == b"HTTP/1.1 200 " + b"x" * (LINE - 13) + b"\r\n\r\n"
    )


odd = st.sampled_from
names = odd(
    [
        b"Transfer-Encoding",
        b"transfer-encoding ",
        b"\x0bTransfer-Encoding",
        b"Transfer-Encoding\x0c",
        b"Transfer Encoding",
    ]
)
codings = odd(
    [
        b"chunked",
        b" Chunked ",
        b"chunked, identity",
        b"identity",
        b"identity, chunked",
        b"gzip, chunked",
        b"chunked\x0b",
    ]
)
sizes = odd([b"%x", b"%016x", b"%x ", b"%x\r", b"%x;a=b", b"%x\t;\r", b" %x", b"0x%x", b"%x\x0b", b"0%x"])


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.tuples(names, codings), max_size=2),
    st.booleans(),
    st.lists(st.tuples(sizes, st.binary(max_size=20), odd([b"\r\n", b"\n", b"\r\r\n"])), max_size=3),
)
def test_the_archive_reads_as_payload_what_came_as_the_body(headers, length, parts):
    """Where both do not agree, what changes in the rest is in nobody's digest."""
    chunks = b"".join(size % len(data) + end + data + end for size, data, end in parts if data) + b"0\r\n\r\n"
    head = OK + b"".join(b"%b: %b\r\n" % one for one in headers)
    raw = head + (b"Content-Length: %d\r\n" % len(chunks) if length else b"") + b"\r\n" + chunks
    framing, clean, surplus = heard(raw, 1 << 20)
    if framing.wrong or not (framing.ended or framing.endless):
        return
    came, kept = parse_response(clean), parse_response(raw.removesuffix(surplus))
    assert bytes(kept.payload) == bytes(came.payload)
    assert len(kept.payload) == framing.body
