"""What was seen of pages, in columns: what is put in comes out, in bytes a page."""

from __future__ import annotations

import tracemalloc

import pytest

from sharc_crawler.evidence.lastmods import Download, Lastmod
from sharc_crawler.evidence.rows_by_page import Downloads, FewByPage, Lastmods

ALL = Download(1.25, 2.5, 3.0, "sha1:A", 4.0, "text", 5.5, former=True)


def test_each_page_has_its_rows_in_the_order_they_came():
    said = [Lastmod(9.0, 1.0, 2.0), Lastmod(10.0, 1.0, 2.0), Lastmod(11.0, 8.0, 9.0)]
    rows = Lastmods()
    for page, one in ((5, said[0]), (2, said[1]), (5, said[2])):
        rows.add(page, one)
    assert dict(rows) == {2: [said[1]], 5: [said[0], said[2]]}
    assert len(rows) == 2
    assert 3 not in rows
    assert -1 not in rows
    with pytest.raises(KeyError):
        rows[3]
    rows[5] = [said[1]]
    assert rows[5] == [said[1]]
    assert len(rows) == 2
    del rows[5]
    assert list(rows) == [2]


@pytest.mark.parametrize(
    "one",
    [
        ALL,
        Download(1.0, 2.0, None),
        ALL._replace(former=False, away=True, modified=None),
        ALL._replace(digest=None),
        ALL._replace(content=None, age=0.0),
    ],
)
def test_a_download_comes_out_as_it_went_in(one):
    downloads = Downloads()
    downloads.add(0, ALL)
    downloads.add(0, one)
    assert downloads[0] == [ALL, one]


def test_equal_values_are_one_and_each_page_keeps_its_own():
    values = FewByPage([(4, "a"), (1, "b")])
    values[1], values[6] = "a", "".join(("b", ""))
    assert dict(values) == {1: "a", 4: "a", 6: "b"}
    del values[4]
    assert (len(values), values.get(4), values.get(-1), values.get(99)) == (2, None, None, None)
    with pytest.raises(KeyError):
        del values[4]


def test_two_downloads_and_three_lastmods_of_a_page_take_bytes_and_no_objects():
    pages, downloads, lastmods, kinds = 5_000, Downloads(), Lastmods(), FewByPage[str]()
    tracemalloc.start()
    try:
        for page in range(pages):
            for at in (page + 0.5, page + 9000.5):
                downloads.add(page, Download(at, at + 0.1, at, "".join(("sha1:", "A")), at - 99.0))
            for at in (1.0, 2.0, 3.0):
                lastmods.add(page, Lastmod(page + at, page - at, page - at + 1.0))
            kinds[page] = f"/a/{page % 3}"
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held / pages < 350  # as lists of tuples: 1,100
