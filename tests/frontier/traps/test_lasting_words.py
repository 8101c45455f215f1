"""Words of addresses that two answers named last; pages are alike by these."""

from __future__ import annotations

import pytest

from sharc_crawler.frontier.lifecycle import Event
from sharc_crawler.frontier.pages import PageTable
from sharc_crawler.frontier.traps import lasting_words
from sharc_crawler.frontier.traps.lasting_words import LASTS, LastingWords
from sharc_crawler.model import Kind
from tests.frontier.traps.tables import ROOT, add, table


class Site:
    """A front page, and others that it or they name."""

    def __init__(self, *paths: str, twice: int = 0) -> None:
        """``twice``: this one was named by two."""
        self.pages, self.copies = table(*paths), set()
        self.words = LastingWords(self.pages, bytearray(one == twice for one in range(99)))

    def visit(self, *visited: int, new: bool = True) -> None:
        for page in visited:
            self.pages.move(page, Event.LEASE)
            self.pages.move(page, Event.CAPTURED)
            self.words.visited(page)
            self.copies |= set() if new else {page}

    def name(self, path: str, *parents: int) -> None:
        """Pages name an address that is no page of this table."""
        for parent in parents:
            self.words.name(ROOT + path, parent)

    def shown(self, path: str) -> int:
        return self.words.shown(ROOT + path, self.copies)

    def bare(self, path: str) -> str:
        return self.words.bare(ROOT + path)


def test_a_word_that_two_answers_named_lasts():
    site = Site("one", "two")
    site.name("kqzv/story", 1)
    assert site.words.alone("kqzv")
    site.name("kqzv/story", 1)
    assert site.words.alone("kqzv"), "the same page again"
    site.name("wmdk/story", 2)
    assert site.words.alone("kqzv")
    assert not site.words.alone("story")
    assert not site.words.alone("kqzv-story")
    assert site.words.alone("story=kqzv&story=wmdk"), "what parameters are called tells nothing"
    assert not site.words.alone("a=kqzv&b=story")


def test_what_seeds_have_lasts_and_what_two_pages_named():
    pages = PageTable()
    for path, parent in (("shop", -1), ("other", 0), ("shop/kqzv", 1)):
        add(pages, path, parent)
    assert LastingWords(pages, bytearray(3)).bare(f"{ROOT}shop/kqzv") == "/shop/*"
    assert LastingWords(pages, bytearray([0, 0, 1])).bare(f"{ROOT}shop/kqzv") == "/shop/kqzv"


def test_what_is_no_page_has_no_words():
    site = Site("one")
    add(site.pages, "style/one.css", 1, Kind.RESOURCE)
    add(site.pages, "style/two", 0)
    site.words.learn()
    assert site.words.alone("style")


def test_what_is_no_page_is_looked_at_once(monkeypatch):
    site = Site("one")
    add(site.pages, "style/one.css", 1, Kind.RESOURCE)
    site.words.learn()
    monkeypatch.setattr(site.pages, "kinds", {})
    site.words.learn()


def test_parameters_are_alike_in_any_order_and_a_uuid_is_one_word():
    site = Site("one", "two")
    site.name("p?a=1&b=2", 1, 2)
    assert site.bare("p?b=2&a=1") == site.bare("p?a=1&b=2") == "/p?a=1&b=2"
    assert site.bare("p/0a1b2c3d-1234-1234-1234-0123456789ab") == "/p/*"


def test_an_address_that_is_like_no_visited_page_is_fresh_if_a_word_of_it_lasts():
    site = Site("kqzv/story", "other")
    site.name("wmdk/story", 2)
    assert site.shown("qjxe/story") == 0
    assert site.shown("qjxe") == 1, "no word of it lasts"
    site.visit(1, new=False)
    assert site.shown("qjxe/story") == 2
    assert site.shown("qjxe.html") == 1


@pytest.mark.parametrize(
    ("form", "enough"),
    [("{}/story", 2), ("{}/story/", 2), ("stories/{}/", 1), ("stories/{}", 1), ("stories/{}.html", 1)],
)
def test_where_like_pages_show_something_new_it_is_other_words_that_tell_them_apart(form, enough):
    site = Site(*(form.format(one) for one in ("aaaa", "bbbb", "cccc")), "other")
    site.name("story/stories.html", 4)
    site.visit(1)
    assert (site.shown(form.format("qjxe")) == 0) is (enough == 1)
    site.visit(2)
    assert site.shown(form.format("qjxe")) == 0
    site.visit(3, new=False)
    assert site.shown(form.format("qjxe")) == enough


def test_visited_pages_are_alike_anew_once_a_word_of_theirs_lasts():
    site = Site("kqzv/story", "wmdk/news", "other")
    site.visit(1, 2)
    assert site.words.alike == {"/*/*": [1, 2]}
    site.name("news/x", 3)
    assert site.words.alike == {"/*/*": [1], "/*/news": [2]}
    assert site.words.of == {1: "/*/*", 2: "/*/news"}
    site.words.visited(2)
    assert site.words.alike["/*/news"] == [2]


def test_words_that_last_since_several_pages_were_found_move_each_visited_page_once():
    site = Site("kqzv/story", "wmdk/news", "other")
    site.visit(1, 2)
    for path in ("a/story/news", "b/news/kqzv", "story/c", "wmdk"):
        add(site.pages, path, 3)
    site.words.learn()
    assert site.words.alike == {"/*/*": [], "/*/story": [], "/*/news": [], "/kqzv/story": [1], "/wmdk/news": [2]}


def test_former_visits_are_known_and_what_was_found_since():
    site = Site("kqzv/story", "wmdk/story", "other", twice=3)
    site.visit(1, add(site.pages, "style/one", 1, Kind.RESOURCE))
    words = LastingWords(site.pages, bytearray(9))
    assert words.alike == {"/*/*": [1]}
    add(site.pages, "ptrn/story", 3)
    words.learn()
    assert words.alike == {"/*/*": [], "/*/story": [1]}
    assert site.bare("other") == "/other"
    assert not words.is_twice(-1)


def test_fifty_thousand_words_are_known():
    site = Site("one", "two")
    site.name("/".join(map(str, range(lasting_words.MOST - 3))), LASTS)
    for word in ("last", "unheard"):
        site.name(word, 1, 2)
    assert not site.words.alone("last")
    assert site.words.alone("unheard")
