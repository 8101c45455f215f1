"""A record is one gzip member, whoever packs it."""

from __future__ import annotations

import random
import zlib

import pytest

from sharc_crawler.archive import records
from sharc_crawler.archive.large_records import large_member
from sharc_crawler.archive.records import member

RANDOM = random.Random(3).randbytes(5_000_000)
FIELDS = [("WARC-Type", "response"), ("WARC-Target-URI", "http://example.org/")]
BLOCKS = {"none": b"", "small": b"hello", "at the bound": b"x" * 4096, "random": random.Random(1).randbytes(100_000)}


def text(size: int) -> bytes:
    """Of words with markup between them."""
    dice = random.Random(2)
    return "".join(f"<li class=n{dice.randrange(9)}>{dice.randrange(10_000)} words" for _ in range(size)).encode()


@pytest.fixture(params=["zlib-ng", "zlib"])
def packer(request, monkeypatch):
    """With what is there on most machines, and with what is there on all."""
    module = zlib if request.param == "zlib" else pytest.importorskip("zlib_ng.zlib_ng")
    monkeypatch.setattr(records, "packing", module)


@pytest.mark.parametrize("block", [*BLOCKS.values(), text(5_000)], ids=[*BLOCKS, "text"])
@pytest.mark.parametrize("level", [0, 1, 6, 9])
@pytest.mark.usefixtures("packer")
def test_a_record_is_one_gzip_member_that_zlib_reads(block, level):
    whole = b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/\r\nContent-Length: %d\r\n\r\n"
    for packed in (member(FIELDS, block, level), b"".join(large_member(FIELDS, block, 0, level))):
        unpacker = zlib.decompressobj(31)
        assert unpacker.decompress(packed + b"next") == whole % len(block) + block + b"\r\n\r\n"
        assert unpacker.eof
        assert unpacker.unused_data == b"next"


@pytest.mark.parametrize("size", [20, 500, 10_000])
@pytest.mark.usefixtures("packer")
def test_at_the_usual_level_it_is_as_small_as_zlib_makes_it(size):
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    text_of_it = zlib.decompress(whole := member(FIELDS, text(size), 6), 31)
    assert len(whole) <= 1.02 * len(packer.compress(text_of_it) + packer.flush())


class Noted:
    """What packs, and at which levels it was asked to."""

    def __init__(self, levels):
        self.levels = levels

    def compressobj(self, level, *args):
        self.levels.append(level)
        return zlib.compressobj(level, *args)

    compress = staticmethod(zlib.compress)


@pytest.mark.parametrize(("block", "level"), [(RANDOM, 0), (RANDOM + text(50_000), 6), (text(9_000), 6)])
def test_what_does_not_shrink_is_stored_as_it_is(block, level, monkeypatch):
    monkeypatch.setattr(records, "packing", Noted(levels := []))
    assert block in zlib.decompress(b"".join(large_member(FIELDS, block, 0, 6)), 31)
    assert levels == [level]
