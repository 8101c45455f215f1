"""Words of addresses that two answers named last; pages are alike by these."""

from __future__ import annotations

import pytest

from sharc_crawler.model import Kind
from sharc_crawler.state.lifecycle import Event
from sharc_crawler.state.pages import PageTable
from sharc_crawler.traps import lasting_words
from sharc_crawler.traps.lasting_words import LASTS, LastingWords
from tests.traps.tables import ROOT, add, table


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


def test_pages_are_taken_in_once_something_is_asked(monkeypatch):
    """On most sites nothing is."""
    site, taken = Site("one", "two"), list[str]()
    monkeypatch.setattr(lasting_words, "words_of", lambda url: taken.append(url) or [])
    words = LastingWords(site.pages, bytearray(9))
    words.visited(1)
    words.again([2])
    assert not taken
    assert words.of == {1: "/*"}
    assert len(taken) == 3 + 1 + 1


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
    site.words.learn()
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


def test_no_word_lasts_in_a_folder_that_was_another_in_the_next_answer():
    """A session's name is named by all of its pages."""
    site = Site("v/kqzv/one", "v/kqzv/two", "v/wmdk/one", twice=1)
    site.name("v/kqzv/one", 1, 2)
    site.visit(1, 3)
    assert site.bare("v/kqzv/one") == "/v/kqzv/one"
    assert site.words.is_known(1)
    site.words.asked_again(2, [f"{ROOT}v/wmdk/one", f"{ROOT}v/kqzv/two"], [f"{ROOT}v/qjxe/one", f"{ROOT}v/kqzv/two"])
    assert site.bare("v/kqzv/one") == "/v/*/one"
    assert site.words.alike["/v/*/one"] == [1, 3]
    assert not site.words.is_known(1)


@pytest.mark.parametrize("named", ["v/qjxe/other", "w/qjxe/one", "v/wmdk/one v/qjxe/one"])
def test_links_that_rotate_or_stay_are_no_such_folders(named):
    site = Site("v/kqzv/one")
    site.name("v/kqzv/three", 1, 2)
    site.words.asked_again(0, [f"{ROOT}v/wmdk/one"], [f"{ROOT}{one}" for one in named.split()])
    assert site.bare("v/kqzv/three") == "/v/kqzv/three"


def test_links_are_taken_apart_that_are_as_deep_as_those_of_before(monkeypatch):
    """One answer may have 20,000 links of 700 folders each."""
    steps, taken = lasting_words._steps, []
    monkeypatch.setattr(lasting_words, "_steps", lambda *given: taken.append(one := [*steps(*given)]) or one)
    Site("v/kqzv/one").words.asked_again(0, [f"{ROOT}v/wmdk/one"], [f"{ROOT}v/{'x/' * 700}one"] * 2)
    assert sum(map(len, taken)) == 2, "those of before alone"


def test_what_ends_a_path_is_no_such_folder():
    site = Site("kqzv/")
    site.name("kqzv/", 1, 2)
    site.words.asked_again(0, [f"{ROOT}wmdk/"], [f"{ROOT}qjxe/"])
    assert site.bare("kqzv/") == "/kqzv/"
