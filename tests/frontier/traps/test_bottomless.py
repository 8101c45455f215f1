"""Folders that have whatever page is asked for end, whatever it says; sites that seem to be such lose nothing."""

from __future__ import annotations

import random
import re

import pytest

from sharc_crawler.frontier.traps.bottomless import (
    ALONE,
    ASK,
    COMMON,
    LAST,
    LONG,
    LOOKS,
    LOST,
    MORE,
    ROW,
    SERIES,
    SHORT,
    Bottomless,
)
from sharc_crawler.frontier.traps.fleeting import FleetingLinks
from sharc_crawler.frontier.traps.probing import looked_at
from sharc_crawler.frontier.traps.rules import Traps
from sharc_crawler.known_urls import Texts
from sharc_crawler.model import Kind, Outcome, Result
from sharc_crawler.unlikely import is_nobodys, look_at, nobodys
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


class NamingTrueOnes(ErrorPages):
    """They name a true page by chance, too."""

    def content(self, url):
        content, links = super().content(url)
        return (content, [*links, self.dice.choice(self.true)]) if content.startswith("Error") else (content, links)


class NamingParents(ErrorPages):
    """They name the folder that they lie in, another page of it and one within themselves."""

    def content(self, url):
        content, links = super().content(url)
        folder = url.rpartition("/")[0]
        if content.startswith("Error"):
            within = [f"{one}{self.made().removeprefix(ROOT)}" for one in (f"{folder}/", f"{url}/")]
            links = [ROOT, folder if folder.count("/") > 2 else ROOT, *within]
        return content, links


class ForEachAddress(Made):
    """Each made-up address always shows and names the same, and names five further ones."""

    true = Beside.true

    def content(self, url):
        if url == ROOT:
            return url, [self.made(), *self.true[:6]]
        if url in self.true:
            at = self.true.index(url)
            return url, [ROOT, *[self.made()] * (at % 5 == 0), *self.true[at * 2 : at * 2 + 6]]
        former, self.dice = self.dice, random.Random(url)
        links = [self.made() for _ in range(5)]
        self.dice = former
        return f"about {url}", links

    def __init__(self) -> None:
        super().__init__("garden/{}/{}", LOWER)


class LeadingNoFurther(ErrorPages):
    """A third of them."""

    def content(self, url):
        content, links = super().content(url)
        return content, links if self.dice.random() < 2 / 3 or not content.startswith("Error") else [ROOT]


class Growing(ErrorPages):
    """They name what lies within themselves, by three names."""

    def content(self, url):
        content, links = super().content(url)
        if content.startswith("Error"):
            within = [f"{url.rstrip('/')}/{name}/" for name in ("about", "contact", "news")]
            links = [one for one in within if max(map(one.count, ("about", "contact", "news"))) <= 3]
        return content, links

    def made(self):
        return f"{ROOT}{self.dice.choice(['about', 'contact', 'news'])}/"


@STRATEGIES
@pytest.mark.parametrize(
    ("site", "times"),
    [(NamingTrueOnes, 3), (NamingParents, 5), (ForEachAddress, 3), (LeadingNoFurther, 4), (Growing, 5)],
)
def test_so_they_do_whatever_else_they_name_and_where_their_links_stay(impolite, site, times, strategy):
    world = site()
    visited, _ = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    again = [url for url in visited if "no-such-page" in url]  # one more for each true page that leads there
    assert len(visited) - len(again) <= times * len(world.true)
    assert len(again) <= 1.2 * len(world.true)


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


class SuggestingWithTitles(Suggesting):
    """It says something else each time."""

    def gone(self, url):
        return f"Not found {self.dice.random()}", super().gone(url)[1]


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
@pytest.mark.parametrize(
    "site", [Tree, Suggesting, SuggestingWithTitles, SuggestingInABigTree, SuggestingTheSame, Writing]
)
def test_a_tree_whose_pages_name_new_ones_alone_is_captured_whatever_its_error_page_names(impolite, site, strategy):
    world = site()
    visited, _ = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)


