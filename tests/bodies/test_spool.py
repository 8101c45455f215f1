"""Bytes on the disk are read as bytes are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.bodies.spool import LARGE, Spool, in_memory, pieces
from sharc_crawler.bodies.spooling import Spooling
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.http import parse_response


@given(st.lists(st.binary(max_size=20)), st.integers(0, 30), st.integers(0, 30))
def test_a_spool_is_as_good_as_bytes(parts: list[bytes], start: int, stop: int) -> None:
    whole, spool = b"".join(parts), Spooling(data=parts).done()
    assert len(spool) == len(whole)
    assert spool[start:stop] == whole[start:stop]
    assert b"".join(pieces(spool, start, stop)) == whole[start:stop] == b"".join(pieces(whole, start, stop))
    assert labelled_digest(spool, start) == labelled_digest(whole[start:])


def test_a_long_one_is_read_in_pieces_and_takes_no_memory() -> None:
    whole = bytes(range(256)) * (LARGE // 256 + 1)
    spool = Spooling(data=[whole]).done()
    assert isinstance(spool, Spool)
    assert (in_memory(spool), in_memory(whole)) == (0, len(whole))
    assert max(map(len, pieces(spool))) <= 1 << 20
    assert labelled_digest(spool) == labelled_digest(whole)
    assert re.search(b"\xff\x00", spool, re.DOTALL)


def test_the_last_bytes_can_be_taken_off(tmp_path) -> None:
    spooling = Spooling(tmp_path, [b"abc", b"defg"])
    assert spooling.cut(3) == b"efg"
    spooling.write(b"h")
    assert spooling.done()[:] == b"abcdh"


def test_no_file_is_left(tmp_path) -> None:
    spool = Spooling(tmp_path, [b"abc"]).done()
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"abc"]
    same = Spool(spool.path)
    del spool
    assert not list(tmp_path.iterdir()), "who made it removes it"
    assert same[:] == b"abc", "who reads it still can"
    assert Spooling(tmp_path).done() == b""
    Spooling(tmp_path, [b"abc"]).discard()
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [1_000, LARGE // 2, 2 * LARGE])
def test_a_large_chunked_body_is_joined_in_pieces(chunk: int, tmp_path) -> None:
    body = bytes(range(251)) * (LARGE // 251 + 5)
    chunks = [body[at : at + chunk] for at in range(0, len(body), chunk)]
    raw = [b"HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]
    raw += [b"%x\r\n%b\r\n" % (len(one), one) for one in chunks]
    message = parse_response(Spooling(tmp_path, [*raw, b"0\r\n\r\n"]).done())
    assert message and message.digest == labelled_digest(body)
    assert bytes(message.payload) == body
    assert message.message == b"".join([*raw, b"0\r\n\r\n"])[message.start :]
