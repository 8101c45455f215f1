"""What WARC files hold after something befell them."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.archive.cdxj import index_path
from sharc_crawler.archive.mending import is_sound, take_stock
from sharc_crawler.archive.options import Original, WarcOptions
from sharc_crawler.archive.recovery import recover
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.changes.digest import labelled_digest
from tests.archive.readback import INFO, page, read

PAGES = 6


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder's only file, and the places in it with their digests."""
    folder = tmp_path_factory.mktemp("made")
    places = {}
    with WarcWriter(folder, "example.org", "run1", INFO, WarcOptions(dedup="off")) as out:
        for number in range(PAGES):
            body = random.Random(number).randbytes(200)
            ref = out.write(page(body, started=100.0 + number))
            places[ref.file, ref.offset] = labelled_digest(body)
    (path,) = folder.glob("*.warc.gz")
    return path.name, path.read_bytes(), places


def folder_with(tmp_path_factory, name, text):
    folder = tmp_path_factory.mktemp("damaged")
    (folder / name).write_bytes(text)
    return folder


@pytest.mark.slow
@given(data=st.data())
def test_what_is_left_is_valid_lies_where_it_is_said_to_and_nothing_else_is_lost(tmp_path_factory, made, data):
    name, text, places = made
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    damaged = text[:start] + data.draw(st.sampled_from([b"", b"\0" * (end - start), bytes(end)])) + text[end:]
    folder = folder_with(tmp_path_factory, name, damaged)
    sound, stock = is_sound(folder, places), take_stock(folder, since=0.0)
    assert sound or damaged != text
    # What was inserted may move a record to where another one was: it is told by its digest.
    kept = {place for place in places if (held := stock.at(*place)) and held.digest == places[place]}
    if sound:  # nothing, or what no reader looks at: time and system in the head of a gzip member
        assert len(kept) == PAGES
        assert gzip.decompress(damaged) == gzip.decompress(text)
        return
    if len(damaged) == len(text):  # nothing moved: records that the damage did not touch are there
        ends = [*sorted(offset for _, offset in places)[1:], len(text)]
        whole = {place for place, stop in zip(sorted(places), ends, strict=True) if stop <= start or place[1] >= end}
        assert kept >= whole
    left = [one for path in folder.glob("*.warc.gz") for one in read(path) if one.kind == "response"]
    assert len(left) == len([one for one in stock.held[name].values() if one.kind == "response"])
    assert {stock.at(*place).digest for place in kept} <= {record["WARC-Payload-Digest"] for record in left}
    if left:
        assert gzip.decompress((folder / name).read_bytes())
    assert next(folder.glob("*.damaged")).read_bytes() == damaged


def test_a_revisit_record_goes_with_the_payload_that_it_refers_to(tmp_path):
    first = page(b"text", started=100.0)
    unchanged = replace(first, started=200.0, ended=200.5, response=b"HTTP/1.1 304 Not Modified\r\n\r\n")
    places = {}
    with WarcWriter(tmp_path, "example.org", "run1", INFO, WarcOptions(max_size=1)) as out:
        ref = out.write(first)
        digest = labelled_digest(b"text")
        for again in (
            out.write(replace(first, started=150.0, ended=150.5)),
            out.write_revisit(unchanged, Original(first.url, first.started, digest)),
            out.write_revisit(replace(unchanged, started=300.0), Original(first.url, 50.0, digest)),
        ):
            places[again.file, again.offset] = None
    assert is_sound(tmp_path, places)
    (tmp_path / ref.file).unlink()
    assert is_sound(tmp_path, places), "every byte is a record's"
    stock = take_stock(tmp_path, since=90.0)
    assert [stock.at(*place) is not None for place in places] == [False, False, False]


def test_what_former_captures_hold_may_be_referred_to(tmp_path):
    first = page(b"text", started=100.0)
    former = Original(first.url, 50.0, labelled_digest(b"text"), "<urn:uuid:1>")
    with WarcWriter(tmp_path, "example.org", "run1", INFO, WarcOptions(dedup="site"), former=lambda *_: former) as out:
        ref = out.write(first)
    assert take_stock(tmp_path, since=90.0).at(ref.file, ref.offset)
    assert take_stock(tmp_path, since=40.0).at(ref.file, ref.offset) is None


def two_files(folder):
    """Two WARC files with a visit each, and the places of these."""
    places = {}
    with WarcWriter(folder, "example.org", "run1", INFO, WarcOptions(max_size=1)) as out:
        for number in (1, 2):
            body = b"text %d" % number
            ref = out.write(page(body, started=100.0 * number))
            places[ref.file, ref.offset] = labelled_digest(body)
    return *sorted(folder.glob("*.warc.gz")), places


def test_a_file_that_is_empty_now_goes_and_so_does_its_index(tmp_path):
    first, second, places = two_files(tmp_path)
    second.write_bytes(b"")
    assert not is_sound(tmp_path, places)
    stock = take_stock(tmp_path, since=0.0)
    assert [bool(stock.at(*place)) for place in places] == [True, False]
    assert not list(tmp_path.glob(f"{second.name}*"))
    recover(tmp_path)
    assert list(tmp_path.glob("*.cdxj")) == [index_path(first)]


def test_a_file_that_another_was_put_over_holds_nothing(tmp_path):
    first, second, places = two_files(tmp_path)
    second.write_bytes(first.read_bytes())
    assert not is_sound(tmp_path, places)
    stock = take_stock(tmp_path, since=0.0)
    assert [bool(stock.at(*place)) for place in places] == [True, False]
    assert list(tmp_path.glob("*.warc.gz")) == [first], "its records would be there twice"
    assert list(tmp_path.glob("*.damaged")) == [tmp_path / f"{first.name}.damaged"], "beside what stays"


def test_where_nothing_is_left_what_was_there_has_no_name_of_a_warc_file(tmp_path):
    first, second, _ = two_files(tmp_path)
    for path in (first, second):
        path.write_bytes(bytes(99))
    take_stock(tmp_path, since=0.0)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(path.name.replace(".warc.gz", ".damaged") for path in (first, second))
