"""Endless sites whose addresses tell nothing end within three times their true pages."""

from __future__ import annotations

import random
from itertools import product
from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.frontier.traps.echoes import Echoes, _EchoGroup, path_of, shape
from sharc_crawler.known_urls import SeenUrls
from sharc_crawler.model import Kind, Slot
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.traps.made_sites import (
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


@pytest.mark.slow
@pytest.mark.parametrize(("site", "pattern", "names", "strategy"), list(cases()))
def test_sites_of_made_up_addresses_end(impolite, site, pattern, names, strategy):
    world = site(pattern, names)
    visited, capture = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    assert len(visited) <= 3 * (TRUE + 1)
    assert any("looks like a trap" in reason for reason in capture.left_out.reasons)


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

    def content(self, url):
        made = [self.made() for _ in range(10)]
        if url == ROOT or url in self.true:
            at = self.true.index(url) + 1 if url in self.true else 0
            return url, [ROOT, *self.true[at : at + 1], *made]
        return f"the trap {self.dice.randrange(3)}", [ROOT, *made]


@pytest.mark.parametrize("seed", range(4))
def test_a_folder_that_true_pages_share_makes_no_made_up_step_a_name(impolite, seed):
    world = ChainOfOneFolder("{}/{}", MIXED)
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


@pytest.mark.parametrize("strategy", ["bfs", "dfs"])
def test_news_that_are_gone_when_their_page_is_asked_again_are_captured(impolite, strategy):
    world = News("{}", LOWER, 4)
    visited, _ = crawl(world, impolite, strategy)
    shown = {link.url for link in world.first_named}
    assert shown & set(world.news) <= set(visited)
    assert set(world.true) <= set(visited)


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
