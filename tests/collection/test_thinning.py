"""What is thinned out, where bytes are damaged."""

from __future__ import annotations

import shutil

import pytest

from sharc_crawler.archive.cdxj import REVISIT, read_index
from sharc_crawler.collection import payloads as module
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.keeper import CollectionKeeper
from sharc_crawler.collection.payloads import is_whole, payloads
from sharc_crawler.collection.terms import FILE
from sharc_crawler.collection.thinning import thin
from sharc_crawler.storage.beside import open_state
from sharc_crawler.storage.folders import RUNNING
from sharc_crawler.storage.observations import ObservationStore

DAY = 86_400


@pytest.fixture
def twice(collected, tmp_path):
    """Its first capture twice, a day apart, before the second one, which needs neither; only the last is to stay."""
    kept = tmp_path / "kept"
    shutil.copytree(collected.collection.folder, kept)
    with (kept / FILE).open("a") as file:
        file.write("keep: {all: 1s}\n")
    first, second = Collection(kept).captures()
    shutil.rmtree(second.folder)
    again = Collection(kept).capture_folder(first.site, first.time + DAY)
    shutil.copytree(first.folder, again)
    return Collection(kept), first, again


def holders(folder):
    """The entries of its indexes that hold payloads."""
    found = (entry for index in sorted(folder.glob("*.cdxj")) for entry in read_index(index))
    return [entry for entry in found if entry.digest and entry.mime != REVISIT]


def lines(folder, changed):
    """Write its indexes anew, of what is made of each entry; None: that is left out."""
    for index in folder.glob("*.cdxj"):
        entries = [one for one in map(changed, read_index(index)) if one]
        index.write_text("".join(f"{one.line()}\n" for one in entries))


def test_what_another_capture_holds_too_is_removed(twice):
    collection, first, again = twice
    assert thin(collection, first.site, first.time + 9 * DAY) == [first.folder]
    assert again.is_dir()


def test_nothing_is_removed_while_a_capture_is_under_way_or_cut_off(twice):
    """What it refers to its index tells at its end; and it may refer to more."""
    collection, first, _ = twice
    under_way = collection.capture_folder("b.example", first.time + 2 * DAY)
    under_way.mkdir(parents=True)
    (under_way / RUNNING).touch()
    assert thin(collection, first.site, first.time + 9 * DAY) == []
    (under_way / RUNNING).unlink()
    assert thin(collection, first.site, first.time + 9 * DAY) == [first.folder]


