"""A file that grows is noted now and then: what goes on reads only what follows, and relies on nothing that changed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.archive import checkpoints, members
from sharc_crawler.archive.cdxj import read_index
from sharc_crawler.archive.indexing import entries
from sharc_crawler.archive.mending import is_sound
from sharc_crawler.archive.options import WarcOptions
from sharc_crawler.archive.recovery import finish
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.changes.digest import labelled_digest
from tests.archive.readback import INFO, page

PAGES, NOTED = 12, 8


@pytest.fixture
def cut(tmp_path, monkeypatch):
    """A folder whose writer was given up, and what it told; all but the last few exchanges were noted."""
    monkeypatch.setattr(checkpoints, "ROWS", NOTED)
    out, places = WarcWriter(tmp_path, "h", "run1", INFO, WarcOptions(dedup="site")), {}
    for number in range(PAGES):
        ref = out.write(page(f"text {number}".encode(), started=100.0 + number))
        places[ref.file, ref.offset] = labelled_digest(f"text {number}".encode())
        out.sync()
    out.abandon()
    (growing,) = tmp_path.glob("*.open")
    return growing, places


def read_from(monkeypatch):
    """Where records are read."""
    offsets, read = [], members._read
    monkeypatch.setattr(
        members, "_read", lambda stream, offset, *told: offsets.append(offset) or read(stream, offset, *told)
    )
    return offsets


def test_only_what_follows_the_last_checkpoint_is_read(cut, monkeypatch):
    growing, places = cut
    noted = sorted(offset for _, offset in places)[NOTED]
    growing.write_bytes(growing.read_bytes()[:-3])  # torn
    offsets = read_from(monkeypatch)
    (found,) = finish(growing.parent)
    last = max(places, key=lambda place: place[1])
    del places[last]
    assert is_sound(growing.parent, places)
    assert min(offsets) == noted
    assert (found.records, found.cut > 0) == (1 + 2 * (PAGES - 1), True)
    assert list(read_index(index_path(found.path))) == sorted(
        (replaced(entry) for entry in entries(found.path)), key=lambda entry: entry.line()
    )
    assert not list(growing.parent.glob(".*.checkpoint"))


def replaced(entry):
    """As an index has it."""
    return entry._replace(date="".join(filter(str.isdigit, entry.date))[:14])


@pytest.mark.parametrize("where", ["noted", "after", "checkpoint"])
def test_what_changed_since_is_found(cut, where):
    growing, places = cut
    noted = sorted(offset for _, offset in places)[NOTED]
    path = next(growing.parent.glob(".*.checkpoint")) if where == "checkpoint" else growing
    text = bytearray(path.read_bytes())
    text[{"noted": noted - 9, "after": noted + 40, "checkpoint": 20}[where]] ^= 1
    path.write_bytes(text)
    assert is_sound(growing.parent, places) is (where == "checkpoint")


def test_a_finished_file_is_compared_byte_by_byte_and_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "ROWS", NOTED)
    with WarcWriter(tmp_path, "h", "run1", INFO) as out:
        refs = [out.write(page(b"text %d" % number, started=100.0 + number)) for number in range(PAGES)]
        out.sync()
    places = {(ref.file, ref.offset): None for ref in refs}
    offsets = read_from(monkeypatch)
    (warc,) = tmp_path.glob("*.warc.gz")
    assert is_sound(tmp_path, places)
    assert offsets == [warc.stat().st_size]
    text = bytearray(warc.read_bytes())
    text[refs[3].offset + 30] ^= 1
    warc.write_bytes(text)
    assert not is_sound(tmp_path, places)


def test_what_goes_on_refers_to_what_was_stored_and_reads_it_only_then(cut, monkeypatch):
    growing, _ = cut
    finish(growing.parent)
    opened = []
    monkeypatch.setattr(
        "warcio.archiveiterator.ArchiveIterator",
        lambda stream: opened.append(1) or ArchiveIterator(stream),
    )
    with WarcWriter(growing.parent, "h", "run1", INFO, WarcOptions(dedup="site")) as out:
        assert not opened
        out.write(page(b"new", started=200.0))
        assert not opened
        again = out.write(replace(page(b"text 3", started=201.0)))
        assert len(opened) == 1
        assert len(list(out.stored())) == PAGES + 1
    kinds = {(entry.file, entry.offset): entry.mime for entry in read_index(index_path(growing.parent / again.file))}
    assert kinds[again.file, again.offset] == "warc/revisit"


def test_what_was_just_finished_is_summed_once(cut, monkeypatch):
    growing, places = cut
    read = []
    summed = checkpoints._checksum_of
    monkeypatch.setattr(
        checkpoints, "_checksum_of", lambda stream, *rest, **more: read.append(1) or summed(stream, *rest, **more)
    )
    assert is_sound(growing.parent, places)
    assert len(read) == 1
