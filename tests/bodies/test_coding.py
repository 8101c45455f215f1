"""Content codings undone."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.bodies import coding
from sharc_crawler.bodies.coding import MOST_CODINGS, decoded, unpack, unpacked, zstd
from sharc_crawler.options.table import ASKED_FOR

BODY = b"<p>hello</p>" * 50
LIMIT = 1_000


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
    assert decoded(gzip.compress(BODY), [b"unheard-of"]) is None


@pytest.mark.parametrize("coding", [b"utf-8", b"none", b"aws-chunked", b"aws-chunked, gzip"])
def test_what_is_no_coding_at_all_is_passed_over_on_plain_text(coding: bytes) -> None:
    body = gzip.compress(BODY) if b"gzip" in coding else BODY
    assert unpacked(body, [coding]) == (BODY, None)
    assert decoded(body, [coding]) is None, "as another answer: nothing is claimed by it"


@given(st.binary(max_size=200), st.sampled_from([b"gzip", b"deflate", b"br", b"zstd", b"gzip, br"]))
def test_any_bytes_are_decoded_or_not(payload: bytes, coding: bytes) -> None:
    assert decoded(payload, [coding]) is None or isinstance(decoded(payload, [coding]), bytes)


def test_codings_without_end_are_not_undone() -> None:
    codings = [b"gzip"] * MOST_CODINGS
    payload = BODY
    for _ in codings:
        payload = gzip.compress(payload)
    assert decoded(payload, codings) == BODY
    assert decoded(gzip.compress(payload), [*codings, b"gzip"]) is None


@pytest.mark.parametrize(("payload", "coding"), [pair for pair in PACKED if pair[1] in {b"gzip", b"br", b"zstd"}])
def test_what_came_before_a_break_is_known(payload: bytes, coding: bytes) -> None:
    data, problem = unpacked(payload[:-3], [coding])
    assert BODY.startswith(data)
    assert problem


@pytest.mark.slow
@pytest.mark.parametrize("pack", [gzip.compress, brotli.compress, zstd.compress, zlib.compress, raw_deflate])
def test_bodies_larger_than_a_step(pack) -> None:
    body = bytes(number * number * 31 % 251 for number in range(300_000)) + b"a" * 3_000_000
    coding = {gzip.compress: b"gzip", brotli.compress: b"br", zstd.compress: b"zstd"}.get(pack, b"deflate")
    assert decoded(pack(body), [coding]) == body


def test_several_zstd_frames_are_one_body() -> None:
    assert decoded(zstd.compress(BODY) + zstd.compress(BODY), [b"zstd"]) == BODY * 2


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=4))
def test_any_number_of_members(members: list[bytes]) -> None:
    assert unpack(b"".join(map(gzip.compress, members)), LIMIT) == (b"".join(members), None)


@given(st.binary(max_size=LIMIT).filter(lambda body: not body.startswith(b"\x1f\x8b")))
def test_what_is_not_packed_is_itself(body: bytes) -> None:
    assert unpack(body, LIMIT) == (body, None)


def test_the_limit_is_exact() -> None:
    for body in (b"a" * LIMIT, gzip.compress(b"a" * LIMIT)):
        assert unpack(body, LIMIT) == (b"a" * LIMIT, None)
        data, problem = unpack(body, LIMIT - 1)
        assert (len(data), problem) == (LIMIT - 1, "more than 999 bytes: the rest is left out")


@pytest.mark.slow
def test_a_packed_file_that_is_a_bomb_stops_at_the_limit() -> None:
    bomb = gzip.compress(b"a" * 50_000_000) * 20
    tracemalloc.start()
    data, problem = unpack(bomb, 1_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(data) == 1_000_000
    assert problem is not None
    assert peak < 10_000_000


def test_a_broken_end_costs_only_the_end() -> None:
    packed = gzip.compress(bytes(i * 7919 % 251 for i in range(400_000)))
    assert unpack(packed[:-4], 10**6) == (
        gzip.decompress(packed),
        "gzip ends too early: what could be unpacked is used",
    )
    data, problem = unpack(packed[:-8] + b"\0" * 8, 10**6)
    assert len(data) > 300_000
    assert problem == "broken gzip: what could be unpacked is used"


@pytest.mark.parametrize(
    ("pack", "coding"),
    [(gzip.compress, b"gzip"), (zlib.compress, b"deflate"), (lambda body: zlib.compress(body)[2:-4], b"deflate"),
     (brotli.compress, b"br"), (zstd.compress, b"zstd")],
)  # fmt: skip
def test_wherever_a_body_breaks_off_its_end_is_missed(pack, coding) -> None:
    whole = pack(BODY)
    assert not unpacked(whole, [coding]).cut
    assert all(unpacked(whole[:size], [coding]).cut for size in range(1, len(whole)))
    if coding in (b"gzip", b"zstd"):  # and so in a further member
        assert all(unpacked(whole + whole[:size], [coding]).cut for size in range(1, len(whole)))
    assert all(unpacked(gzip.compress(whole[:size]), [coding, b"gzip"]).cut for size in range(1, len(whole)))


def test_the_end_of_what_may_be_skipped_is_missed_too() -> None:
    skipped = b"\x51\x2a\x4d\x18\x03\0\0\0xyz"
    assert all(unpacked(zstd.compress(BODY) + skipped[:size], [b"zstd"]).problem for size in range(1, len(skipped)))


@pytest.mark.parametrize("coding", [b"gzip", b"deflate", b"br", b"zstd"])
def test_nothing_at_all_is_whole(coding) -> None:
    """Servers name a coding where there is no body."""
    assert unpacked(b"", [coding]) == (b"", None)


@given(st.binary(max_size=300))
def test_a_packed_file_of_any_bytes_never_raises(rest: bytes) -> None:
    data, problem = unpack(b"\x1f\x8b\x08" + rest, LIMIT)
    assert data == b"" or problem is None or "used" in problem or "left out" in problem


def test_zstd_frames_that_may_be_skipped_are_skipped_and_what_lies_behind_them_is_read() -> None:
    skipped = b"\x51\x2a\x4d\x18\x03\0\0\0xyz"
    one, two = zstd.compress(b"one"), zstd.compress(b"two")
    assert decoded(one + skipped + two, [b"zstd"]) == b"onetwo"
    assert decoded(skipped + one + skipped, [b"zstd"]) == b"one"
    assert decoded(skipped, [b"zstd"]) == b""


@pytest.mark.parametrize(
    ("pack", "coding"), [(zstd.compress, b"zstd"), (gzip.compress, b"gzip"), (zlib.compress, b"deflate")]
)
def test_bytes_behind_the_end_are_told_and_the_body_is_compared_as_it_was_sent(pack, coding) -> None:
    """Whoever else unpacks it may find another content in them."""
    assert unpacked(pack(BODY) + b"junk", [coding]) == (
        BODY,
        f"4 bytes behind the end of {coding.decode()} are left out",
    )
    assert decoded(pack(BODY) + b"junk", [coding]) is None


def test_bytes_behind_the_end_of_brotli_are_no_content() -> None:
    assert decoded(brotli.compress(BODY) + b"junk", [b"br"]) is None
    large = brotli.compress(bytes(range(256)) * 1_000)
    assert decoded(large + b"x" * 100_000, [b"br"]) is None


def test_servers_can_be_asked_for_every_coding_that_is_undone():
    assert {name.decode().removeprefix("x-") for name in coding._STREAMS} == set(ASKED_FOR)
