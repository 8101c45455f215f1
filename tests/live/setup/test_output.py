"""The output folder before a capture."""

from __future__ import annotations

import logging

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.live.setup.places import check_state
from sharc_crawler.storage.opening import begin_state


def test_what_lies_in_the_folder_of_a_new_capture_is_told(tmp_path, caplog):
    full, fresh, ranked = tmp_path / "full", tmp_path / "fresh", tmp_path / "ranked"
    full.mkdir()
    ranked.mkdir()
    (ranked / "seeds.json").touch()  # the crawl's own choice
    for name in (".hidden", "a.txt", "b.txt", "c.txt", "notes"):
        (full / name).touch()
    with caplog.at_level(logging.WARNING):
        check_state(fresh)
        check_state(ranked)
        check_state(full)
        fresh.mkdir()
        begin_state(fresh, "sqlite").close()
        (fresh / "crawl.jsonl").touch()
        check_state(fresh)
    (said,) = caplog.messages
    assert said.startswith(f"Folder {full} holds other files (a.txt, b.txt, c.txt and 1 more): they stay")


def test_a_collection_is_no_folder_for_a_capture(tmp_path):
    """It would lie beside the others', and no command on the collection would know of it."""
    folder = tmp_path / "the news"
    folder.mkdir()
    (folder / "collection.yaml").write_text("sites: [{url: http://127.0.0.1/}]")
    with pytest.raises(UsageError, match=r"is a collection: give -a collection='.*the news' instead"):
        check_state(folder)
