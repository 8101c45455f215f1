"""The URL-seen test against a dict, and the columns against lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.addresses.known_urls import UNSEEN, SeenUrls, Texts
from sharc_crawler.addresses.scope import LeftOut
from sharc_crawler.state.pages import Names


@given(st.lists(st.text(), unique=True), st.lists(st.text()))
def test_what_was_added_is_known_and_nothing_else(added, asked):
    seen = SeenUrls()
    for page, url in enumerate(added):
        seen.add(url, page)
    pages = {url: page for page, url in enumerate(added)}
    assert seen.find([*added, *asked]) == [pages.get(url, UNSEEN) for url in [*added, *asked]]
    assert [url in seen for url in asked] == [url in pages for url in asked]
    assert len(seen) == len(added)


def test_many_urls_at_once_are_known_as_one_by_one(monkeypatch):
    monkeypatch.setattr("sharc_crawler.addresses.known_urls._FEW", 1_000)  # places are filled as in a large table
    seen = SeenUrls()
    seen.add("http://h/first", 0)
    urls = [f"http://h/{page}" for page in range(5_000)]
    seen.add_all(urls, range(1, 5_001))
    assert seen.find(["http://h/first", *urls, "http://other/"]) == [*range(5_001), UNSEEN]
    assert len(seen) == 5_001
    more = [Text(number) for number in range(600)]  # all choose the same place
    seen.add_all(more, range(5_001, 5_601))
    assert seen.find([*urls, *more]) == [*range(1, 5_601)]


@pytest.mark.slow
def test_nothing_is_forgotten_while_the_table_grows():
    seen = SeenUrls()
    for page in range(20_000):
        seen.add(f"http://h/{page}", page)
    assert seen.find([f"http://h/{page}" for page in range(20_000)]) == list(range(20_000))
    assert seen.get("http://h/19999") == 19_999
    assert set(seen.find([f"http://other/{page}" for page in range(20_000)])) == {UNSEEN}


class Text(str):
    """A text with a hash of one's choice: all want the last place but one of any table."""

    __slots__ = ()

    def __hash__(self) -> int:
        return -2 - (int(self) << 40)


def test_urls_whose_hashes_crowd_at_the_end_of_the_table_go_on_at_its_beginning():
    seen = SeenUrls()
    urls = [Text(page) for page in range(3)]
    for page, url in enumerate(urls):
        seen.add(url, page)
    for page in range(3, 2000):  # the table grows twice
        seen.add(f"http://h/{page}", page)
    assert seen.find(urls) == [0, 1, 2]
    assert seen.find([f"http://h/{page}" for page in range(3, 2000)]) == list(range(3, 2000))


def test_a_hash_of_zero_is_a_hash():
    class Zero(str):
        __slots__ = ()

        def __hash__(self) -> int:
            return 0

    seen = SeenUrls()
    assert Zero("a") not in seen
    seen.add(Zero("a"), 5)
    assert seen.get(Zero("a")) == 5


@given(st.lists(st.text(st.characters())))
def test_texts_are_kept_as_they_are(texts):
    column = Texts()
    for text in texts:
        column.append(text)
    assert [column[row] for row in range(len(column))] == texts


@given(st.lists(st.sampled_from("abc")))
def test_names_are_kept_as_they_are(names):
    column = Names()
    for name in names:
        column.extend([name])
    assert [column[row] for row in range(len(column))] == names


def test_what_a_former_process_listed_is_counted_and_not_listed_again():
    left = LeftOut()
    left.was_listed("http://h/a")
    assert [left.add(url, "scope") for url in ("http://h/a", "http://h/b", "http://h/b")] == [False, True, False]
    assert left.reasons == {"scope": 3}
