"""Pages in a row that name new ones of their folder alone: when one that nobody gave is asked for, what is left."""

from __future__ import annotations

import pytest

from sharc_crawler.addresses.known_urls import Texts
from sharc_crawler.addresses.unlikely import is_nobodys, look_at, nobodys
from sharc_crawler.traps.bottomless import (
    ALONE,
    ASK,
    COMMON,
    LAST,
    LONG,
    LOOKS,
    LOST,
    MORE,
    ROW,
    SHORT,
    Bottomless,
)
from sharc_crawler.traps.fleeting import FleetingLinks
from sharc_crawler.traps.rules import Traps
from tests.traps.made_sites import ROOT
from tests.traps.tables import add, table


class Row:
    """Pages that lead on, each named by the one before."""

    def __init__(self) -> None:
        self.pages, self.traps = table("a"), Traps()
        self.rule = self.traps.bottomless = Bottomless(self.traps.twice)
        self.looks = FleetingLinks(self.traps.echoes, self.traps.errors)
        self.last, self.wanted, self.led = 1, [], []

    def go_on(self, times, new=2, path="x/{}", known=()):
        for _ in range(times):
            page = add(self.pages, path.format(f"{'abcdefghij'[len(self.pages) % 10] * 4}{len(self.pages)}"), self.last)
            named = [*known, *(add(self.pages, f"x/{page}/{at}", page) for at in range(new))]
            self.traps.fleeting = self.looks
            self.traps.named(page, named, self.pages)
            self.wanted += self.traps.wanted
            self.traps.wanted.clear()
            self.last = page
            self.led.append(page)
        return self.rule.why_not(page, self.pages.urls[page])

    def lead(self, *, gone=True, says=(None, None)):
        """What was asked for leads on."""
        self.looks.leading |= dict(zip(self.wanted[:2], says, strict=True))
        for page in self.asked_again if gone else ():
            self.looks.named(page, [], self.pages)

    @property
    def asked_again(self) -> list[int]:
        return self.led[COMMON - 1 :][ASK - LOOKS : ASK]

    @property
    def waits(self) -> bool:
        return self.rule.waits(self.last, self.pages.urls[self.last])


@pytest.fixture
def row():
    row = Row()
    row.go_on(COMMON - 1)  # the folder is known by then
    return row


def test_it_is_asked_once_a_few_pages_lead_on_and_again_where_many_more_do(row):
    row.go_on(ASK - 1)
    assert row.wanted == []
    row.go_on(1)
    one, other = (row.pages.urls[page] for page in row.led[-2:])
    assert row.wanted == [nobodys(other, one), nobodys(other, one, "1")]
    row.go_on((MORE - 1) * ASK - 1)
    assert len(row.wanted) == 2
    row.go_on(LONG)
    assert len(row.wanted) == 6
    assert len(set(row.wanted)) == 6


@pytest.mark.parametrize("says", [(None, None), ("one", "two"), ("Not found", "Not found")])
def test_pages_that_lead_on_wait_where_what_nobody_names_does_so_too_and_is_no_error_page(row, says):
    row.go_on(ASK)
    assert not row.waits
    row.lead(says=says)
    row.go_on(1)
    assert row.waits is (says != ("Not found", "Not found"))


@pytest.mark.parametrize("leading", [0, 1])
def test_both_addresses_have_to_lead_on(row, leading):
    row.go_on(ASK)
    row.looks.leading |= dict.fromkeys(row.wanted[:leading])
    for page in row.asked_again:
        row.looks.named(page, [], row.pages)
    assert not row.go_on(5 * ROW)
    assert not row.waits


