"""Folders that have whatever page is asked for end, whatever it says; sites that seem to be such lose nothing."""

from __future__ import annotations

import re

import pytest

from sharc_crawler.frontier.traps.bottomless import ASK, COMMON, ROW, Bottomless
from sharc_crawler.frontier.traps.fleeting import FleetingLinks
from sharc_crawler.frontier.traps.rules import Traps
from sharc_crawler.model import Kind
from sharc_crawler.unlikely import another, is_nobodys, look_at, made_up_name
from tests.frontier.traps.made_sites import LOWER, ROOT, Beside, Made, captured, crawl, run_through
from tests.frontier.traps.tables import add, table

STRATEGIES = pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])


def asked(visited: list[str]) -> list[str]:
    return [url for url in visited if is_nobodys(url)]


class ErrorPages(Beside):
    """Whatever is no page is an error page of status 200 that says another number each time, and names new ones."""

    def __init__(self, pattern: str = "{}", links: int = 3) -> None:
        super().__init__(pattern, LOWER, links)

    def content(self, url):
        content, links = super().content(url)
        return (f"Error {self.dice.random()}", links) if content == "the trap" else (content, links)


class Wordless(ErrorPages):
    """The same, in a folder; elsewhere what is no page is not there."""

    def __init__(self) -> None:
        super().__init__("x/{}", 4)

    def answer(self, fetch):
        """What nobody names is held against nothing, so there is no fingerprint, and no text either."""
        outcome = super().answer(fetch)
        return outcome._replace(fingerprint=None) if fetch.kind is Kind.PROBE else outcome


@STRATEGIES
@pytest.mark.parametrize("site", [ErrorPages, Wordless])
def test_pages_made_for_whoever_asks_end_though_each_says_something_else(impolite, site, strategy):
    world = site()
    visited, capture = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    assert len(visited) <= 3 * len(world.true)
    assert len(asked(visited)) == 2
    assert any("as addresses do that nobody names" in why for why in capture.left_out.reasons)
    assert any("addresses that nobody names were asked for" in note for note in capture.notes)


@pytest.mark.parametrize("strategy", ["bfs:revisits=none", "sharc-selective"])
def test_a_crawl_that_is_cut_off_ends_too_and_asks_no_more(impolite, strategy):
    for every in (0, 7, 16):
        world = ErrorPages()
        run_through(world, impolite, strategy, every)
        visited = [fetch.url for _, fetch in world.requests]
        assert captured(world, visited) == set(world.true)
        assert len(set(visited)) <= 3 * len(world.true) + 2
        assert len(set(asked(visited))) == 2


class Tree(Made):
    """Each page names the three below it alone; what there is not, is ``gone``."""

    size = 364

    def __init__(self) -> None:
        super().__init__("{}", LOWER)
        self.true = [ROOT, *(self.made() for _ in range(self.size - 1))]

    def content(self, url):
        if url not in self.true:
            return self.gone(url)
        at = self.true.index(url)
        return url, [self.true[one] for one in range(3 * at + 1, 3 * at + 4) if one < self.size]

    def gone(self, url):
        return "Not found", [ROOT]


class Suggesting(Tree):
    """Its error page, of status 200, names true pages by chance."""

    def gone(self, _):
        return "Not found", [ROOT, *self.dice.sample(self.true, 5)]


class SuggestingInABigTree(Suggesting):
    size = 1093


class SuggestingTheSame(Tree):
    """It names three that nobody else does."""

    def gone(self, _):
        return "Not found", [ROOT, *(f"{ROOT}{name}" for name in ("help", "search", "contact"))]


class Writing(Tree):
    """Whoever asks for what is not there may write it."""

    def gone(self, url):
        return "Write this page!", [ROOT, f"{url}-edit", f"{url}-history", f"{ROOT}edit-{url.rpartition('/')[2]}"]


@STRATEGIES
@pytest.mark.parametrize("site", [Tree, Suggesting, SuggestingInABigTree, SuggestingTheSame, Writing])
def test_a_tree_whose_pages_name_new_ones_alone_is_captured_whatever_its_error_page_names(impolite, site, strategy):
    world = site()
    visited, _ = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)


class Numbered(Made):
    """Pages by number name the next two; whatever number is asked for, there is an empty one that names the next."""

    true = tuple(f"{ROOT}item/{number}" for number in range(1, 91))

    def content(self, url):
        number = int(found[1]) if (found := re.search(r"item/(\d+)", url)) else 0
        named = [f"{ROOT}item/{number + step}" for step in (1, 2)]
        return (url, [one for one in named if one in self.true]) if number <= len(self.true) else ("Empty", named)


