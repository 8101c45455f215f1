"""What is known of an address by the words that it shares with others."""

from __future__ import annotations

import pytest

from sharc_crawler.frontier.lifecycle import Event
from sharc_crawler.frontier.pages import PageTable
from sharc_crawler.frontier.traps import common_words
from sharc_crawler.frontier.traps.common_words import CommonWords
from sharc_crawler.model import Kind
from tests.frontier.traps.tables import ROOT, add, table


class Site:
    """A front page, and others that it or they name."""

    def __init__(self, *paths: str) -> None:
        self.pages = table(*paths)
        self.words = CommonWords(self.pages, ())

    def visit(self, page: int, *, new: bool = True, contents: int = 400) -> None:
        self.pages.move(page, Event.LEASE)
        self.pages.move(page, Event.CAPTURED)
        self.words.saw(page, new=new, contents=contents)

    def name(self, path: str, *parents: int) -> None:
        """Pages name an address that is no page of this table."""
        for parent in parents:
            self.words.named(ROOT + path, parent)

    def fresh(self, path: str, contents: int = 400) -> bool:
        return self.words.fresh(ROOT + path, contents)


def test_a_word_that_two_pages_named_is_shared():
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


def test_what_is_no_page_shares_no_words():
    site = Site("one")
    add(site.pages, "style/one.css", 1, Kind.RESOURCE)
    add(site.pages, "style/two", 0)
    assert not site.fresh("one")
    assert site.words.alone("style")


def test_an_address_whose_shared_words_no_page_has_shown_is_fresh():
    site = Site("kqzv/story", "other")
    site.name("wmdk/story", 2)
    assert site.fresh("qjxe/story")
    assert not site.fresh("qjxe"), "it shares none"
    site.visit(1, new=False)
    assert not site.fresh("qjxe/story")
    site.name("ptrn/news", 1, 2)
    assert site.fresh("qjxe/news")


def test_a_page_that_was_visited_before_its_word_was_shared_has_shown_it():
    site = Site("story", "other")
    site.visit(1)
    assert not site.fresh("kqzv/story")
    site.name("wmdk/story", 2)
    assert not site.fresh("story"), "the page itself showed it"
    assert site.fresh("kqzv/story"), "under another name it was not shown"


def test_what_waits_has_shown_nothing():
    site = Site("story", "other")
    site.name("story", 2)
    assert site.fresh("story")


@pytest.mark.parametrize("visits", [1, 2])
def test_where_two_pages_in_a_row_show_something_new_under_the_same_words_others_tell_them_apart(visits):
    site = Site("aaaa/story", "bbbb/story", "cccc/story", "other")
    site.name("story", 4)
    for page in range(1, visits + 1):
        site.visit(page)
    assert site.fresh("qjxe/story") is (visits == 2)
    site.visit(3, new=False)
    assert not site.fresh("qjxe/story")


@pytest.mark.parametrize(("contents", "most"), [(0, 4), (16, 4), (20, 5), (79, 19), (80, 20), (400, 20)])
def test_after_so_many_fresh_pages_that_showed_what_was_shown_none_is_taken_for_fresh(contents, most):
    words = [f"word{number}" for number in range(24)]
    site = Site(*(f"{word}/x{word}" for word in words), "other")
    site.name("/".join(words), len(words) + 1)
    site.name("last", 1, 2)
    for page in range(1, most):
        site.visit(page, new=False, contents=contents)
    assert site.fresh("last", contents)
    site.visit(most, new=False, contents=contents)
    assert not site.fresh("last", contents)
    assert site.fresh("last", 4 * most + 4) is (most < 20)


def test_a_fresh_page_that_shows_something_new_makes_up_for_those_that_did_not():
    words = [f"word{number}" for number in range(12)]
    site = Site(*(f"{word}/x{word}" for word in words), "other")
    site.name("/".join(words), len(words) + 1)
    site.name("last", 1, 2)
    for page in (1, 2, 3):
        site.visit(page, new=False, contents=0)
    site.visit(4, contents=0)
    for page in (5, 6, 7):
        site.visit(page, new=False, contents=0)
    assert site.fresh("last", 0)
    site.visit(8, new=False, contents=0)
    assert not site.fresh("last", 0)


def test_pages_that_are_not_fresh_are_no_misses():
    site = Site(*(f"name{number}" for number in range(9)), "other")
    site.name("last", 1, 2)
    for page in range(1, 10):
        site.visit(page, new=False, contents=0)
    assert site.fresh("last", 0)


def tells(pattern: str, unshared: int, shared: int, *more: str) -> bool:
    """Is an address fresh whose value nobody else has, where so many values are shared, and so many are not?"""
    words = [f"word{number}" for number in range(shared)]
    site = Site("other", "another")
    site.name("p/" + "/".join(words), 1, 2)
    paths = [pattern.format(f"odd{number}", f"x{number}") for number in range(unshared)]
    paths += [pattern.format(word, f"y{word}") for word in words]
    for path in (*paths, *more):
        site.visit(add(site.pages, path, 1), new=False)
    return site.fresh(pattern.format("unheard", "unseen"))


