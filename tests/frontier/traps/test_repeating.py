"""Templates whose pages repeat a few contents are left, but where their pages may be there before they are named."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.traps import repeating
from sharc_crawler.frontier.traps.barren import PATIENT
from sharc_crawler.frontier.traps.doubted import doubts
from sharc_crawler.frontier.traps.repeating import ASKED
from sharc_crawler.frontier.traps.rules import LAST, Traps
from sharc_crawler.unlikely import nobodys
from tests.frontier.traps.tables import ROOT, add, table


class Archive:
    """Folders of days, most of which say the same."""

    def __init__(self) -> None:
        self.pages, self.traps = table("year/2", "year/3"), Traps()

    def day(self, number: int, text: str = "Archive", folder: str = "month") -> int:
        page = add(self.pages, f"{folder}/{number}", 1)
        self.traps.saw(self.pages.urls[page], text)
        self.traps.showed(page, self.pages.urls[page], text, self.pages, lambda: False)
        return page

    def days(self, numbers: range) -> None:
        for number in numbers:
            self.day(number)

    def answer(self, content: str | None, *, absent: bool) -> None:
        self.traps.repeating.answered(self.traps.wanted[-1], content, absent=absent)

    def left(self, *, new: bool) -> bool:
        return bool(self.traps.why_not(f"{ROOT}month/999", new=new))

    def waits(self) -> int:
        return doubts(self.traps, add(self.pages, "month/999", 1), self.pages.urls)


@pytest.mark.parametrize(
    ("content", "absent", "waits"),
    [(None, True, True), ("no such day", False, True), ("Archive", False, False), (None, False, False)],
)
def test_they_wait_where_an_address_that_nobody_names_is_not_there_and_are_left_all_the_same(content, absent, waits):
    site = Archive()
    site.days(range(20))
    assert nobodys(f"{ROOT}month/19", f"{ROOT}month/0") in site.traps.wanted
    assert (site.waits(), site.left(new=True), site.left(new=False)) == (LAST + 1, False, True), "it is not known yet"
    site.answer(content, absent=absent)
    assert site.waits() == (LAST + 1) * waits
    assert site.left(new=True) is not waits
    assert site.left(new=False)


def test_where_links_stay_too_they_are_left_after_many_in_a_row():
    site = Archive()
    site.days(range(20))
    site.traps.repeating.answered("another", None, absent=False)
    site.answer(None, absent=True)
    site.traps.patient = True
    site.days(range(20, PATIENT))
    assert not site.left(new=False)
    site.days(range(PATIENT, PATIENT + 1))
    assert site.left(new=False)


def test_what_is_new_was_brought_by_who_led_to_the_page_that_named_it():
    site = Archive()
    site.days(range(20))
    day = site.day(20)
    hour = add(site.pages, f"month/{day}/hours/1", day)
    story = add(site.pages, "story", hour)
    other = add(site.pages, "month/99", story)
    assert site.left(new=False)
    site.traps.showed(other, site.pages.urls[other], "not of its own doing", site.pages, lambda: False)
    assert site.left(new=False)
    site.traps.showed(story, site.pages.urls[story], "a story", site.pages, lambda: False)
    assert not site.left(new=False)


@pytest.mark.parametrize(("steps", "brought"), [(1, True), (2, True), (4, True), (5, False)])
def test_that_is_so_of_what_led_there_in_four_steps_at_most(steps, brought):
    site = Archive()
    site.days(range(20))
    page = site.day(20)
    for step in range(steps):
        page = add(site.pages, f"{'abcde'[step]}/story", page)
    site.traps.showed(page, site.pages.urls[page], "a story", site.pages, lambda: False)
    assert site.left(new=False) is not brought


def test_a_template_repeats_that_has_four_pages_for_each_content():
    site = Archive()
    for number in range(44):
        site.day(number, "abcdefghijk"[min(number, 10)])
        assert site.traps.repeating is None or site.left(new=False) is (number == 43)
    assert site.left(new=False)


@pytest.mark.parametrize(("honest", "left"), [(5, False), (6, True)])
def test_a_template_of_very_many_contents_is_none_that_repeats(honest, left, monkeypatch):
    monkeypatch.setattr(repeating, "HONEST", honest)
    site = Archive()
    for number in range(40):
        site.day(number, "abcde"[min(number, 4)])
    assert site.left(new=False) is left


def test_few_templates_are_asked_about_and_the_rest_is_left_at_once():
    site = Archive()
    for folder in "abcdefghijklmnop"[: ASKED + 1]:
        for number in range(20):
            site.day(number, f"Archive {folder}", folder)
    assert sum("94" in one for one in site.traps.wanted) == ASKED
    left = [bool(site.traps.why_not(f"{ROOT}{folder}/99", new=True)) for folder in "abcdefghijklmnop"[: ASKED + 1]]
    assert left == [False] * ASKED + [True]


def test_values_of_a_query_are_asked_for_by_name():
    traps = Traps()
    for number in range(20):
        traps.saw(f"{ROOT}p?title={'ab' * number}x", "log in")
    assert traps.wanted == [nobodys(f"{ROOT}p?title={'ab' * 19}x", f"{ROOT}p?title=y")]
    assert traps.endless([f"{ROOT}p?title=z"], 0) == {}
    traps.repeating = SimpleNamespace(why_not=lambda url, *, new: f"{url} {new}")
    assert traps.endless([f"{ROOT}p?title=z"], 0) == {f"{ROOT}p?title=z": f"{ROOT}p?title=z True"}
