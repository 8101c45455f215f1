"""WARC files that were made to cost much: what is read and unpacked of them is counted."""

from __future__ import annotations

import gzip
import io
import random
import struct

from sharc_crawler.archive.members import TRIES, VAIN, Damage, Record, records
from sharc_crawler.bodies.spool import LARGE
from sharc_crawler.bodies.spooling import Spooling

WINDOW = 60_000
GOOD = gzip.compress(b"WARC/1.0\r\nContent-Length: 2\r\n\r\nhi\r\n\r\n", mtime=0)


class Counted(io.BytesIO):
    """A file that counts what is read of it."""

    count = 0

    def read(self, size=-1):
        data = super().read(size)
        self.count += len(data)
        return data


def stored(size):
    """The head of bytes that are stored as they are."""
    return struct.pack("<BHH", 0, size, size ^ 0xFFFF)


def beginning_everywhere(windows):
    """Every 27 bytes a record begins, of which all that follows is a part."""
    start, unit, room = b"\x1f\x8b\x08\0\0\0\0\0\0\xff", 27, WINDOW - 5
    starts = [start + stored(room - (at + 15)) + b"WARC/1.0\r\n.." for at in range(0, room // unit * unit, unit)]
    window = b"".join(starts).ljust(room, b".") + stored(room)
    return window * windows


def test_records_that_begin_everywhere_are_not_each_read_to_the_end():
    file = Counted(beginning_everywhere(10))
    found = list(records(file))
    assert all(isinstance(one, Damage) for one in found)
    assert found[-1].reason.startswith("not read, nor what follows")
    assert file.count < 2 * VAIN, "each would be 6 GB"


def test_what_follows_a_few_of_them_is_read():
    trap = beginning_everywhere(1)[: 27 * 10]
    assert [one for one in records(io.BytesIO(GOOD + trap + b"." * 9 + GOOD)) if isinstance(one, Record)][1:]


def test_what_follows_large_damaged_records_is_read():
    for size, times in ((VAIN // 4, 2 * TRIES), (VAIN + LARGE, 1)):
        head = b"WARC/1.0\r\nContent-Length: %d\r\n\r\n" % size
        large = bytearray(gzip.compress(head + random.Random(1).randbytes(size) + b"\r\n\r\n", 0, mtime=0))
        large[-9] ^= 1  # which is found at its end
        for data in (bytes(large) * times, bytes(large[: -VAIN // 8])):
            found = [one.text for one in records(io.BytesIO(data + GOOD)) if isinstance(one, Record)]
            assert found == [b"hi"]


def test_of_a_record_no_more_is_unpacked_than_it_states(monkeypatch):
    written, write = [0], Spooling.write

    def counted(self, data):
        write(self, data)
        written[0] += len(data)

    monkeypatch.setattr(Spooling, "write", counted)
    bomb = gzip.compress(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 5\r\n\r\n" + bytes(20 * LARGE))
    first, second = records(io.BytesIO(bomb + GOOD))
    assert (first, second.text) == (Damage(0, "not of the length that it states"), b"hi")
    assert written[0] < 2 * LARGE