@STRATEGIES
def test_numbered_pages_are_captured_though_each_number_has_a_page(impolite, strategy):
    world = Numbered("", "")
    visited, _ = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(Numbered.true)


class Row:
    """Pages that lead on, each named by the one before."""

    def __init__(self) -> None:
        self.pages, self.rule, self.traps = table("a"), Bottomless(), Traps()
        self.looks = FleetingLinks(self.traps.echoes, self.traps.errors)
        self.last, self.wanted, self.led = 1, [], []

    def go_on(self, times, new=2, path="x/{}"):
        for _ in range(times):
            page = add(self.pages, path.format("abcdefghij"[len(self.pages) % 10] * 4), self.last)
            self.wanted += self.rule.saw(page, self.named(page, new), self.pages, self.traps.copies, self.looks)
            self.last = page
            self.led.append(page)
        return self.rule.why_not(page, self.pages.urls[page])

    def named(self, page, new):
        """What it names; the same addresses each time."""
        return [add(self.pages, f"y/{at}", page) for at in range(new)]


@pytest.fixture
def row():
    row = Row()
    row.go_on(COMMON - 1)  # the folder is known by then
    return row


def test_it_is_asked_once_a_few_pages_lead_on(row):
    row.go_on(ASK - 1)
    assert row.wanted == []
    row.go_on(ROW)
    urls = [row.pages.urls[one] for one in row.led[COMMON - 1 :][:ASK]]
    assert row.wanted == [another(urls), another(urls, "1"), look_at(urls[-1])]
    assert len({*map(made_up_name, row.wanted[:2])} - {""}) == 2


@pytest.mark.parametrize("leading", [0, 1])
def test_both_addresses_have_to_lead_on(row, leading):
    row.go_on(ASK)
    row.looks.leading |= set(row.wanted[:leading])
    row.looks.gone.add(row.last)
    assert not row.go_on(5 * ROW)
    assert not row.rule.waits(row.last, row.pages.urls[row.last])


@pytest.mark.parametrize("gone", [True, False])
def test_it_is_left_after_a_row_where_links_are_gone_and_waits_where_they_stay(row, gone):
    row.go_on(ASK)
    row.looks.leading |= set(row.wanted[:2])
    row.looks.gone |= {row.last} if gone else set()
    assert not row.go_on(ROW - ASK - 1)
    assert row.rule.waits(row.last, row.pages.urls[row.last])
    assert bool(row.go_on(1)) is gone
    if gone:
        why = row.rule.why_not(row.last, row.pages.urls[row.last])
        assert why == "20 pages in a row named none but new ones, as addresses do that nobody names"
    assert not row.go_on(5 * ROW) or gone
    assert not row.rule.why_not(1, f"{ROOT}x/other"), "what another page named"
    assert not row.rule.why_not(row.last, f"{ROOT}y/z/other"), "of another folder, or of none"


def test_a_suggestion_of_an_error_page_that_a_page_names_was_a_true_one(row):
    row.go_on(ASK)
    row.looks.leading |= set(row.wanted[:2])
    row.looks.gone.add(row.last)
    row.looks.invented.add(f"{ROOT}y/1")
    assert not row.go_on(5 * ROW)
    assert not row.rule.waits(row.last, row.pages.urls[row.last])


@pytest.mark.parametrize("what", ["dead end", "copy"])
def test_a_page_that_leads_no_further_and_one_that_shows_what_another_does_begin_the_row_anew(row, what):
    row.go_on(ASK)
    row.looks.leading |= set(row.wanted[:2])
    row.looks.gone.add(row.last)
    row.go_on(ROW - ASK - 1)
    if what == "copy":
        row.traps.copies.copies[row.last] = 7
    else:
        former = row.last
        row.go_on(1, new=0)
        row.last = former
    row.go_on(ROW - 1)
    assert not row.rule.closed
    assert row.go_on(1)


def test_parts_of_a_series_and_what_others_name_do_not_count(row):
    row.go_on(3 * ROW, new=1)
    for _ in range(ROW):
        row.last = 0
        row.go_on(1)
    assert row.wanted == []


def test_all_that_differs_in_addresses_is_made_up():
    urls = [f"{ROOT}s/{one}/page{at}.html?q=a" for at, one in enumerate(("kqzv", "bnwt", "wmdk"))]
    made = another([f"{ROOT}s/deeper/than/others", *urls])
    assert re.fullmatch(rf"{ROOT}s/no-such-page-[a-z]{{10}}/page94\d{{7}}\.html\?q=a", made)
    assert is_nobodys(made)
    assert is_nobodys(another(urls, "1"))
    assert another(urls[:1]) == another(urls[:1] * 2) == ""
