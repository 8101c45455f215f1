"""The words of archived pages: what is found, of which copies, and what becomes of a file that is none of ours."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from sharc_crawler.errors import DataError, StoreFull, StoreUnavailable, UsageError
from sharc_crawler.storage.texts import END, START, PageCopy, PageText, TextIndex, TextSource

TIDES = PageCopy("sha1:A", "http://a.org/", "20261118110640", PageText("Tides", "High water at nine."))
FIRST, SECOND = TextSource("a.org", "a.org/1", "1.cdxj"), TextSource("a.org", "a.org/2", "2.cdxj")
THIRD = TextSource("b.org", "b.org/1", "3.cdxj")


def test_a_text_whose_last_copy_was_left_out_is_found_once_there_is_one_again():
    with TextIndex(":memory:") as index:
        for source in (FIRST, SECOND):
            index.add(source, [TIDES], lambda: 9)
            assert [hit.url for hit in index.search(["water"])] == ["http://a.org/"]
            index.forget([source.name])
            assert (index.search(["water"]), index.digests(), dict(index.known())) == ([], set(), {})


def test_what_is_closed_is_let_go_of(tmp_path):
    with TextIndex(tmp_path / "texts.db") as index:
        index.add(FIRST, [TIDES], lambda: 9)
    with pytest.raises(StoreUnavailable, match="closed"):
        index.search(["water"])


def filled(index: TextIndex) -> TextIndex:
    """One text in two captures of a site and one of another; a second one, once."""
    again = TIDES._replace(time="20271118110640", text=None)  # known by its digest
    ebb = PageCopy("sha1:B", "http://a.org/ebb", "20261119", PageText("Ebb", "No water, no boats, no boats at all."))
    index.add(FIRST, [TIDES, ebb], lambda: 9)
    index.add(SECOND, [again, again, PageCopy("sha1:?", "http://a.org/x", "2027", None)], lambda: 7)
    index.add(THIRD, [again._replace(url="http://b.org/")], lambda: 5)
    return index


def test_a_hit_tells_site_copies_and_captures_of_one_text_and_where_the_words_are():
    with filled(TextIndex(":memory:")) as index:
        found = {(hit.site, hit.url): hit for hit in index.search(["water"])}
        assert found.keys() == {("a.org", "http://a.org/"), ("a.org", "http://a.org/ebb"), ("b.org", "http://b.org/")}
        hit = found["a.org", "http://a.org/"]
        assert (hit.title, hit.first, hit.last, hit.captures) == ("Tides", "20261118110640", "20271118110640", 2)
        assert hit.snippet == f"High {START}water{END} at nine."
        assert dict(index.known()) == {"1.cdxj": 9, "2.cdxj": 7, "3.cdxj": 5}
        assert index.digests() == {"sha1:A", "sha1:B"}


@pytest.mark.parametrize(
    ("asked", "urls"),
    [
        ({"site": "b.org"}, ["http://b.org/"]),
        ({"site": "c.org"}, []),
        ({"until": "20261119"}, ["http://a.org/"]),
        ({"since": "20261119", "until": "2027"}, ["http://a.org/ebb"]),
        ({"since": "2027", "site": "a.org"}, ["http://a.org/"]),
        ({"since": "2028"}, []),
        ({"most": 0}, []),
    ],
)
def test_what_is_asked_for_bounds_what_is_found(asked, urls):
    with filled(TextIndex(":memory:")) as index:
        assert [hit.url for hit in index.search(["water"], **asked)] == urls
        assert len(index.search(["water"], most=2)) == 2


def test_twenty_hits_are_shown_unless_more_are_asked_for():
    with TextIndex(":memory:") as index:
        index.add(FIRST, [TIDES._replace(url=f"http://a.org/{number}") for number in range(21)], lambda: 9)
        assert [len(index.search(["water"], **most)) for most in ({}, {"most": 30})] == [20, 21]


def test_a_source_that_is_read_again_takes_the_place_of_what_it_said():
    with filled(TextIndex(":memory:")) as index:
        index.add(FIRST, [TIDES], lambda: 11)
        assert [hit.url for hit in index.search(["boats"])] == []
        assert dict(index.known())["1.cdxj"] == 11


def test_a_source_is_added_whole_or_not_at_all_and_the_index_goes_on():
    def broken():
        yield TIDES._replace(url="http://a.org/half")
        raise OSError("the file ends here")

    with filled(TextIndex(":memory:")) as index:
        before = index.search(["water"]), dict(index.known())
        with pytest.raises(OSError, match="ends here"):
            index.add(TextSource("a.org", "a.org/4", "4.cdxj"), broken(), lambda: 1)
        assert (index.search(["water"]), dict(index.known())) == before
        index.forget(["3.cdxj"])
        assert "http://b.org/" not in [hit.url for hit in index.search(["water"])]


def test_nothing_to_look_for_is_said():
    with filled(TextIndex(":memory:")) as index, pytest.raises(UsageError, match=r"words='\? \*' holds no letter"):
        index.search(["?", "*"])


@pytest.mark.parametrize(("content", "why"), [("letters", "not a database"), ("version", "it is of version 99")])
def test_a_file_that_is_no_index_is_named_with_the_way_out(tmp_path, content, why):
    path = tmp_path / "texts.db"
    if content == "version":
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA user_version = 99")
    else:
        path.write_bytes(b"somebody's letters, which are long enough " * 30)
    with pytest.raises(DataError, match=rf"{path} is no text index of this version; remove it.*{why}"):
        TextIndex(path)


def test_a_full_disk_is_said_with_the_way_out(tmp_path, monkeypatch):
    def full(*_):
        raise StoreFull("text index: disk full")

    monkeypatch.setattr(TextIndex, "_make", full)
    with pytest.raises(DataError, match=r"^text index: disk full: its disk is full or fails\. Once that is mend"):
        TextIndex(tmp_path / "texts.db")


def test_a_file_that_cannot_be_opened_is_not_said_to_be_none(tmp_path):
    with TextIndex(tmp_path / "texts.db"):
        pass
    (tmp_path / "texts.db-wal").mkdir()
    with pytest.raises(DataError, match="unable to open database file: its disk is full or fails"):
        TextIndex(tmp_path / "texts.db")


def test_an_index_is_opened_again_with_what_it_holds(tmp_path):
    with filled(TextIndex(tmp_path / "texts.db")):
        pass
    with TextIndex(tmp_path / "texts.db") as index:
        assert len(index.search(["water"])) == 3