@pytest.mark.parametrize("gone", [True, False])
def test_it_is_left_after_a_row_where_links_are_gone_and_waits_where_they_stay(row, gone):
    row.go_on(ASK)
    row.lead(gone=gone)
    assert not row.go_on(ROW - ASK - 1)
    assert row.waits
    assert bool(row.go_on(1)) is gone
    if gone:
        why = row.rule.why_not(row.last, row.pages.urls[row.last])
        assert why == "20 pages in a row linked none but new ones, as made-up addresses do"
    assert not row.go_on(5 * ROW) or gone
    assert not row.rule.why_not(1, f"{ROOT}x/other"), "what another page named"
    assert not row.rule.why_not(row.last, f"{ROOT}y/z/other"), "of another folder, or of none"


@pytest.mark.parametrize(("stays", "parent", "left"), [(False, 1, True), (True, 1, False), (True, 0, True)])
def test_both_pages_that_are_asked_again_name_none_of_the_folder_again_but_what_seeds_name(row, stays, parent, left):
    known = add(row.pages, "x/known", parent)
    row.go_on(ASK - 1)
    row.go_on(1, known=[known])
    row.lead(gone=False)
    for page in row.asked_again:
        row.looks.named(page, [known] if stays else [], row.pages)
    assert not row.go_on(ROW - ASK - 1)
    assert bool(row.go_on(1)) is left


def test_where_links_stay_what_nobody_names_is_asked_again_and_a_longer_row_is_left_where_its_links_stay(row):
    row.go_on(ASK)
    row.lead(gone=False)
    row.go_on(ROW - ASK)
    assert row.wanted[2:] == [
        look_at(one) for one in (*map(row.pages.urls.__getitem__, row.asked_again), *row.wanted[:2])
    ]
    row.looks.staying.add(row.wanted[0])
    assert not row.go_on(LONG - ROW)
    row.looks.staying.add(row.wanted[1])
    assert row.go_on(1)
    assert len(row.wanted) == 6


def test_what_two_pages_name_does_not_wait(row):
    row.go_on(ASK)
    row.lead()
    row.go_on(1)
    page = row.last
    assert row.waits
    row.last = 0
    row.go_on(1, path="other/{}", known=[page])
    row.last = page
    assert not row.waits


def test_one_that_names_again_what_such_a_page_named_is_two_less_but_for_what_led_to_it_and_what_lies_elsewhere(row):
    row.go_on(ASK)
    row.lead()
    row.go_on(2)
    named, elsewhere = add(row.pages, "x/named", row.last), add(row.pages, "story/7", row.last)
    former = row.led[-2]
    row.go_on(3, known=[former, elsewhere, 1])
    assert not row.go_on(ROW - ASK - 2 - 3 - 1)
    assert not row.go_on(1, known=[named])
    assert not row.go_on(2)
    assert row.go_on(1)


def test_before_it_is_asked_one_that_names_more_known_ones_of_its_like_begins_the_row_anew(row):
    row.go_on(ASK - 1)
    others = [add(row.pages, f"x/other{one}", 1) for one in range(3)]
    row.go_on(1, known=others)
    row.last = row.led[-2]
    row.go_on(ASK - 1)
    assert row.wanted == []
    row.go_on(1, known=others[:2])
    assert row.wanted


def test_a_suggestion_of_an_error_page_that_a_page_names_was_a_true_one_and_more_are_needed_to_ask_again(row):
    row.go_on(ASK)
    row.lead()
    true = add(row.pages, "x/true", 1)
    row.looks.suggested[row.wanted[1]] = [row.pages.urls[true]]
    row.go_on(3)
    assert row.waits
    row.go_on(1, known=[true])
    assert not row.waits
    row.go_on(MORE * ASK - 2)
    assert len(row.wanted) == 4
    row.go_on(2)
    assert len(row.wanted) == 6


def test_a_page_that_leads_no_further_counts_little_and_one_that_shows_what_another_does_is_none(row):
    row.go_on(ASK)
    row.lead()
    row.go_on(ROW - ASK - 2)
    former = row.last
    row.go_on(3, new=0)
    row.last = former
    row.traps.copies.copies[former] = 7
    row.go_on(2)
    assert not row.rule.closed
    assert row.go_on(2)


