"""Endless sites whose addresses tell nothing end within three times their true pages."""

from __future__ import annotations

import random
from itertools import product
from types import SimpleNamespace

import pytest

from sharc_crawler.addresses.known_urls import SeenUrls
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Kind, Slot
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.traps.addresses import path_of, shape
from sharc_crawler.traps.echoes import Echoes, _EchoGroup
from tests.traps.made_sites import (
    BASE36,
    LOWER,
    MIXED,
    ROOT,
    TRUE,
    Behind,
    Beside,
    Everywhere,
    Made,
    captured,
    crawl,
    run_through,
)
from tests.traps.tables import add, table


def cases():
    """Each kind of site, of name and of pattern is in some quick case; all of them together are long."""
    quick = {
        (Beside, "{}", LOWER),
        (Everywhere, "x/{}/{}", MIXED),
        (Behind, "{}/{}", LOWER),
        (Beside, "p?q={}&r={}", BASE36),
    }
    for site, pattern, names in product(
        [Beside, Everywhere, Behind], ["{}", "x/{}", "{}/{}", "x/{}/{}", "p?q={}&r={}"], [LOWER, MIXED, BASE36]
    ):
        if site is Behind and "?" in pattern:
            continue  # nothing would be left of its addresses
        for strategy in ("bfs", "sharc-selective", "dfs"):
            long = (site, pattern, names) not in quick or strategy == "dfs"
            yield pytest.param(site, pattern, names, strategy, marks=[pytest.mark.long] if long else [])


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(("site", "pattern", "names", "strategy"), list(cases()))
def test_sites_of_made_up_addresses_end(impolite, site, pattern, names, strategy):
    world = site(pattern, names)
    visited, capture = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    assert len(visited) <= 3 * (TRUE + 1)
    assert any("looks like a trap" in reason for reason in capture.left_out.reasons)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("site", "pattern"),
    [(Beside, "{}"), (Beside, "x/{}/{}"), (Beside, "p?q={}&r={}"), (Everywhere, "{}"), (Behind, "{}/{}")],
)
def test_sites_of_ten_pages_end(impolite, site, pattern):
    for strategy in ("bfs", "sharc-selective", "dfs"):
        world = site(pattern, LOWER)
        world.true = world.true[:10]
        visited, _ = crawl(world, impolite, strategy)
        assert captured(world, visited) == set(world.true)
        assert len(visited) <= 3 * (10 + 1)


@pytest.mark.parametrize("strategy", ["bfs", "dfs"])
@pytest.mark.parametrize("site", [Beside, Everywhere, Behind])
@pytest.mark.parametrize("pages", [3, 4])
def test_sites_of_three_and_four_pages_end(impolite, site, strategy, pages):
    """Visits are counted: what is asked for to see a page's links once more is none."""
    world = site("{}/{}", LOWER)
    world.true = world.true[: pages - 1]
    visited, _ = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    assert len({url for url in visited if "no-such-page" not in url}) <= 3 * pages


@pytest.mark.matrix
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
@pytest.mark.parametrize("pattern", ["{}", "x/{}/{}", "p?q={}&r={}"])
@pytest.mark.parametrize("pages", [5, 6])
def test_sites_of_five_pages_that_name_ten_made_up_ones_each_end(impolite, pattern, strategy, pages):
    """The front page is one of them: its own made-up links alone are three times the four that are true."""
    world = Everywhere(pattern, LOWER)
    world.true = world.true[: pages - 1]
    visited, capture = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    assert len(visited) <= 3 * pages
    assert any("looks like a trap" in reason for reason in capture.left_out.reasons)


class SoftErrorsThatLeadAway(Made):
    """Each page names ten made-up addresses; their error page, of status 200, names others of another shape."""

    true = Beside.true

    def content(self, url):
        if url in self.true or url == ROOT:
            return url, [ROOT, *self.true, *(self.made() for _ in range(self.number))]
        return "Sorry", [ROOT, *(self.made().replace(ROOT, f"{ROOT}x/{number}/") for number in range(5))]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "every"), [("bfs", 0), ("dfs", 23)])
def test_error_pages_that_lead_to_others_of_another_shape_are_few(impolite, strategy, every):
    world = SoftErrorsThatLeadAway("{}", LOWER)
    run_through(world, impolite, strategy, every)
    visited = {fetch.url for _, fetch in world.requests if fetch.kind is Kind.PAGE}
    assert set(world.true) <= visited
    assert len(visited) <= 3 * (TRUE + 1)


