"""Packed bodies, up to a limit."""

from __future__ import annotations

import gzip
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.links.unpack import unpack

LIMIT = 1_000


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


def test_a_bomb_stops_at_the_limit() -> None:
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


@given(st.binary(max_size=300))
def test_never_raises(rest: bytes) -> None:
    data, problem = unpack(b"\x1f\x8b\x08" + rest, LIMIT)
    assert data == b"" or problem is None or "used" in problem or "left out" in problem
