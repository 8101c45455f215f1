"""What captures hold and need: by codes of digests, which may be the same for two."""

from __future__ import annotations

import tracemalloc

import pytest

from sharc_crawler.archive.cdxj import REVISIT, IndexEntry
from sharc_crawler.collection import payloads as module
from sharc_crawler.collection.payloads import Holding, is_spare, payloads

MANY = 4_000


def entry(digest, offset=0, mime="text/html"):
    return IndexEntry("http://a.example/", "20261123000000", mime, "200", digest, offset, 9, "a.warc.gz")


@pytest.fixture
def made(tmp_path):
    """Makes a capture of an index and as many bytes."""

    def make(name, entries):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.cdxj").write_text("".join(f"{one.line()}\n" for one in entries))
        (folder / "a.warc.gz").write_bytes(bytes(9 * len(entries)))
        return folder

    return make


def test_what_only_an_index_is_left_of_is_no_holder(made):
    folder = made("one", [entry("sha1:A")])
    warc = folder / "a.warc.gz"
    assert list(payloads(folder)) == [("sha1:A", (warc, 0))]
    warc.write_bytes(b"12345678")
    assert list(payloads(folder)) == [], "cut off"
    warc.unlink()
    assert list(payloads(folder)) == []


@pytest.mark.parametrize("alike", [False, True])
def test_what_a_capture_holds_itself_it_does_not_need_whatever_codes_are(made, monkeypatch, alike):
    if alike:
        monkeypatch.setattr(module, "code", lambda _: -7)
    own = made(
        "own", [entry("sha1:B", mime=REVISIT), entry("sha1:A"), entry("sha1:A", mime=REVISIT), entry("sha1:B", 9)]
    )
    assert len(Holding(own).held) == 2
    assert len(Holding(own).needed) == 0
    other = made("other", [entry("sha1:A"), entry("sha1:C", mime=REVISIT)])
    assert Holding(other).needed.tolist() == [module.code("sha1:C")]


def test_a_capture_that_changed_since_it_was_read_is_not_spare(made, monkeypatch):
    """Its disk has gone, for example: what it holds cannot be told any more."""
    monkeypatch.setattr(module, "is_whole", lambda *_: True)
    holdings = {folder: Holding(folder) for folder in (made("one", [entry("sha1:A")]), made("two", [entry("sha1:A")]))}
    one, _ = holdings
    assert is_spare(one, holdings)
    (one / "a.warc.gz").unlink()
    assert not is_spare(one, holdings)


def test_no_copy_is_read_where_one_payload_has_none(made, monkeypatch):
    read = []
    monkeypatch.setattr(module, "is_whole", lambda place, digest: read.append(place) or True)
    one = made("one", [entry("sha1:A"), entry("sha1:B", 9)])
    holdings = {folder: Holding(folder) for folder in (one, made("two", [entry("sha1:A")]))}
    assert not is_spare(one, holdings)
    assert read == []


def test_a_payload_is_held_in_few_bytes(made):
    folder = made("many", [entry(f"sha1:{number:032}", number) for number in range(MANY)])
    Holding(folder)
    tracemalloc.start()
    try:
        one = Holding(folder)
        left, height = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(one.held) == MANY
    assert left / MANY < 24
    assert height / MANY < 300  # the digests of one capture, while its index is read