class ChainOfOneFolder(Made):
    """Each page names the next one alone, and ten made-up ones, which show three texts by turns."""

    true = tuple(f"{ROOT}stories/{one}" for one in ("history", "visit", "shop", "school", "theatre", "friends", "news"))

    def __init__(self, ending: str) -> None:
        super().__init__(f"{{}}/{{}}{ending}", MIXED)
        self.true = tuple(f"{one}{ending}" for one in self.true)

    def content(self, url):
        made = [self.made() for _ in range(10)]
        if url == ROOT or url in self.true:
            at = self.true.index(url) + 1 if url in self.true else 0
            return url, [ROOT, *self.true[at : at + 1], *made]
        return f"the trap {self.dice.randrange(3)}", [ROOT, *made]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["", ".html"])
@pytest.mark.parametrize("seed", range(4))
def test_a_folder_that_true_pages_share_makes_no_made_up_step_a_name(impolite, seed, ending):
    world = ChainOfOneFolder(ending)
    world.dice = random.Random(seed)
    visited, _ = crawl(world, impolite, "bfs")
    assert set(world.true) <= set(visited)


class Tree(Made):
    """Each page names three that it alone names, and more that are made up."""

    true = tuple(f"{ROOT}{a}{b}{c}" for a, b, c in product("abcd", "lmnop", "stuvx"))

    def content(self, url):
        if url != ROOT and url not in self.true:
            return "the trap", [ROOT, *(self.made() for _ in range(10))]
        at = 0 if url == ROOT else self.true.index(url) + 1
        return url, [ROOT, *self.true[3 * at : 3 * at + 3], *(self.made() for _ in range(self.number))]


@pytest.mark.matrix(3)
@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["bfs", pytest.param("sharc-selective", marks=pytest.mark.slow), "dfs"])
@pytest.mark.parametrize("links", [4, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("every", [0, pytest.param(23, marks=pytest.mark.long)])
def test_a_tree_that_names_more_made_up_pages_than_its_own_ends(impolite, links, strategy, every):
    world = Tree("{}", LOWER, links)
    run_through(world, impolite, strategy, every)
    visited = [fetch.url for _, fetch in world.requests if fetch.slot is not Slot.SECOND]
    assert set(world.true) <= set(visited)
    assert len(visited) <= 3 * (len(world.true) + 1)


class News(Tree):
    """Beside the made-up links, the front page names news, other ones at each answer."""

    news = tuple(f"{ROOT}news{a}{b}" for a, b in product(LOWER, "abc"))

    def content(self, url):
        if url in self.news:
            return url, [ROOT]
        content, links = super().content(url)
        return content, [*links, *(self.dice.sample(self.news, 20) if url == ROOT else ())]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["bfs", "dfs"])
def test_news_that_are_gone_when_their_page_is_asked_again_are_captured(impolite, strategy):
    world = News("{}", LOWER, 4)
    visited, _ = crawl(world, impolite, strategy)
    shown = {link.url for link in world.first_named}
    assert shown & set(world.news) <= set(visited)
    assert set(world.true) <= set(visited)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(("site", "strategy"), [(Beside, "bfs"), (Behind, "dfs")])
def test_what_was_seen_holds_after_a_restart(impolite, site, strategy):
    world, store = site("x/{}/{}", LOWER), MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=f"{strategy}:revisits=none", hops=0), world.now)
    world.run_restarted(frontier, impolite, store, every=9)
    visited = {fetch.url for _, fetch in world.requests}
    assert captured(world, visited) == set(world.true)
    assert len(visited) <= 3 * (TRUE + 1)


def test_a_page_is_left_by_any_group_of_it_that_is_closed():
    echoes, pages = Echoes(SeenUrls(), ()), SimpleNamespace(parents={1: 0}, depths={0: 1}, kinds={0: Kind.PAGE})
    url = f"{ROOT}a/b1"
    echoes._groups = {shape(url): _EchoGroup(), path_of(url): _EchoGroup()}
    echoes._closed = True
    assert echoes.why_not(url, 0, pages) is None
    echoes._groups[path_of(url)].close(9, "")
    assert echoes.why_not(url, 0, pages).startswith("9 pages in a row")


class Seen:
    """A front page and ``a``, which names pages of one shape; ``contents``: of the site, these two among them."""

    def __init__(self, contents: int = 2) -> None:
        self.pages, self.first, self.asked = table("a"), SeenUrls(), 0
        for number in range(contents - 2):
            self.first.add(f"story {number}", 0)
        self.echoes = Echoes(self.first, ())
        for page, content in enumerate(("front", "about")):
            self.see(page, content)

    def see(self, page: int, content: str, *, feeds: bool = True, error: bool = False) -> bool:
        def asked() -> bool:
            self.asked += 1
            return feeds

        return self.echoes.saw(page, self.pages.urls[page], content, self.pages, asked, error=error)

    def show(self, number: int, content: str = "the trap", parent: int = 1, path: str = "x/{}", **more: bool) -> int:
        """So many pages that one page names, and that show one text."""
        for _ in range(number):
            page = add(self.pages, path.format(len(self.pages)), parent)
            self.see(page, content, **more)
        return page

    def waits(self, parent: int = 1, path: str = "x/1") -> bool:
        return self.echoes.doubts(add(self.pages, path, parent), self.pages)

    def left(self, parent: int = 1, path: str = "x/1") -> bool:
        return self.echoes.why_not(f"{ROOT}{path}", parent, self.pages) is not None


