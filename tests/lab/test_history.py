from __future__ import annotations

import gzip
import math
import re
from codecs import BOM_UTF8
from pathlib import Path

import pytest

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.lab.history import SQLITE, HistorySpec, lifetimes, read_history
from sharc_crawler.lab.prospect import from_file
from tests.lab.small import HEADER, LINES, write_history, write_lines


def spec(path, **files):
    return HistorySpec(str(path), "/", 0.0, 10.0, **{name: str(file) for name, file in files.items()})


def test_a_window_of_a_history(tmp_path):
    site = spec(write_history(tmp_path)).build()
    assert site.name == "site"
    assert site.urls == ["/", "/a", "/b", "/c"]
    assert [row.tolist() for row in site.changes.rows] == [[2.0], [], [1.0], []]
    assert [row.tolist() for row in site.past.rows] == [[], [-50.0, -20.0], [], []]
    assert site.rates.tolist() == [0.1, 0.0, 0.1, 0.0]
    assert [site.lives.alive(page, 4.0) for page in range(4)] == [True, True, True, False]
    assert [site.lives.alive(page, 6.0) for page in range(4)] == [True, True, False, True]
    assert site.known == [0, 1, 2]  # without links, by name


def test_links_as_of_the_start_and_since(tmp_path):
    links = write_lines(tmp_path / "links.jsonl", [{"page": "/", "out": ["/a"]}])
    events = write_lines(tmp_path / "events.jsonl", [{"t": 3, "page": "/a", "st": "M", "add": ["/b"], "del": []}])
    site = spec(write_history(tmp_path), links=links, linkevents=events).build()
    assert site.known == [0, 1]
    assert site.graph.links(1, 2.9) == ()
    assert site.graph.links(1, 3.0) == (2,)


def test_links_are_found_beside_the_history(tmp_path):
    history = str(write_history(tmp_path))
    write_lines(tmp_path / "site.linkevents.jsonl", [{"t": 3, "page": "/a", "add": ["/b"], "del": []}])
    assert HistorySpec.beside(history, "/", 0.0, 10.0) == HistorySpec(history, "/", 0.0, 10.0), "of no known links"
    write_lines(tmp_path / "site.start.links.jsonl", [{"page": "/", "out": ["/a"]}])
    site = HistorySpec.beside(history, "/", 0.0, 10.0).build()
    assert (site.known, site.graph.links(1, 3.0)) == ([0, 1], (2,))


def test_a_window_may_begin_later(tmp_path):
    site = HistorySpec(str(write_history(tmp_path)), "/", 1.5, 4.0).build()
    assert site.changes.counts().tolist() == [1, 0, 0, 0]
    assert site.past.counts().tolist() == [0, 2, 1, 0]


def test_a_page_comes_back_with_its_next_change(tmp_path):
    lives = read_history(write_history(tmp_path, ["/,-9,1,1;2;7,,5", "/old,-99,0,,,3", "/gone,-99,0,,,"]))
    alive = lifetimes(lives).alive
    assert [alive(0, t) for t in (0, 1, 4, 5, 6, 7, 9)] == [True, False, False, True, True, False, False]
    assert [alive(1, t) for t in (0, 3)] == [False, True]  # deleted before the history begins
    assert not alive(2, 9)


def test_one_page_is_a_site(tmp_path):
    site = spec(write_history(tmp_path, ["/,-9,1,,,"])).build()
    assert site.known == [0]
    assert site.rates.tolist() == [0.0]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("/x,-9,1,,,9;3", "the times of changes are not in ascending order"),
        ("/x,-9,1,,5,3", "hist ends at 5, after the first of changes, 3"),
        ("/x,-9,2,,,", "alive_at_start='2'; it is 1 or 0"),
        ("/x,,1,,,", "created=''; it is one instant"),
        ("/x,-9,1,,,nan", "changes='nan'; instants are unix seconds"),
        ("/x,-9,1,,,soon", "changes='soon'; instants are unix seconds"),
        ("/x,-9", "2 of 6 columns"),
        ("/x,-9,1", "3 of 6 columns"),
        ("/x,-9,1,,,3,5", "7 of 6 columns"),
        ("/x,1766448000000,1,,,", "created='1766448000000'; instants are unix seconds"),
        ("/a,-9,1,,,", "page '/a' is listed twice"),
    ],
)
def test_lines_that_cannot_be(tmp_path, line, what):
    path = write_history(tmp_path, [*LINES, line])
    with pytest.raises(DataError, match=what) as caught:
        read_history(path)
    assert f"{path}, line 6" in str(caught.value)


def test_an_empty_site(tmp_path):
    with pytest.raises(DataError, match="the site has no pages"):
        read_history(write_history(tmp_path, []))


def test_missing_columns(tmp_path):
    with pytest.raises(DataError, match="no column hist, changes, of the 6 of a change history"):
        read_history(write_history(tmp_path, ["/,1,1,"], header="page,created,alive_at_start,deleted"))


def test_a_truncated_gzip(tmp_path):
    path = write_history(tmp_path)
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(DataError, match="cannot be read to its end"):
        read_history(path)


def test_a_damaged_gzip(tmp_path):
    path = write_history(tmp_path)
    path.write_bytes(damaged(path.read_bytes()))
    with pytest.raises(DataError, match="cannot be read to its end"):
        read_history(path)


def damaged(packed):
    """A gzip file whose data cannot be unpacked."""
    return packed[:20] + b"\xff" * (len(packed) - 28) + packed[-8:]


