"""What a sitemap lists is visited, whatever it shows: a sitemap has an end. What else looks like it is left as ever."""

from __future__ import annotations

from itertools import count

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Kind, Result, Sighting, Slot
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World

ROOT, SITEMAP = "http://h/", "http://h/sitemap.xml"
LISTED = 60


class Templates(World):
    """Near-empty pages that a sitemap lists; ``moved``: each leads on; ``endless``: each names new ones of its like."""

    def __init__(self, address: str, *, moved: bool = False, endless: bool = False) -> None:
        super().__init__()
        self.moved, self.endless, self.numbers = moved, endless, count(LISTED)
        self.pages = [ROOT + address.format(number) for number in range(LISTED)]
        listed = [f"{page}?old" if moved else page for page in self.pages]
        self.links = {SITEMAP: [Sighting(page, via=SITEMAP) for page in listed]}
        self.address = ROOT + address

    def answer(self, fetch):
        outcome = super().answer(fetch)
        if fetch.kind is not Kind.PAGE:
            return outcome
        if fetch.url.endswith("?old"):
            return outcome._replace(result=Result.REDIRECTED, location=fetch.url.removesuffix("?old"))
        if self.endless:
            self.links[fetch.url] = [Sighting(self.address.format(next(self.numbers))) for _ in range(3)]
        return outcome._replace(fingerprint="front" if fetch.url == ROOT else "Sold out.")


def visited(world, impolite, strategy="bfs", every=0):
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    capture = frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(SITEMAP,), strategy=strategy, limit=900), world.now)
    if every:
        world.run_restarted(frontier, impolite, store, every)
    else:
        world.run(frontier, most=4_000)
    found = {fetch.url for _, fetch in world.requests if fetch.kind is Kind.PAGE and fetch.slot is not Slot.SECOND}
    return found, capture


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize("address", ["page/{}.html", "s/x7Gk2p{}a/story", "p?q=x7Gk2p{}a", "p?q={}"])
def test_what_a_sitemap_lists_is_visited_though_all_of_it_says_the_same(impolite, address, strategy):
    world = Templates(address)
    found, capture = visited(world, impolite, strategy)
    assert set(world.pages) <= found
    assert not capture.left_out.reasons


@pytest.mark.parametrize("every", [0, 7])
def test_so_is_what_leads_on_to_another_address(impolite, every):
    """And so are thirty of the same text that a page names and that lead nowhere."""
    world = Templates("page/{}.html", moved=True)
    world.links[ROOT] = [Sighting(f"{ROOT}page/{number}.html") for number in range(100, 130)]
    found, _ = visited(world, impolite, "dfs", every)
    assert set(world.pages) <= found
    assert len(found) == 1 + 2 * LISTED + 30


@pytest.mark.matrix
@pytest.mark.parametrize("every", [0, 17])
@pytest.mark.parametrize("address", ["page/{}.html", "s/x7Gk2p{}a/story"])
def test_ever_new_pages_of_their_like_end_all_the_same(impolite, address, every):
    world = Templates(address, endless=True)
    found, _ = visited(world, impolite, every=every)
    assert set(world.pages) <= found
    assert len(found) <= 3 * LISTED