def test_after_two_echoes_what_else_a_page_names_of_their_shape_waits():
    seen = Seen()
    seen.show(2)
    assert not seen.waits()
    seen.show(1)
    assert seen.waits()
    assert not seen.waits(path="x/y/1"), "of another shape"
    assert not seen.waits(parent=-1), "a seed"
    sitemap = add(seen.pages, "sitemap.xml", 0, Kind.SITEMAP)
    assert not seen.waits(sitemap)
    assert seen.waits(len(seen.pages) - 1, "p/q/r/s") is False
    assert not seen.left(), "it waits, and is not left"


def test_a_page_is_new_where_no_other_had_shown_the_same():
    seen = Seen()
    assert [seen.see(add(seen.pages, f"x/{number}", 1), "news") for number in range(2)] == [True, False]


def test_copies_that_lead_nowhere_are_no_echoes_but_where_an_error_page_shows_the_same():
    for error in (False, True):
        seen = Seen()
        seen.show(1)
        last = seen.show(30, feeds=False, error=error)
        assert seen.waits() is error
        assert (last in seen.echoes.echoes) is error
        assert not seen.left()


def test_once_three_copies_of_a_text_led_on_its_other_copies_count_and_are_not_asked():
    seen = Seen()
    seen.show(1)
    seen.show(2)
    seen.show(1, feeds=False)
    assert seen.asked == 3
    assert len(seen.echoes.echoes) == 3
    seen.show(1)
    seen.show(5, feeds=False)
    assert seen.asked == 4
    assert len(seen.echoes.echoes) == 1 + 3 + 5


@pytest.mark.parametrize(("contents", "closed"), [(13, True), (14, False)])
def test_a_group_is_left_after_twenty_echoes_in_a_row_three_for_two_contents(contents, closed):
    group = _EchoGroup()
    for _ in range(contents):
        group.new(deep=True)
    for _ in range(20):
        assert not group.closed
        group.echo("", deep=True, row=20, proven=False)
    assert bool(group.closed) is closed
    group.echo("", deep=True, row=20, proven=False)
    assert group.closed.startswith("20 pages" if closed else "21 pages")


def test_one_that_follows_a_trap_is_left_after_twenty_echoes_in_a_row_whatever_it_had_shown():
    group = _EchoGroup()
    for time in range(2):
        for _ in range(40):
            group.new(deep=True)
        for _ in range(19 + time):
            assert not group.closed
            group.echo("", deep=True, row=20, proven=True)
    assert group.closed


@pytest.mark.parametrize(("contents", "row"), [(20, 200), (150, 227), (201, 303)])
def test_where_pages_are_there_before_they_are_named_a_row_is_as_long_as_the_site_and_half_of_it(contents, row):
    """Two hundred at least; the text of the copies is one of the contents."""
    seen = Seen(contents)
    seen.echoes.barren.patient = True
    seen.show(row)
    assert not seen.left()
    seen.show(1)
    assert seen.left()


@pytest.mark.parametrize(("contents", "enough"), [(4, 4), (7, 4), (8, 5), (9, 5), (30, 16), (100, 20)])
def test_once_nothing_else_waits_half_of_what_the_site_has_shown_suffices(contents, enough):
    seen = Seen(contents - 1)
    seen.show(1)
    seen.show(enough - 1)
    seen.echoes.nothing_else()
    assert not seen.left()
    seen.show(1)
    seen.echoes.nothing_else()
    assert seen.left() is (seen.left(path="x/other9") or True)
    assert not seen.left(0), "what seeds name"
    assert not seen.left(path="other"), "of another shape"


@pytest.mark.parametrize(("contents", "enough"), [(19, 4), (20, 5), (100, 20)])
def test_of_what_echoes_alone_name_a_quarter_suffices(contents, enough):
    seen = Seen(contents - 1)
    seen.show(1)
    echo = seen.show(1)
    for number in range(enough):
        seen.echoes.nothing_else()
        assert not seen.left(echo, "else/where/1")
        seen.show(1, parent=echo, path="y/" * (number + 2) + "{}")
    seen.echoes.nothing_else()
    assert seen.left(echo, "else/where/1")
    assert not seen.left(1, "else/where/1")


def test_echoes_that_seeds_name_are_none_that_could_be_left():
    seen = Seen()
    seen.show(1)
    seen.show(19, parent=0)
    seen.echoes.nothing_else()
    assert not seen.left()


