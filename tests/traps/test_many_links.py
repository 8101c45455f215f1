"""Sites of many made-up links a page end soon, in whatever order they are visited; large true ones lose nothing."""

from __future__ import annotations

import random

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Kind, Outcome, Result, Slot
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.traps.bottomless import HUB, LAST
from sharc_crawler.traps.common import MANY
from sharc_crawler.traps.rules import Traps
from tests.traps.made_sites import LOWER, ROOT, Made, crawl
from tests.traps.tables import add, table


class Endless(Made):
    """Each page says something else, and names so many that are made up; whatever is asked for is there."""

    def __init__(self, seed: int, links: int) -> None:
        super().__init__("p/{}", LOWER, links)
        self.dice = random.Random(seed)

    def content(self, url):
        return f"w{self.dice.random()}", [self.made() for _ in range(self.number)]


@pytest.mark.matrix
@pytest.mark.parametrize(("seed", "strategy"), [(1, "bfs"), (2, "sharc-selective"), (3, "dfs")])
def test_a_site_of_200_made_up_links_a_page_ends_before_many_are_known(impolite, seed, strategy):
    world, store = Endless(seed, 200), MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(CaptureSpec("h", (ROOT,), strategy=strategy, sitemaps=(), hops=0), world.now)
    world.run(frontier, most=1_000)
    assert len([1 for _, one in world.requests if one.slot is not Slot.SECOND]) <= 250, "200 are named by the seed"
    assert len(store.load().pages) <= 6_000


class Sections(Made):
    """A front page names sections, each of which names documents that nobody else does; nothing else is there."""

    def __init__(self, sections: int, each: int) -> None:
        super().__init__("", "")
        self.sections = [f"{ROOT}section/{number}" for number in range(sections)]
        self.of = {
            one: [f"{ROOT}section/{at}-{number}" for number in range(each)] for at, one in enumerate(self.sections)
        }
        self.true = {ROOT, *self.sections, *(one for some in self.of.values() for one in some)}

    def content(self, url):
        return url, self.sections if url == ROOT else self.of.get(url, [])

    def answer(self, fetch):
        if fetch.kind in {Kind.PAGE, Kind.PROBE} and fetch.url.partition("?")[0] not in self.true:
            return Outcome(Result.GONE, self.now, self.now, 404)
        return super().answer(fetch)


@pytest.mark.matrix
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
def test_sections_that_name_none_but_new_ones_are_captured_whole(impolite, strategy):
    world = Sections(2 * HUB, 2 * HUB)
    visited, capture = crawl(world, impolite, strategy, limit=0)
    assert world.true <= set(visited)
    assert len(visited) <= len(world.true) + 15, "few were asked for to see what the site has"
    assert not capture.left_out.reasons


def test_however_many_sections_a_front_page_names_none_is_left_for_its_new_links_alone():
    pages, traps = table("front"), Traps()
    for number in range(max(MANY, LAST) + 10):
        page = add(pages, f"section/{number}", 0)
        traps.named(page, [add(pages, f"section/{number}-{one}", page) for one in "ab"], pages)
    assert traps.bottomless is not None
    assert not traps.bottomless.closed


class Hub(Endless):
    """The same beside a page that names many true ones, each of which leads no further."""

    def __init__(self) -> None:
        super().__init__(5, 200)
        self.true = [f"{ROOT}p/{number}" for number in range(5 * HUB)]

    def content(self, url):
        if url == ROOT:
            return url, [f"{ROOT}archive", *(self.made() for _ in range(3))]
        if url in self.true:
            return url, [ROOT]
        return (url, [ROOT, *self.true]) if url == f"{ROOT}archive" else super().content(url)


@pytest.mark.matrix
@pytest.mark.parametrize("strategy", ["bfs", "dfs", "sharc-selective"])
def test_what_a_hub_had_named_is_captured_though_its_folder_is_a_traps(impolite, strategy):
    world = Hub()
    visited, _ = crawl(world, impolite, strategy, limit=0)
    assert set(world.true) <= set(visited)
    assert len(visited) <= len(world.true) + 40
