"""Copies that lead on to copies end, though they name pages that are known; true pages come before them, and after."""

from __future__ import annotations

import pytest

from sharc_crawler.model import Kind, Outcome, Result
from sharc_crawler.traps.barren import DOUBT, GAPS, LEAST, MOST, SHARE, Barren
from sharc_crawler.traps.doubted import LAST, doubts
from sharc_crawler.traps.probing import looked_at
from sharc_crawler.traps.rules import Traps
from tests.traps.made_sites import LOWER, ROOT, Made, captured, crawl, run_through
from tests.traps.tables import add, table

PAGES = 5


class Breadcrumbs(Made):
    """Made-up pages say the same; each names the page that led to it, the first of them, and ``number`` new ones."""

    true = tuple(f"{ROOT}stories/{one}" for one in ("history", "visit", "shop", "school"))

    def __init__(self, pattern: str, links: int, menu: tuple[str, ...] = ()) -> None:
        super().__init__(pattern, LOWER, links)
        self.menu, self.led = menu, dict[str, str]()

    def content(self, url):
        made = [self.made() for _ in range(self.number if url not in self.true else 0)]
        for one in made:
            self.led.setdefault(one, url)
        if url in (ROOT, *self.true):
            return url, [ROOT, *self.true, *made]
        return "Please have a look", [ROOT, *self.menu, self.led[url], next(iter(self.led)), *made]

    def answer(self, fetch):
        """What nobody named is not there: no error page of status 200 gives the trap away."""
        named = {ROOT, *self.true, *self.led}
        if fetch.kind in {Kind.PAGE, Kind.PROBE} and looked_at(fetch.url) not in named and fetch.url not in named:
            return Outcome(Result.GONE, self.now, self.now, 404)
        return super().answer(fetch)


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize(
    ("pattern", "links", "menu"),
    [
        ("{}", 1, ()),
        ("s/{}/story", 1, ()),
        pytest.param("{}/{}", 2, Breadcrumbs.true, marks=[pytest.mark.matrix]),
        pytest.param("stories/{}", 1, (), marks=[pytest.mark.matrix]),
        pytest.param("2024/{}", 1, Breadcrumbs.true, marks=[pytest.mark.matrix]),
    ],
)
def test_copies_that_name_their_parent_and_the_first_one_come_last_and_end(impolite, strategy, pattern, links, menu):
    world = Breadcrumbs(pattern, links, menu)
    run_through(world, impolite, strategy, 0)
    visited = [fetch.url for _, fetch in world.requests if fetch.kind is Kind.PAGE]
    assert captured(world, visited) == set(world.true)
    assert max(visited.index(one) for one in world.true) <= PAGES + DOUBT + 3
    assert len(set(visited)) <= PAGES + LEAST + 5


def test_they_end_after_restarts_too(impolite):
    world = Breadcrumbs("{}", 1)
    run_through(world, impolite, "sharc-selective", 17)
    visited = {fetch.url for _, fetch in world.requests if fetch.kind is Kind.PAGE}
    assert captured(world, visited) == set(world.true)
    assert len(visited) <= PAGES + LEAST + 5


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize("empty", [5, 30])
def test_terms_that_their_neighbours_alone_name_are_all_captured_though_few_are_explained(impolite, strategy, empty):
    world = Made("{}", LOWER)
    terms = [world.made() for _ in range(200)]

    def content(url):
        if url not in terms:
            return url, terms[:1]
        at = terms.index(url)
        return ("nothing yet" if at % (empty + 1) else url), [ROOT, *terms[max(at - 1, 0) : at + 2]]

    world.content = content
    visited, capture = crawl(world, impolite, strategy)
    assert set(terms) <= set(visited)
    assert not capture.left_out.reasons


class Trail:
    """Pages that lead from one to the next below a page of a seed."""

    def __init__(self) -> None:
        self.pages, self.rule = table("a"), Barren()
        self.first = self.last = add(self.pages, "s/first", 1)
        self.rule.saw(self.first, self.first, 2, self.pages)

    def go_on(self, times, contents=2):
        for _ in range(times):
            self.last = add(self.pages, f"s/{len(self.pages)}", self.last)
            add(self.pages, f"s/{len(self.pages)}/next", self.last)
            self.rule.saw(self.last, self.first, contents, self.pages)
        return self.rule.closed

    def new(self, parent):
        page = add(self.pages, f"s/{len(self.pages)}", parent)
        self.rule.saw(page, page, 3, self.pages)


def test_what_copies_named_waits_after_a_few_and_is_left_after_many():
    trail = Trail()
    trail.go_on(DOUBT - 1)
    assert not trail.rule.doubted
    trail.go_on(1)
    assert trail.rule.doubted
    assert not trail.go_on(LEAST - DOUBT - 1)
    assert trail.go_on(1) == f"{LEAST} pages in a row were copies of others, and so were those that led there"
    assert trail.rule.has(trail.first)
    assert not any(map(trail.rule.has, (0, 1, -1, len(trail.pages))))


def test_a_new_content_among_them_begins_the_row_anew_and_one_elsewhere_does_not():
    trail = Trail()
    trail.go_on(LEAST - 1)
    trail.new(1)
    assert trail.go_on(1)
    trail = Trail()
    trail.go_on(LEAST - 1)
    trail.new(trail.last)
    assert not trail.go_on(LEAST)
    assert trail.rule.doubted


@pytest.mark.parametrize(
    ("contents", "bound"), [(LEAST // SHARE, LEAST), (LEAST // SHARE + 1, LEAST + SHARE), (5_000, MOST)]
)
def test_on_a_site_with_many_contents_it_takes_more(contents, bound):
    trail = Trail()
    assert not trail.go_on(bound - 1, contents)
    assert trail.go_on(1, contents)


def test_where_new_contents_lay_far_apart_it_takes_more():
    trail = Trail()
    trail.go_on(20)
    trail.new(trail.last)
    assert not trail.go_on(GAPS * 20 - 1)
    assert trail.go_on(1)


def test_copies_that_name_no_new_page_do_not_count_nor_what_seeds_show_and_name():
    trail = Trail()
    for _ in range(2 * LEAST):
        leaf = add(trail.pages, f"leaf/{len(trail.pages)}", trail.first)
        trail.rule.saw(leaf, trail.first, 2, trail.pages)
    assert not trail.rule.doubted
    pages, rule = table("a"), Barren()
    for _ in range(2 * LEAST):
        page = add(pages, f"{len(pages)}", 0)
        add(pages, f"{len(pages)}", page)
        rule.saw(page, 0, 1, pages)
    assert not rule.doubted
    assert not rule.has(0)


def test_what_copies_alone_named_waits_less_long_than_what_looks_like_a_trap_by_itself():
    traps, pages = Traps(), table("a")
    last, found = add(pages, "first", 1), []
    for number in range(DOUBT + 3):
        page, last = last, add(pages, f"{'abcdefghijklmnopq'[number]}", last)
        traps.showed(page, pages.urls[page], "one text", pages, lambda: False)
        found.append(doubts(traps, last, pages.urls))
    assert found == [0] * DOUBT + [1] * 3
    assert doubts(traps, 1, pages.urls) == 0
    assert LAST > 1