def test_a_new_content_begins_the_row_anew():
    seen = Seen()
    seen.show(1)
    seen.show(4)
    seen.show(1, "news")
    seen.echoes.nothing_else()
    assert not seen.left()
    seen.show(3)
    seen.echoes.nothing_else()
    assert not seen.left()
    seen.show(1)
    seen.echoes.nothing_else()
    assert seen.left()


def test_what_an_echo_leads_to_and_shows_something_new_speaks_for_the_echoes():
    seen = Seen()
    seen.show(1)
    echo = seen.show(4)
    seen.show(1, "news", parent=echo, path="new")
    seen.echoes.nothing_else()
    assert not seen.left()


def test_a_page_under_other_queries_is_a_group_of_its_own():
    seen = Seen()
    for number in range(6):
        page = add(seen.pages, f"s?page={number}&sort={number}", 1)
        seen.see(page, "a list")
    assert seen.waits(path="s?sort=up")
    assert not seen.waits(path="t?page=1&sort=1"), "of the same shape"
    seen.echoes.nothing_else()
    assert seen.left(path="s?sort=up")
    assert not seen.left(path="t?sort=up")


def test_what_was_shown_before_the_first_copy_is_counted_with_it():
    pages, first = table("a", *(f"x/{number}" for number in range(14))), SeenUrls()
    for page in range(16):
        first.add(f"story {page}", page)
    echoes = Echoes(first, list(range(16)))
    for _ in range(20):
        page = add(pages, f"x/{len(pages)}", 1)
        echoes.saw(page, pages.urls[page], "story 5", pages, lambda: True, error=False)
    assert echoes.why_not(f"{ROOT}x/1", 1, pages) is None, "fourteen contents of that shape"
    page = add(pages, "x/99", 1)
    echoes.saw(page, pages.urls[page], "story 5", pages, lambda: True, error=False)
    assert echoes.why_not(f"{ROOT}x/1", 1, pages).startswith("21 pages in a row of the shape /*/# were")


def test_five_hundred_shapes_are_watched_and_what_echoes_name():
    seen = Seen()
    for number in range(500 - 2):  # the front page and its link have one each
        last = seen.show(1, f"story {number}", path="y/" * number + "{}")
    first = seen.show(1, path="x{0}/{0}/")
    seen.show(9, path="x{0}/{0}/")
    assert not seen.waits(last, "x1/1/"), "one shape too many"
    watched = "y/" * (500 - 3) + "{}"
    seen.show(9, path=watched)
    assert seen.waits(last, watched.format(1))
    seen.show(2, parent=first, path="y/y/y/y/{}")
    assert seen.waits(first, "else/where/1")


@pytest.mark.parametrize(("known", "remembered"), [(19_999, True), (20_000, False)])
def test_twenty_thousand_echoes_are_remembered(known, remembered):
    seen = Seen()
    seen.show(1)
    seen.echoes.echoes = dict.fromkeys(range(10**6, 10**6 + known), 0)
    assert (seen.show(1) in seen.echoes.echoes) is remembered


def test_one_echo_makes_nothing_wait_where_its_text_was_shown_elsewhere():
    seen = Seen()
    seen.see(add(seen.pages, "far/away", 0), "the trap")
    seen.show(1)
    assert not seen.waits()
    seen.show(1)
    assert seen.waits()


def test_what_echoes_name_speaks_against_what_looks_like_it_too():
    seen = Seen()
    seen.show(1, path="p/{}")
    echo = seen.show(1, path="p/q/{}")
    seen.show(1)
    seen.show(1, parent=echo)
    assert seen.waits(), "one echo that a page named, and one that an echo named"


def test_a_reason_says_what_the_echoes_have_in_common():
    seen = Seen()
    seen.show(1)
    echo = seen.show(9)
    for number in range(9):
        page = add(seen.pages, f"s?page={number}&sort={number}", 1)
        seen.see(page, "a list")
        seen.show(1, parent=echo, path="y/" * (number + 2) + "{}")
    seen.echoes.nothing_else()
    told = [
        seen.echoes.why_not(ROOT + path, parent, seen.pages).partition("row ")[2].partition(" were copies")[0]
        for path, parent in (("x/1", 1), ("s?sort=up", 1), ("else/where/1", echo))
    ]
    assert told == ["of the shape /*/#", "of h/s", "that only such pages named"]


def test_an_echo_that_a_seed_alone_named_is_none_that_could_be_left_and_what_it_brings_ends_no_row():
    for parent, left in ((0, True), (1, False)):
        seen = Seen()
        seen.show(5)
        seen.show(1, "news", parent=parent)
        seen.echoes.nothing_else()
        assert seen.left() is left