def test_the_only_whole_copy_of_a_payload_is_never_removed(twice):
    collection, first, again = twice
    entry = holders(again)[0]
    warc = again / entry.file
    data = bytearray(warc.read_bytes())
    data[entry.offset + entry.length // 2] ^= 4  # its length stays
    warc.write_bytes(data)
    assert (entry.digest, (warc, entry.offset)) in payloads(again), "by its index"
    assert thin(collection, first.site, first.time + 9 * DAY) == []
    assert first.folder.is_dir()


def test_a_capture_whose_files_are_away_stays_until_they_are_back(twice):
    """It holds nothing meanwhile, and others may refer to what is in these."""
    collection, first, _ = twice
    warc = first.folder / holders(first.folder)[0].file
    data = warc.read_bytes()
    for there in (None, data[:100]):
        warc.unlink() if there is None else warc.write_bytes(there)
        assert thin(collection, first.site, first.time + 9 * DAY) == []
    warc.write_bytes(data)
    assert thin(collection, first.site, first.time + 9 * DAY) == [first.folder]


@pytest.mark.parametrize("away", ["nothing", "the index", "both"])
def test_what_a_capture_refers_to_stays_though_its_files_are_away(collected, tmp_path, away):
    """Where it has no index its WARC file says the same; without both nobody knows what it needs."""
    shutil.copytree(collected.collection.folder, tmp_path / "kept")
    with (tmp_path / "kept" / FILE).open("a") as file:
        file.write("keep: {all: 1s}\n")
    collection = Collection(tmp_path / "kept")
    first, second = collection.captures()
    shutil.copytree(first.folder, collection.capture_folder(first.site, first.time + 60))
    for suffix in {"nothing": (), "the index": (".cdxj",), "both": (".cdxj", ".warc.gz")}[away]:
        for file in second.folder.glob(f"*-00000-*{suffix}"):
            file.unlink()
    assert thin(collection, first.site, first.time + 9 * DAY) == []


def test_a_record_of_another_payload_is_no_copy(twice):
    collection, first, again = twice
    one, other = holders(again)[:2]
    lines(again, lambda entry: entry._replace(offset=other.offset, length=other.length) if entry == one else entry)
    assert (one.digest, (again / one.file, other.offset)) in payloads(again), "by its index"
    assert thin(collection, first.site, first.time + 9 * DAY) == []


def test_digests_that_have_one_code_are_told_apart(twice, monkeypatch):
    collection, first, again = twice
    monkeypatch.setattr(module, "code", lambda _: 7)
    index = sorted(again.glob("*.cdxj"))
    before = [one.read_text() for one in index]
    one = holders(again)[0]
    lines(again, lambda entry: None if entry.digest == one.digest else entry)
    assert thin(collection, first.site, first.time + 9 * DAY) == [], "nobody else has it"
    for path, text in zip(index, before, strict=True):
        path.write_text(text)
    assert thin(collection, first.site, first.time + 9 * DAY) == [first.folder]


@pytest.mark.parametrize("alike", [False, True])
def test_what_a_capture_refers_to_stays_though_another_one_holds_it_too(twice, monkeypatch, alike):
    collection, first, again = twice
    if alike:
        monkeypatch.setattr(module, "code", lambda _: 7)
    shutil.copytree(again, collection.capture_folder("b.example", first.time))
    one = holders(again)[0]
    lines(again, lambda entry: entry._replace(mime=REVISIT) if entry.digest == one.digest else entry)
    assert thin(collection, first.site, first.time + 9 * DAY) == []


def test_a_capture_that_lies_elsewhere_stays(twice, tmp_path):
    collection, first, again = twice
    elsewhere = shutil.move(first.folder, tmp_path / "elsewhere")
    first.folder.symlink_to(elsewhere)
    first.folder.with_name(f".{first.folder.name}.removing").symlink_to(elsewhere)  # as one that was being removed
    assert thin(collection, first.site, first.time + 9 * DAY) == []
    assert (first.folder / "report.json").exists()
    assert again.is_dir()


def test_what_is_in_the_way_of_thinning_keeps_no_site_from_its_captures(twice):
    collection, first, _ = twice
    collection.history.write_bytes(b"garbage" * 999)
    said = []
    CollectionKeeper(collection.folder, 1, said.append)._record_result(first.site, 0)
    assert any(one.startswith(f"{first.site}: former captures are not thinned out: ") for one in said), said


@pytest.mark.parametrize("over", [False, True])
def test_what_a_capture_that_begins_meanwhile_may_refer_to_stays(twice, monkeypatch, over):
    """It asks the history, from which what is to go is gone before anybody looks whether one has begun."""
    collection, first, again = twice
    under_way = collection.capture_folder("b.example", first.time + 2 * DAY)

    def begin(place, digest):
        if not under_way.exists():
            shutil.copytree(again, under_way)
            if not over:
                (under_way / RUNNING).touch()
        return is_whole(place, digest)

    monkeypatch.setattr(module, "is_whole", begin)
    assert thin(collection, first.site, first.time + 9 * DAY) == []
    assert first.folder.is_dir()
    with ObservationStore(collection.history) as history, open_state(first.folder) as state:
        (row,) = state.captures().values()
        digests = {digest for digest, place in payloads(first.folder) if place}
        assert digests and not any(history.payload(row.spec.site, digest, chunked=False) for digest in digests)
