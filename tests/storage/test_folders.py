"""Which folders a crawl's folder holds."""

from __future__ import annotations

import json

import pytest

from sharc_crawler.errors import DataError
from sharc_crawler.storage.folders import SITES, capture_folders, site_folders
from sharc_crawler.storage.gathered import folders_text, moved_sites


def test_one_captures_folder_is_itself(tmp_path):
    assert site_folders(tmp_path) is None
    assert capture_folders(tmp_path) == [tmp_path]
    assert site_folders(tmp_path / "missing") is None


def test_of_several_those_are_there_that_were_not_moved(tmp_path):
    (tmp_path / SITES).write_text(folders_text({"a.example": "a.example", "b.example:80": "b-80"}))
    assert json.loads((tmp_path / SITES).read_text())["version"] == 1
    (tmp_path / "b-80").mkdir()
    assert site_folders(tmp_path) == {"a.example": tmp_path / "a.example", "b.example:80": tmp_path / "b-80"}
    assert capture_folders(tmp_path) == [tmp_path / "b-80"]
    assert moved_sites(tmp_path) == ["a.example"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"folders": ["a"]}', '{"folders": {"a": 1}}'])
def test_a_file_that_names_no_folders_is_said(tmp_path, text):
    (tmp_path / SITES).write_text(text)
    with pytest.raises(DataError, match="does not name the folders of sites"):
        site_folders(tmp_path)