@pytest.mark.parametrize("pattern", ["p?id={}", "p?id={}&s={}", "{}/{}"])
@pytest.mark.parametrize(
    ("unshared", "shared", "are"),
    [(1, 1, False), (1, 2, True), (2, 2, True), (3, 2, False), (3, 3, True), (5, 4, False)],
)
def test_where_half_of_the_values_are_shared_and_two_at_least_any_value_tells_pages_apart(
    pattern, unshared, shared, are
):
    assert tells(pattern, unshared, shared) is are


@pytest.mark.parametrize("pattern", ["p?id={}", "{}/{}"])
def test_values_that_come_later_and_are_not_shared_change_nothing(pattern):
    assert tells(pattern, 1, 2, *(pattern.format(f"late{number}", f"z{number}") for number in range(5)))


def test_a_folder_of_many_pages_counts_once():
    assert tells("{}/{}", 2, 2, *(f"odd0/more{number}" for number in range(5)))
    assert not tells("{}/{}", 4, 2, *(f"word0/more{number}" for number in range(5)))


def test_of_steps_one_of_which_alone_is_not_shared_the_others_tell_pages_apart():
    site = Site("shop/kqzv", "news/wmdk", "other")
    site.name("shop/news", 3)
    site.visit(1, new=False)
    assert not site.fresh("shop/qjxe")
    assert site.fresh("news/qjxe")
    assert not site.fresh("kqzvv/qjxe"), "it shares no word"


def test_a_step_that_is_not_shared_is_no_name_where_the_others_are():
    site = Site("w0/odd", "w1/w2", "w3/w4", "w5/w0", "other")
    site.name("w0/w1/w2/w3/w4/w5", 5)
    for page in range(1, 5):
        site.visit(page, new=False)
    assert not site.fresh("w0/unheard")


def test_a_parameter_without_a_value_has_none():
    site = Site("other", "p?id=odd", "p?id=", "p?id=&s=1", "p?id=&s=2")
    site.name("p", 1)
    for page in range(2, 6):
        site.visit(page, new=False)
    assert not site.fresh("p?id=unheard")


def test_pages_that_were_found_since_are_known_before_another_is_judged():
    asked, visited = Site("kqzv/story", "wmdk/story", "other"), Site("kqzv/story", "wmdk/story", "other")
    for site in (asked, visited):
        add(site.pages, "ptrn/story", 3)
    assert asked.fresh("qjxe/story")
    for page in (1, 2):
        visited.visit(page)
    assert visited.fresh("qjxe/story"), "both showed something new under that word"


def test_a_seeds_words_are_known():
    pages = PageTable()
    for path, parent in (("shop", -1), ("other", 0), ("shop/kqzv", 1)):
        add(pages, path, parent)
    assert not CommonWords(pages, ()).alone("shop")


def test_what_was_visited_before_is_counted_when_a_site_is_suspected():
    site = Site("kqzv/story", "wmdk/story", "ptrn/news", "other", "more/shop")
    for path in ("story/news/shop/style", "style/qjxe"):
        add(site.pages, path, 4)
    for page in (1, 2, 3, add(site.pages, "style/one", 1, Kind.RESOURCE)):
        site.visit(page)
    words = CommonWords(site.pages, {3})
    assert words.fresh(f"{ROOT}x/story", 400), "two showed something new"
    assert not words.fresh(f"{ROOT}x/news", 400), "a copy"
    assert words.fresh(f"{ROOT}x/shop", 400), "it waits"
    assert words.fresh(f"{ROOT}style/x", 400), "no page"
    assert not CommonWords(site.pages, {1, 3}).fresh(f"{ROOT}x/story", 400)


def test_what_is_known_of_words_is_bounded_and_what_is_known_still_counts(monkeypatch):
    site = Site(*(f"w{number}/n{number}?p{number}=v{number}" for number in range(9)), "other")
    site.name("/".join(f"w{number}" for number in range(9)), 10)
    monkeypatch.setattr(common_words, "MOST", 4)
    for page in range(1, 10):
        site.visit(page)
    words, known = site.words, len(site.words._only)
    assert [len(some) for some in (words._shown, words._values, words._steps)] == [4] * 3
    words.saw(1, new=True, contents=9)
    assert words._shown["/w0/*?*=*"] == 2
    monkeypatch.setattr(common_words, "MOST", known)
    site.name("unheard", 10)
    assert len(words._only) == known


def test_fifty_thousand_words_are_known():
    site = Site("one", "two")
    site.name("/".join(map(str, range(50_000 - 3))), 1)
    for word in ("last", "unheard"):
        site.name(word, 1, 2)
    assert not site.words.alone("last")
    assert site.words.alone("unheard")
