"""Which captures lie below a folder that is none itself."""

from __future__ import annotations

import pytest

from sharc_crawler.storage.folders import SITES
from sharc_crawler.storage.gathered import COLLECTION, DEEPEST, folders_text, gathered, is_collection


def is_capture(folder) -> bool:
    return (folder / "capture").exists()


@pytest.fixture
def made(tmp_path):
    def make(path: str, *names: str) -> None:
        (tmp_path / path).mkdir(parents=True, exist_ok=True)
        for name in names:
            (tmp_path / path / name).touch()

    return make


def found(folder, **more) -> list[str]:
    return [str(one.relative_to(folder)) for one in gathered(folder, is_capture, **more)]


def test_captures_and_collections_in_the_order_of_their_names_and_nothing_within_them(tmp_path, made):
    made("b/2", "capture")
    made("b/1", "capture")
    made("a", "capture")
    made("a/inner", "capture")  # belongs to it
    made("c", COLLECTION)
    made("c/inner", "capture")
    made("d/nothing")
    made(".", "a-file")
    assert found(tmp_path) == ["a", "b/1", "b/2", "c"]
    assert is_collection(tmp_path / "c")
    assert not is_collection(tmp_path / "a")


def test_a_crawl_of_several_sites_is_its_sites_captures(tmp_path, made):
    made("crawl/x", "capture")
    made("crawl/y")  # begun, and nothing was captured
    (tmp_path / "crawl" / SITES).write_text(folders_text({"x": "x", "y": "y", "moved": "z"}))
    assert found(tmp_path) == ["crawl/x"]


def test_it_looks_so_many_folders_down_and_follows_no_link(tmp_path, made):
    deepest, deeper = "/".join("1234"[:DEEPEST]), "/".join(["deep", *"1234"[:DEEPEST]])
    made(deepest, "capture")
    made(deeper, "capture")
    (tmp_path / "link").symlink_to(tmp_path / "1")
    assert found(tmp_path) == [deepest]
    assert found(tmp_path, down=1) == []
    made("0", "capture")
    assert found(tmp_path, down=1) == ["0"]
