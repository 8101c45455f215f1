"""WARC files in a real S3-compatible server: what counts is there; what a dead owner left is made whole."""

from __future__ import annotations

import gzip
import socket

import pytest

from sharc_crawler.archive.cdxj import read_index
from sharc_crawler.archive.delivery import deliver, fetch
from sharc_crawler.archive.files import OPEN
from sharc_crawler.archive.mirror import Mirror, end_of, parts_of, seal
from sharc_crawler.archive.objects import ObjectFolder
from sharc_crawler.archive.options import WarcOptions
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.archive.warc_names import index_path
from sharc_crawler.errors import DataError, Superseded, UsageError
from sharc_crawler.testing.writers import INFO, page
from tests.object_store import CREDENTIALS


def caught_up(mirror):
    mirror.synced()
    for due in mirror.due():
        mirror.put(due)


def read(folder, ref):
    with (folder / ref.file).open("rb") as stream:
        stream.seek(ref.offset)
        return gzip.decompress(stream.read(ref.length))


@pytest.mark.slow
def test_what_was_synced_is_there_and_a_finished_file_is_one_object(server, tmp_path):
    objects = ObjectFolder(server.url("grows"))
    writer = WarcWriter(tmp_path, "a.example", "e7", INFO)
    refs = [writer.write(page(b"first"))]
    writer.sync()
    mirror = Mirror(tmp_path, objects)
    caught_up(mirror)
    refs.append(writer.write(page(b"second")))
    writer.sync()
    caught_up(mirror)
    assert mirror.due() == []
    ((name, parts),) = parts_of(objects.names()).items()
    size = (tmp_path / (name + OPEN)).stat().st_size
    assert len(parts) == 2
    assert end_of(parts) == size
    assert b"".join(map(objects.get, parts)) == (tmp_path / (name + OPEN)).read_bytes()
    writer.close()
    caught_up(mirror)
    assert objects.names() == {name: size, index_path(tmp_path / name).name: index_path(tmp_path / name).stat().st_size}
    assert {ref.file for ref in refs} == {name}


@pytest.mark.slow
def test_a_dead_owners_file_is_sealed_and_what_counts_is_in_it(server, tmp_path):
    objects = ObjectFolder(server.url("dies"))
    first, second = tmp_path / "first", tmp_path / "second"
    writer = WarcWriter(first, "a.example", "e7", INFO)
    refs = [writer.write(page(b"%d" % number, url=f"http://a.example/{number}")) for number in range(3)]
    writer.sync()
    caught_up(Mirror(first, objects))
    ((name, parts),) = parts_of(objects.names()).items()
    objects.put(f"{name}.part-{end_of(parts):012d}", b"\x1f\x8b\x08torn")  # of an exchange that was under way
    second.mkdir()
    counted = {name: refs[-1].offset + refs[-1].length}
    with pytest.raises(DataError, match="count"):
        seal(objects, second, {name: 10**9}, 8)
    (path,) = seal(objects, second, counted, 8)
    assert [read(second, ref) for ref in refs] == [read(first, ref._replace(file=name + OPEN)) for ref in refs]
    assert [entry.url for entry in read_index(index_path(path))] == [f"http://a.example/{n}" for n in range(3)]
    assert set(objects.names()) == {name, index_path(path).name}
    assert seal(objects, second, counted, 8) == []
    went_on = WarcWriter(second, "a.example", "e8", INFO)  # the next owner has files of its own
    assert went_on.write(page(b"next")).file != name
    went_on.close()
    writer.close()


@pytest.mark.slow
def test_a_file_that_its_next_owner_sealed_is_not_written_again_by_the_former_one(server, tmp_path):
    objects, first, second = ObjectFolder(server.url("slow")), tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    writer = WarcWriter(first, "a.example", "r1", INFO)
    writer.write(page(b"one"))
    writer.sync()
    mirror = Mirror(first, objects)
    caught_up(mirror)
    [sealed] = seal(objects, second, {}, 8)
    writer.write(page(b"two"))  # the former owner knows nothing of it
    writer.close()
    mirror.synced()
    with pytest.raises(FileExistsError, match=r"/slow/a.example-.* was finished by another process"):
        mirror.put(next(due for due in mirror.due() if due.name == sealed.name))
    assert objects.size(sealed.name) == sealed.stat().st_size
    assert objects.size("nothing") is None


