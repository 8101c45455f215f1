"""Pages that differ in their own addresses alone: names of a register, or made up for whoever asks."""

from __future__ import annotations

import pytest

from sharc_crawler.addresses.unlikely import is_nobodys, look_at
from sharc_crawler.traps.own_names import ALIKE, LOOKS, MOST, PLACES
from sharc_crawler.traps.rules import Traps
from tests.traps.tables import ROOT, add, table


class Register:
    """Its pages say the same but for their addresses."""

    def __init__(self, number: int = ALIKE, path: str = "w/{}") -> None:
        self.traps, self.pages = Traps(), table()
        names = ("amber", "basil", "cedar", "daisy", "elder")
        self.numbers = [self.shows(path.format(name)) for name in names[:number]]

    def shows(self, path: str) -> int:
        page = add(self.pages, path, 0)
        self.traps.showed(page, self.pages.urls[page], f"the name {path}\nthe name", self.pages, lambda: False)
        return page

    @property
    def counted(self) -> str:
        return self.traps.counted("the name w/fennel\nthe name")


def test_they_count_with_their_addresses():
    site = Register()
    assert site.counted == "the name w/fennel"
    assert site.traps.copies is None
    assert site.traps.counted("a story") == "a story"


def test_where_four_are_alike_a_name_is_asked_for_that_nobody_gave():
    assert not Register(ALIKE - 1).traps.wanted
    [asked] = Register().traps.wanted
    assert asked.startswith(f"{ROOT}w/no-such-page-")


def test_so_is_a_number_where_they_differ_in_one():
    site = Register(0)
    for number in range(ALIKE):
        site.shows(f"item/{number}.html")
    folder, number = site.traps.wanted
    assert folder.startswith(f"{ROOT}item/no-such-page-")
    assert is_nobodys(number)
    assert number.startswith(f"{ROOT}item/94")


def test_so_is_another_query():
    again, asked = Register(path="?name={}").traps.wanted
    assert again == look_at(f"{ROOT}?name=basil"), "that of the second"
    assert is_nobodys(asked)
    assert asked.startswith(f"{ROOT}?name=")


def test_where_that_shows_the_same_they_are_copies_of_the_first_from_then_on():
    site = Register()
    site.traps.own.answered(site.traps.wanted[0], "the name no-such-page\nthe name")
    assert site.counted == "the name"
    assert set(site.traps.echoes.echoes) == set(site.numbers), "what they named waits"
    assert site.traps.firsts.get("the name") == site.numbers[0]
    assert site.traps.counted("another name amber\nanother name") == "another name amber"


def test_where_it_does_not_they_are_asked_for_again_and_are_made_up_if_all_their_links_are_gone():
    for gone in (True, False):
        site = Register()
        site.traps.own.answered(site.traps.wanted.pop(), None)
        last = site.numbers[-LOOKS:]
        assert site.traps.wanted == [look_at(site.pages.urls[page]) for page in last]
        site.traps.own.looked(site.numbers[0], gone=True)
        site.traps.own.looked(last[0], gone=True)
        assert site.counted == "the name w/fennel", "one of them is not enough"
        site.traps.own.looked(last[1], gone=gone)
        assert (site.counted == "the name") is gone


def test_a_seed_was_named_by_no_page_that_could_be_asked_again():
    site = Register(0)
    for name in ("amber", "basil", "cedar", "daisy"):
        page = add(site.pages, f"w/{name}")
        site.traps.showed(page, site.pages.urls[page], f"the name w/{name}\nthe name", site.pages, lambda: False)
        site.numbers.append(page)
    add(site.pages, "deep", add(site.pages, "list", 0))
    site.traps.own.answered(site.traps.wanted.pop(), None)
    assert site.traps.wanted == [look_at(site.pages.urls[page]) for page in site.numbers[-LOOKS:]]


def test_so_many_texts_are_watched():
    site = Register(0)
    for number in range(MOST + 1):
        for name in ("amber", "basil"):
            page = add(site.pages, f"{name}/{number}", 0)
            shown = f"text {number} {name}\ntext {number}"
            site.traps.showed(page, site.pages.urls[page], shown, site.pages, lambda: False)
    for number in (MOST - 1, MOST):
        site.traps.own.answered(f"{ROOT}elsewhere", f"text {number}")
        made_up = site.traps.counted(f"text {number} cedar\ntext {number}") == f"text {number}"
        assert made_up is (number < MOST)


def test_two_that_differ_in_one_place_suffice_to_ask_for_another_value_there_and_for_one_again():
    again, asked = Register(2, "s/{}/about").traps.wanted
    assert again == look_at(f"{ROOT}s/basil/about")
    assert asked.startswith(f"{ROOT}s/no-such-page-")
    assert asked.endswith("/about")


@pytest.mark.parametrize(
    ("same", "gone", "led"), [(True, True, True), (True, False, True), (False, True, True), (True, True, False)]
)
def test_where_that_shows_the_same_and_links_are_gone_what_stands_there_tells_nothing_on_any_page(same, gone, led):
    site = Register(2, "s/{}/about")
    add(site.pages, "s/cedar/more" if led else "ticket/cedar", site.numbers[1])
    asked = site.traps.wanted[-1]
    site.traps.own.answered(asked, "the name no-such-page\nthe name" if same else None)
    site.traps.own.looked(site.numbers[1], gone=gone)
    shown = [site.traps.counted(f"a story {one}\na story", f"{ROOT}{one}/fennel/news") for one in ("s", "t")]
    assert shown == ["a story" if same and gone and led else "a story s", "a story t"]
    site.traps.wanted.clear()
    site.shows("s/daisy/about")
    assert not site.traps.wanted, "each place is asked about once"


def test_a_whole_query_of_several_parameters_is_no_such_place():
    """Another value is made up in one of them alone."""
    site = Register(0)
    for name in ("amber", "basil"):
        site.shows(f"x?a={name}&b={name}")
    assert not site.traps.wanted


def test_so_many_places_are_asked_about():
    site = Register(0)
    for number in range(PLACES + 2):
        for name in ("amber", "basil"):
            page = add(site.pages, f"f{number}/{name}/about", 0)
            site.traps.showed(page, site.pages.urls[page], f"{page}\ntext {number}", site.pages, lambda: False)
    assert sum(map(is_nobodys, site.traps.wanted)) == PLACES


@pytest.mark.parametrize("gone", [True, False])
def test_they_are_not_made_up_where_who_named_the_first_names_its_links_again(gone):
    """A register's pages may name others by chance; its list does not."""
    site = Register(0)
    register = add(site.pages, "list", 0)
    site.numbers = []
    for name in ("amber", "basil", "cedar", "daisy"):
        page = add(site.pages, f"w/{name}", register)
        site.traps.showed(page, site.pages.urls[page], f"the name w/{name}\nthe name", site.pages, lambda: False)
        site.numbers.append(page)
    site.traps.own.answered(site.traps.wanted.pop(), None)
    assert look_at(f"{ROOT}list") in site.traps.wanted
    for page in site.numbers:
        site.traps.own.looked(page, gone=True)
    assert site.counted == "the name w/fennel"
    site.traps.own.looked(register, gone=gone)
    assert (site.counted == "the name") is gone
