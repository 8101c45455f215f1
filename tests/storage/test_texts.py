from __future__ import annotations

import pytest

from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.storage.texts import PageCopy, PageText, TextIndex, TextSource

TIDES = PageCopy("sha1:A", "http://a.org/", "20261118110640", PageText("Tides", "High water at nine."))


def test_a_text_whose_last_copy_was_left_out_is_found_once_there_is_one_again():
    with TextIndex(":memory:") as index:
        for source in (TextSource("a.org", "a.org/1", "1.cdxj"), TextSource("a.org", "a.org/2", "2.cdxj")):
            index.add(source, [TIDES], lambda: 9)
            assert [hit.url for hit in index.search(["water"])] == ["http://a.org/"]
            index.forget([source.name])
            assert (index.search(["water"]), index.digests(), dict(index.known())) == ([], set(), {})


def test_what_is_closed_is_let_go_of(tmp_path):
    with TextIndex(tmp_path / "texts.db") as index:
        index.add(TextSource("a.org", "a.org/1", "1.cdxj"), [TIDES], lambda: 9)
    with pytest.raises(StoreUnavailable, match="closed"):
        index.search(["water"])