def test_a_name_may_hold_any_character_but_the_end_of_a_line(tmp_path):
    names = ["/\u2028a", "/b\x85", "/c\x0c"]
    history = write_history(tmp_path, ["/,-9,1,,,", *(f"{name},-9,1,,,3" for name in names)])
    assert [life.page for life in read_history(history)] == ["/", *names]
    links = tmp_path / "links.jsonl"
    links.write_text('{"page": "/", "out": ["/\u2028a", "/b\x85"]}\n', encoding="utf-8")
    assert spec(history, links=links).build().known == [0, 1, 2]


def test_another_encoding_is_said_so(tmp_path):
    path = write_history(tmp_path)
    path.write_bytes("page\n/é".encode("utf-16"))
    with pytest.raises(DataError, match="cannot be read to its end as UTF-8"):
        read_history(path)


def test_a_page_with_very_many_changes(tmp_path):
    changes = ";".join(f"{second}.000" for second in range(1_600_000_000, 1_600_010_000))
    (life,) = read_history(write_history(tmp_path, [f"/,-9,1,,,{changes}"]))
    assert len(life.changes) == 10_000


def test_a_store_of_observations_is_told_from_a_history(tmp_path):
    path = tmp_path / "history.db"
    path.write_bytes(SQLITE + bytes(99))
    with pytest.raises(DataError, match=r"holds observations, not a change history: `sharc rates SITE --history"):
        read_history(path)


def test_a_byte_order_mark_is_no_part_of_the_first_columns_name(tmp_path):
    path = write_history(tmp_path)
    path.write_bytes(gzip.compress(BOM_UTF8 + gzip.decompress(path.read_bytes())))
    assert [life.page for life in read_history(path)] == ["/", "/a", "/b", "/c"]
    assert from_file(path, now=0.0).urls == ["/", "/a", "/c"]


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "site.csv.gz"
    path.write_bytes(gzip.compress(b"\xff\xfe\xff"))
    with pytest.raises(DataError, match="cannot be read"):
        read_history(path)


def test_a_plain_file_will_do(tmp_path):
    path = tmp_path / "site.csv"
    path.write_text("\n".join([HEADER, *LINES]))
    assert len(read_history(path)) == 4


def test_a_last_line_that_may_have_been_cut(tmp_path):
    path = tmp_path / "site.csv"
    path.write_text("\n".join([HEADER, *LINES, "/d,-100,1,,,17674"]))
    with pytest.raises(DataError, match=r"site\.csv, line 6 ends amid its times, or wants a line break"):
        read_history(path)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        read_history(tmp_path / "no.csv")


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ({"page": "/", "out": ["/nowhere"]}, "'/nowhere' is no page of the change history"),
        ({"page": "/nowhere", "out": []}, "'/nowhere' is no page"),
        ({"page": "/"}, "an object with page, out is expected"),
        (["/"], "an object with page, out is expected"),
        ({"page": "/", "out": None}, "None is no list of pages"),
        ({"page": "/", "out": "/"}, "'/' is no list of pages"),
    ],
)
def test_links_that_cannot_be(tmp_path, entry, what):
    links = write_lines(tmp_path / "links.jsonl", [{"page": "/", "out": []}, entry])
    with pytest.raises(DataError, match=what) as caught:
        spec(write_history(tmp_path), links=links).build()
    assert "links.jsonl, line 2" in str(caught.value)


@pytest.mark.parametrize("text", ["{nonsense\n", "[" * 100_000])
def test_links_that_are_no_json(tmp_path, text):
    links = tmp_path / "links.jsonl"
    links.write_text(text)
    with pytest.raises(DataError, match="line 1: not JSON"):
        spec(write_history(tmp_path), links=links).build()


@pytest.mark.parametrize(
    ("events", "what"),
    [
        ([(5, "/"), (4, "/")], "t=4 comes after 5"),
        ([(5, "/nowhere")], "'/nowhere' is no page"),
        ([("x", "/")], "t='x'; it is an instant"),
        ([(math.nan, "/")], "t=nan; it is an instant"),
        ([(1_766_448_000_000, "/")], "t=1766448000000; it is an instant"),
        ([(10**400, "/")], "t=10+; it is an instant"),
    ],
)
def test_events_that_cannot_be(tmp_path, events, what):
    links = write_lines(tmp_path / "links.jsonl", [{"page": "/", "out": []}])
    lines = [{"t": time, "page": page, "add": [], "del": []} for time, page in events]
    linkevents = write_lines(tmp_path / "events.jsonl", lines)
    with pytest.raises(DataError, match=what):
        spec(write_history(tmp_path), links=links, linkevents=linkevents).build()


def test_windows_and_roots_that_cannot_be(tmp_path):
    path = str(write_history(tmp_path))
    with pytest.raises(UsageError, match="--window 1970-01-01T00:00:05Z 1970-01-01T00:00:05Z is empty"):
        HistorySpec(path, "/", 5.0, 5.0).build()
    with pytest.raises(UsageError, match="root='/nowhere' is no page"):
        HistorySpec(path, "/nowhere", 0.0, 5.0).build()
    with pytest.raises(UsageError, match=r"root='/c' is no page .* that exists when the window begins"):
        HistorySpec(path, "/c", 0.0, 5.0).build()


def test_the_line_that_the_docs_show_is_of_a_page_with_a_past(tmp_path):
    """Rates of the year before divide by the time since it was created."""
    docs = (Path(__file__).parents[2] / "docs" / "simulate.md").read_text(encoding="utf-8")
    shown = re.search(r"`(/news,[\d,;]+)`", docs)
    assert shown
    (page,) = read_history(write_history(tmp_path, [shown[1]]))
    assert page.created < page.hist[0] < page.hist[1] < page.changes[0]