def test_parts_of_a_series_count_a_quarter_before_it_is_asked(row):
    row.go_on(4 * ASK - 1, new=1)
    assert row.wanted == []
    row.go_on(4, new=1)
    assert row.wanted


def test_what_others_name_does_not_count(row):
    for _ in range(ROW):
        row.last = 0
        row.go_on(1)
    assert row.wanted == []


def test_once_a_folder_is_left_another_takes_fewer(row):
    row.go_on(ASK)
    row.lead()
    assert row.go_on(ROW)
    row.wanted.clear()
    row.last = 1
    row.go_on(COMMON + ASK, path="y/{}/z")
    row.looks.leading |= dict.fromkeys(row.wanted[:2])
    assert not row.rule.why_not(row.last, f"{ROOT}y/other")
    row.go_on(SHORT - ASK, path="y/{}/z")
    assert row.rule.why_not(row.last, f"{ROOT}y/other")


@pytest.mark.parametrize("within", [True, False])
def test_folders_grow_where_pages_name_what_lies_within_them_alone_and_so_does_what_nobody_names(within):
    row = Row()
    for step in range(COMMON + ASK + 2):
        page = add(row.pages, "x/" + "ab/" * (step + 1), row.last)
        named = [add(row.pages, f"x/{'ab/' * (step + 1)}{one}/" if within else f"x/{step}{one}/", page) for one in "cd"]
        row.wanted += row.rule.saw(page, row.pages.urls[page], named, [], row.pages, None, row.looks)
        row.last = page
    row.looks.growing |= set(row.wanted[:2])
    assert row.waits is within


def strict(row, links=2):
    """Pages whose names the server gave; none other is there. Three are asked for again after very many."""
    row.go_on(ALONE, new=links)
    return [url for url in row.wanted if not is_nobodys(url)]


def test_where_names_are_checked_very_many_pages_in_a_row_that_name_none_that_is_known_are_looked_at_again(row):
    assert strict(row) == [look_at(row.pages.urls[page]) for page in row.led[-LOST:]]
    assert not row.go_on(5)
    for page in row.led[ALONE + COMMON - 1 - LOST : ALONE + COMMON - 1]:
        row.looks.named(page, [], row.pages)
    assert row.go_on(1).startswith("106 pages in a row linked none that were known")


@pytest.mark.parametrize(("stay", "left"), [(1, True), (2, False)])
def test_most_of_their_links_have_to_be_gone(row, stay, left):
    strict(row, 3)
    for page in row.led[-LOST:]:
        named = [one for one in range(len(row.pages)) if row.pages.parents[one] == page][:stay]
        row.looks.named(page, named, row.pages)
    assert bool(row.go_on(1)) is left


@pytest.mark.parametrize(("new", "known"), [(0, False), (2, True)])
def test_one_that_leads_no_further_or_names_what_is_known_begins_that_row_anew(row, new, known):
    first = row.led[0]
    row.go_on(ALONE - 2)
    other = row.last
    row.go_on(1, new=new, known=[first] * known)
    row.last = other
    assert strict(row)
    row.wanted.clear()
    row.go_on(1)
    assert not row.wanted


def test_what_names_none_that_is_known_on_and_on_is_left_in_the_end_though_its_links_stay(row):
    strict(row)
    assert not row.go_on(LAST - ALONE - 2)
    assert "2,000 pages in a row linked none that were known" in row.go_on(3)


class Counted(Texts):
    """Addresses, and how many were read."""

    read = 0

    def __getitem__(self, row):
        self.read += 1
        return super().__getitem__(row)


def test_where_a_page_names_many_known_ones_few_addresses_are_read(row):
    row.go_on(40, new=1)
    counted = Counted()
    counted.extend(row.pages.urls)
    row.pages.urls = counted
    row.rule.saw(row.last, row.pages.urls[row.last], [*row.led[:-1]], [*row.led[:-1]], row.pages, None, None)
    assert counted.read < 10
