"""Pages that name nothing but what nobody had named end, whatever they show; true pages never look so for long."""

from __future__ import annotations

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.pages import PageTable
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.frontier.traps import ever_new
from sharc_crawler.frontier.traps.ever_new import STEPS, TRAIL, EverNew
from sharc_crawler.model import Kind, Result, Sighting, Slot
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.unlikely import unlikely
from tests.frontier.conftest import World
from tests.frontier.traps.tables import ROOT, add, table

ROW = 40


class Tarpit(World):
    """Beside a true page: each says something else, or next to nothing, and names three new ones besides the menu."""

    def answer(self, fetch):
        assert len(self.requests) < 20 * ROW, "it has no end"
        outcome = super().answer(fetch)
        if fetch.kind is not Kind.PAGE or fetch.slot is Slot.SECOND:
            return outcome
        if fetch.url == ROOT:
            self.links[ROOT] = [Sighting(f"{ROOT}about"), Sighting(f"{ROOT}s/begin/story")]
        elif fetch.url != f"{ROOT}about":
            name = unlikely(fetch.url).rpartition("-")[2]
            others = [f"{ROOT}s/{name}{letter}/story" for letter in "abc"]
            self.links[fetch.url] = [Sighting(one) for one in (ROOT, f"{ROOT}about", *others)]
        return outcome._replace(fingerprint=fetch.url)


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
def test_ever_new_pages_of_ever_other_texts_come_to_an_end(impolite, monkeypatch, strategy):
    monkeypatch.setattr(ever_new, "ROW", ROW)
    world, store = Tarpit(), MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy), world.now)
    world.run(frontier)
    found = {fetch.url for _, fetch in world.requests if fetch.kind is Kind.PAGE}
    assert f"{ROOT}about" in found
    assert ROW < len(found) <= 2 * ROW
    why = {visit.outcome.error for visit in store.load().visits if visit.outcome.result is Result.REFUSED}
    assert "looks like a trap: 40 pages in a row named none but new ones (traps=0 takes them)" in why


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
def test_a_row_goes_on_after_a_restart(impolite, monkeypatch, strategy):
    monkeypatch.setattr(ever_new, "ROW", ROW)
    world, store = Tarpit(), MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy), world.now)
    world.run_restarted(frontier, impolite, store, ROW // 3)
    found = {fetch.url for _, fetch in world.requests if fetch.kind is Kind.PAGE}
    assert ROW < len(found) <= 2 * ROW


class Row:
    """Pages that lead from one to the next, two links from a seed."""

    def __init__(self) -> None:
        self.pages, self.rule = table("a"), EverNew()
        self.last = add(self.pages, "s/first/story", 1)

    def go_on(self, times, path="s/{}/story", *others):
        """Each names the front page, the menu and a new one."""
        for _ in range(times):
            new = add(self.pages, path.format("abcdefghij"[len(self.pages) % 10] * 3), self.last)
            self.rule.saw(self.last, [0, 1, new, *others], self.pages)
            self.last = new
        return self.rule.why_not(self.last - 1)


@pytest.fixture
def row(monkeypatch):
    monkeypatch.setattr(ever_new, "ROW", ROW)
    return Row()


def test_a_row_is_left_once_it_is_long_and_nothing_that_others_named(row):
    assert row.go_on(TRAIL - 1 + ROW - 1) is None
    assert row.go_on(1) == "40 pages in a row named none but new ones"
    assert row.rule.why_not(1) is None, "what the menu names"


def test_one_that_leads_no_further_or_names_what_is_known_begins_the_row_anew(row):
    first = row.last
    row.go_on(TRAIL - 1 + ROW - 1)
    row.rule.saw(add(row.pages, "s/leaf/story", first), [0, 1], row.pages)
    assert row.go_on(ROW - 1) is None
    assert row.go_on(1, "s/{}/story", first) is None
    assert row.go_on(TRAIL + ROW)
    assert row.rule.why_not(first) is None, "named before the row began"


def test_pages_of_another_shape_do_not_count(row):
    """A list names articles, each of which names its version for printers."""
    for number in range(2 * ROW):
        article = add(row.pages, f"article/{number}", row.last)
        row.rule.saw(article, [0, 1, add(row.pages, f"article/{number}/print", article)], row.pages)
    assert row.rule.why_not(article) is None


def test_many_that_one_page_names_do_not_count_though_each_leads_one_step_on(row):
    for letter in "abcdefgh" * ROW:
        article = add(row.pages, f"{letter}", row.last)
        row.rule.saw(article, [0, 1, add(row.pages, f"{letter}-print", article)], row.pages)
    assert row.rule.why_not(article) is None


class Read(list):
    """Links that say how many of them were looked at."""

    read = 0

    def __iter__(self):
        return (self._look(at) for at in range(len(self)))

    def __reversed__(self):
        return (self._look(at) for at in reversed(range(len(self))))

    def _look(self, at):
        self.read += 1
        return self[at]


def test_a_menu_of_hundreds_before_a_link_to_a_known_page_is_not_read_for_every_page(row):
    page, known = add(row.pages, "s/a/story", row.last), add(row.pages, "s/b/story", row.last)
    links = Read([0, 1] * 200 + [known])
    row.rule.saw(page, links, row.pages)
    assert links.read < 5


def test_what_all_pages_of_the_row_named_is_left_and_of_a_former_one_nothing(row):
    former = row.last
    row.go_on(TRAIL - 1 + ROW - 1)
    last = row.last - 1
    row.rule.saw(add(row.pages, "s/leaf/story", former), [0, 1], row.pages)
    first = row.last
    assert row.go_on(TRAIL + ROW)
    assert row.rule.why_not(first)
    assert not any(map(row.rule.why_not, (former, former + 20, last)))
    anew = Row()
    first = anew.last
    assert anew.go_on(TRAIL - 1 + ROW)
    assert anew.rule.why_not(first)


def test_a_seed_may_be_the_first_step():
    pages, rule = PageTable(), EverNew()
    last = add(pages, "s/aaa/story")
    for number in range(TRAIL - 1 + 2_000):
        assert not rule.why
        new = add(pages, f"s/{number % 7 * 'b'}c/story", last)
        rule.saw(last, [new], pages)
        last = new
    assert rule.why.startswith("2,000 pages")


def test_pages_that_name_new_ones_of_another_shape_alone_do_not_count_however_far_they_lead(row):
    for number in range(TRAIL + 2 * ROW):
        assert row.go_on(1, "s/{}/story" if number % 2 else "t/{}") is None


def test_two_steps_on_are_too_few_whatever_came_before(row):
    row.go_on(1)
    for letter in "abcdefgh" * ROW:
        article = add(row.pages, letter, 1)
        version = add(row.pages, f"{letter}-print", article)
        row.rule.saw(article, [0, 1, version], row.pages)
        row.rule.saw(version, [0, 1, add(row.pages, f"{letter}-last", version)], row.pages)
    assert row.rule.why_not(version) is None


def test_parts_of_many_series_side_by_side_do_not_count_though_each_names_but_the_next(row):
    """Breadth first, thousands are visited before one of them ends."""
    parts = [add(row.pages, f"article/{letter}/1", row.last) for letter in "abcdefghijklmnopqrstuvwxyz"]
    for number in range(2, 2 + TRAIL // 2):
        for at, part in enumerate(parts):
            parts[at] = add(row.pages, f"article/{'abcdefghijklmnopqrstuvwxyz'[at]}/{number}", part)
            row.rule.saw(part, [0, 1, parts[at]], row.pages)
    assert not row.rule.why


@pytest.mark.parametrize("new", [1, 2])
def test_of_a_page_that_names_several_new_ones_few_steps_before_it_count(row, new):
    first = row.last
    for _ in range(STEPS - 1 + ROW):
        named = [add(row.pages, f"s/{'abc'[at]}{len(row.pages) * 'd'}/story", row.last) for at in range(new)]
        row.rule.saw(row.last, [0, 1, *named], row.pages)
        row.last = named[0]
    assert bool(row.rule.why_not(first)) == (new > 1)