def test_files_are_followed_by_others_and_a_folder_comes_back_as_it_was(server, tmp_path):
    objects, here, back = ObjectFolder(server.url("whole")), tmp_path / "here", tmp_path / "back"
    writer = WarcWriter(here, "a.example", "e1", INFO, WarcOptions(max_size=2000))
    mirror = Mirror(here, objects)
    for number in range(6):
        writer.write(page(b"%d" % number * 50))
        writer.sync()
        caught_up(mirror)
    writer.close()
    caught_up(mirror)
    (here / "report.json").write_text("{}")
    (here / "part").mkdir()
    (here / "part" / "crawl.jsonl").write_text("")
    assert deliver(here, objects) == 2
    assert len(list(here.glob("*.warc.gz"))) > 1
    names = {path.relative_to(here) for path in here.rglob("*") if path.is_file()}
    assert fetch(objects, back) == len(names)
    assert {path.relative_to(back) for path in back.rglob("*") if path.is_file()} == names
    assert all((back / name).read_bytes() == (here / name).read_bytes() for name in names)
    assert fetch(objects, back) == 2, "what never changes is not got again"


class Memory(dict):
    """An object store, as far as a folder is put into it."""

    def names(self):
        return {name: len(data) for name, data in self.items()}

    def put_file(self, name, path):
        self[name] = path.read_bytes()


def test_what_an_old_owner_puts_late_does_not_count(tmp_path):
    """A certificate's file has the same name and size, whoever makes it."""
    (tmp_path / "a-00000.warc.gz").write_bytes(b"kept")
    (tmp_path / "a-00001.warc.gz").write_bytes(b"mine")
    objects = Memory({"a-00000.warc.gz": b"kept"})
    there = objects.names()
    objects["a-00001.warc.gz"] = b"late"
    assert deliver(tmp_path, objects, there) == 1
    assert objects["a-00001.warc.gz"] == b"mine"


def test_whoever_may_put_nothing_any_more_puts_nothing(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.json").write_text("mine")
    asked = []

    def check():
        asked.append(1)
        if len(asked) > 1:
            raise Superseded("it is another worker's")

    objects = Memory()
    with pytest.raises(Superseded):
        deliver(tmp_path, objects, check=check)
    assert list(objects) == ["0.json"]


def test_a_file_that_is_not_finished_is_fetched_up_to_its_last_whole_record(server, tmp_path):
    objects, here, back = ObjectFolder(server.url("site/unfinished")), tmp_path / "here", tmp_path / "back"
    writer = WarcWriter(here, "a.example", "e1", INFO)
    ref = writer.write(page(b"text"))
    writer.sync()
    caught_up(Mirror(here, objects))
    assert fetch(ObjectFolder(server.url("site")), back) == 1
    assert read(back / "unfinished", ref).endswith(b"text\r\n\r\n")
    assert parts_of(objects.names()), "the store is as it was"
    writer.close()


def test_a_store_that_cannot_be_used_is_named(server, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="s3://bucket/folder"):
        ObjectFolder("s3://")
    with pytest.raises(UsageError, match="nonsense"):
        ObjectFolder("nonsense://x/y")
    with pytest.raises(OSError, match="s3://none/x"):
        ObjectFolder("s3://none/x").put("a", b"")


def test_a_store_that_never_answers_is_not_waited_for_for_ever(monkeypatch):
    """It has the head of the request and says nothing: the library waits for leave to send the body, unbounded."""
    s3fs = pytest.importorskip("s3fs")
    monkeypatch.setattr("sharc_crawler.archive.objects.LONGEST", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{silent.getsockname()[1]}"}.items():
            monkeypatch.setenv(name, value)
        s3fs.S3FileSystem.clear_instance_cache()
        with pytest.raises(OSError, match="s3://bucket/x/name"):
            ObjectFolder("s3://bucket/x").put("name", b"body")
        s3fs.S3FileSystem.clear_instance_cache()