class Tokens(Made):
    """Each link has another token, and each page says something else at each answer."""

    def __init__(self, pages: int = 40) -> None:
        super().__init__("", "")
        self.true = [f"{ROOT}page/{number}" * bool(number) or ROOT for number in range(pages)]

    def content(self, url):
        bare = url.partition("?")[0]
        at = self.true.index(bare)
        others = [
            other for other in (*range(3 * at + 1, 3 * at + 4), at + 7, (at - 1) // 3) if 0 <= other < len(self.true)
        ]
        return f"{bare} {self.dice.random()}", [f"{self.true[other]}?r={self.dice.random()}" for other in others]

    def answer(self, fetch):
        gone = fetch.kind in {Kind.PAGE, Kind.PROBE} and fetch.url.partition("?")[0] not in self.true
        return Outcome(Result.GONE, self.now, self.now, 404) if gone else super().answer(fetch)


def test_pages_whose_links_have_other_tokens_each_time_are_captured_though_they_say_something_else(impolite):
    world = Tokens()
    visited, capture = crawl(world, impolite)
    assert {url.partition("?")[0] for url in visited} >= set(world.true)
    assert len(visited) <= 2 * len(world.true)
    assert any("as addresses do that nobody names" in why for why in capture.left_out.reasons)


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
        assert why == "20 pages in a row named none but new ones, as addresses do that nobody names"
    assert not row.go_on(5 * ROW) or gone
    assert not row.rule.why_not(1, f"{ROOT}x/other"), "what another page named"
    assert not row.rule.why_not(row.last, f"{ROOT}y/z/other"), "of another folder, or of none"


@pytest.mark.parametrize("stays", [0, 1])
def test_both_pages_that_are_asked_again_name_none_of_the_folder_again(row, stays):
    known = add(row.pages, "x/known", 1)
    row.go_on(ASK - 1)
    row.go_on(1, known=[known])
    row.lead(gone=False)
    for page in row.asked_again:
        row.looks.named(page, [known] if stays else [], row.pages)
    assert not row.go_on(ROW - ASK - 1)
    assert bool(row.go_on(1)) is not bool(stays)


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
    row.go_on(SERIES * ASK - 1, new=1)
    assert row.wanted == []
    row.go_on(SERIES, new=1)
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
        row.wanted += row.rule.saw(page, named, row.pages, None, row.looks)
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
    assert row.go_on(1).startswith("106 pages in a row named none that were known")


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
    assert "2,000 pages in a row named none that were known" in row.go_on(3)


class Signed(Made):
    """Made-up pages tell their own names. One of their links stays, three are others at each answer; what was not named
    is not there.
    """

    true = Beside.true

    def __init__(self) -> None:
        super().__init__("x/{}", LOWER)
        self.named = {ROOT, *self.true}

    def made(self):
        self.named.add(url := super().made())
        return url

    def content(self, url):
        if url in self.true or url == ROOT:
            at = self.true.index(url) if url in self.true else 0
            return url, [ROOT, *self.true[at * 2 : at * 2 + 6], *[self.made()] * (at % 5 == 0)]
        self.named.add(stays := f"{ROOT}x/{url.rpartition('/')[2][::-1][:9]}y")
        return f"a word of our tongue: {url}\na word of our tongue", [ROOT, stays, *(self.made() for _ in range(3))]

    def answer(self, fetch):
        if fetch.kind in {Kind.PAGE, Kind.PROBE} and (looked_at(fetch.url) or fetch.url) not in self.named:
            return Outcome(Result.GONE, self.now, self.now, 404)
        return super().answer(fetch)


class Prefixed(Tokens):
    """Letters before each path, and no answer under a query that nobody names."""

    def content(self, url):
        path = url.removeprefix(ROOT).partition("/")[2] or "page/0"
        content, links = super().content(ROOT + path if path != "page/0" else ROOT)
        paths = [link.removeprefix(ROOT).partition("?")[0] or "page/0" for link in links]
        return content, [f"{ROOT}{''.join(self.dice.choices(LOWER, k=9))}/{one}" for one in paths]

    def answer(self, fetch):
        path = fetch.url.partition("#")[0].removeprefix(ROOT)
        bare = path.partition("/")[2]
        if fetch.kind not in {Kind.PAGE, Kind.PROBE} or not path or ROOT + bare in self.true or bare == "page/0":
            return Made.answer(self, fetch._replace(url=fetch.url.partition("#")[0]))
        return Outcome(Result.GONE, self.now, self.now, 404)


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
def test_a_trap_ends_that_gives_signed_names_though_some_links_stay(impolite, strategy):
    world = Signed()
    visited, _ = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    assert len(visited) <= 1 + len(world.true) + 2 * ALONE + 20


def test_letters_before_each_path_end_though_unknown_queries_are_not_answered(impolite):
    world = Prefixed()
    visited, _ = crawl(world, impolite)
    assert {"/".join(url.split("/")[4:]) for url in visited if "page" in url} >= {f"page/{one}" for one in range(40)}
    assert len(visited) <= 5 * len(world.true)


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
    row.rule.saw(row.last, [*row.led[:-1]], row.pages, None, None)
    assert counted.read < 10
