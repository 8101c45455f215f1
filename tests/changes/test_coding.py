"""Content codings undone."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.changes.coding import decoded, zstd

BODY = b"<p>hello</p>" * 50


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS = [
    (gzip.compress, b"gzip"),
    (zlib.compress, b"deflate"),
    (raw_deflate, b"deflate"),
    (brotli.compress, b"br"),
    (zstd.compress, b"zstd"),
]
PACKED = [
    *((pack(BODY), coding) for pack, coding in PACKERS),
    (gzip.compress(BODY[:7]) + gzip.compress(BODY[7:]), b"X-GZIP"),
    (brotli.compress(gzip.compress(BODY)), b"gzip, br"),
    (BODY, b"identity"),
]


@pytest.mark.parametrize(("payload", "coding"), PACKED)
def test_all_that_servers_send(payload: bytes, coding: bytes) -> None:
    assert decoded(payload, [coding]) == BODY
    assert decoded(memoryview(payload), coding.split(b",")) == BODY


@pytest.mark.parametrize(("payload", "coding"), [pair for pair in PACKED if pair[1] != b"identity"])
def test_what_is_cut_short_is_not_half_a_page(payload: bytes, coding: bytes) -> None:
    assert decoded(payload[: len(payload) // 2], [coding]) is None


@pytest.mark.parametrize(
    "payload", [gzip.compress(b"0" * 10**6), zlib.compress(b"0" * 10**6), raw_deflate(b"0" * 10**6)]
)
def test_a_bomb_stops_at_the_limit(payload: bytes) -> None:
    coding = b"gzip" if payload[:2] == b"\x1f\x8b" else b"deflate"
    assert decoded(payload, [coding], limit=10**6) == b"0" * 10**6
    assert decoded(payload, [coding], limit=10**6 - 1) is None
    assert decoded(brotli.compress(b"0" * 10**6), [b"br"], limit=1000) is None


def test_an_unknown_coding_is_not_guessed() -> None:
    assert decoded(BODY, [b"compress"]) is None


@given(st.binary(max_size=200), st.sampled_from([b"gzip", b"deflate", b"br", b"zstd", b"gzip, br"]))
def test_any_bytes_are_decoded_or_not(payload: bytes, coding: bytes) -> None:
    assert decoded(payload, [coding]) is None or isinstance(decoded(payload, [coding]), bytes)
