from __future__ import annotations

import json
import os
import shutil
import time

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.search import TEXTS, bring_up
from sharc_crawler.errors import DataError
from sharc_crawler.storage.texts import TextIndex


@pytest.fixture
def copied(collected, tmp_path):
    shutil.copytree(collected.collection.folder, tmp_path / "kept")
    return Collection(tmp_path / "kept")


def search(collection, *words):
    found = CliRunner().invoke(main, ["search", str(collection.folder), *words, "--json"])
    assert found.exit_code == 0, found.output
    return [json.loads(line) for line in found.stdout.splitlines()]


def pages(collection, *words):
    return [one["url"].rpartition("/")[2] for one in search(collection, *words)]


def test_copies_before_their_text_by_date_are_found(copied):
    """The clock was set back between the two captures."""
    first, _ = (one.folder for one in copied.captures())
    first.rename(copied.capture_folder(first.parent.name, time.time()))
    assert search(copied, "old lighthouse")[0]["captures"] == 2


def test_a_folder_that_nobody_can_write_to_is_searched_all_the_same(copied, monkeypatch):
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    found = CliRunner().invoke(main, ["search", str(copied.folder), "lighthouse", "--json"])
    assert "cannot be written to: the index is made for this search alone" in found.stderr
    assert found.stdout.count('"Tides"') == 1
    assert not (copied.folder / TEXTS).exists()


def test_pages_are_found_by_what_a_reader_sees(copied):
    (tides,) = search(copied, "old lighthouse", "NINE")
    assert tides["title"] == "Tides"
    assert tides["snippet"] == "High water at nine, says the old lighthouse."
    assert tides["captures"] == 2, "its payload is stored in the first capture alone"
    assert tides["replay"].endswith(f"/{tides['url']}")
    assert tides["first"] < tides["last"]
    assert pages(copied, "mowe") == ["new.html"], "without its dots, too"
    assert pages(copied, "kitti*") == ["new.html"]
    assert pages(copied, "lighthouse old") == [], "several words in one are in a row"
    (front,) = search(copied, "harbour")
    assert (front["captures"], len(front["texts"])) == (2, 2), "two texts of one page: it is listed once"
    assert [text["last"] for text in front["texts"]] == [front["last"], front["first"]]
    assert front["replay"] == front["texts"][0]["replay"]
    told = CliRunner().invoke(main, ["search", str(copied.folder), "harbour"]).stdout
    assert told.count("Harbour tides") == 1
    assert told.count("127.0.0.1:8090") == 2
    assert pages(copied, "albatross") == [], "a script is no text"


def test_by_time_and_site(copied):
    (both,) = search(copied, "lighthouse")
    day = both["last"][:10]
    assert search(copied, "lighthouse", "--to", "2001") == []
    assert search(copied, "lighthouse", "--from", day, "--to", day)[0]["last"] == both["last"]
    (name,) = copied.names()
    assert search(copied, "lighthouse", "--site", name) == [both]
    wrong = CliRunner().invoke(main, ["search", str(copied.folder), "x", "--site", name[:-1]])
    assert (wrong.exit_code, name in wrong.stderr) == (2, True)
    wrong = CliRunner().invoke(main, ["search", str(copied.folder), "x", "--from", "monday"])
    assert (wrong.exit_code, "write 2026, 2026-11" in wrong.stderr) == (2, True)
    wrong = CliRunner().invoke(main, ["search", str(copied.folder), '"*'])
    assert (wrong.exit_code, "no letter or digit" in wrong.stderr) == (2, True)


def test_only_what_is_new_is_read_and_what_is_gone_is_left_out(copied):
    newest = list(copied.captures())[-1].folder
    shutil.move(newest, copied.folder / "aside")
    assert pages(copied, "kittiwake") == []
    shutil.move(copied.folder / "aside", newest)
    read = []
    with TextIndex(copied.folder / TEXTS) as index:
        assert bring_up(copied, index, lambda done, of: read.append(of)) == []
        assert read == [len(list(newest.glob("*.cdxj")))] * len(list(newest.glob("*.cdxj")))
        assert bring_up(copied, index, lambda done, of: read.append(of)) == []
    assert read == read[: len(list(newest.glob("*.cdxj")))]
    assert pages(copied, "kittiwake") == ["new.html"]
    shutil.rmtree(newest)
    assert pages(copied, "kittiwake") == []
    assert search(copied, "lighthouse")[0]["captures"] == 1


def test_a_missing_warc_is_named_and_read_once_it_is_back(copied):
    newest = list(copied.captures())[-1].folder
    lost = [path for path in newest.glob("*.warc.gz") if path.stat().st_size > 0]
    for path in lost:
        path.rename(path.with_suffix(".away"))
    found = CliRunner().invoke(main, ["search", str(copied.folder), "kittiwake", "--json"])
    assert (found.exit_code, found.stdout) == (0, "")
    assert f"left out: {newest}" in found.stderr
    assert "No such file" in found.stderr
    for path in lost:
        path.with_suffix(".away").rename(path)
    assert pages(copied, "kittiwake") == ["new.html"]


def test_what_is_no_index_is_left_alone(tmp_path):
    (tmp_path / TEXTS).write_text("my shopping list, of some length and of no interest to anybody else but me")
    with pytest.raises(DataError, match="no text index of this version; remove it"):
        TextIndex(tmp_path / TEXTS)


@pytest.mark.parametrize("between", [("--from", "2026-13"), ("--to", "2026-02-30"), ("--from", "2027", "--to", "2026")])
def test_dates_that_there_are_not_are_refused(between, tmp_path):
    (tmp_path / "collection.yaml").write_text("sites: [https://a.example/]\n")
    done = CliRunner().invoke(main, ["search", str(tmp_path), "x", *between])
    assert (done.exit_code, between[0] in done.output) == (2, True)
