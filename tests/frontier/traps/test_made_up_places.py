"""What is handed on from page to page: a site's versions are captured whole, sessions end."""

from __future__ import annotations

import random

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.frontier.traps.made_up_places import LEAST_MADE_UP, MadeUpPlaces
from sharc_crawler.model import Kind, Sighting, Slot
from tests.frontier.conftest import World

ROOT = "http://h/"


class Versions(World):
    """A site's files under the digests of its versions: in each, one file in so many is another."""

    names, one_in, versions = 17, 6, 12

    def __init__(self, seed: int) -> None:
        super().__init__()
        dice, self.shows, states = random.Random(seed), {}, [0] * self.names
        for version in [f"{dice.randrange(16**16):016x}" for _ in range(self.versions)]:
            for name in range(self.names):
                states[name] += dice.random() * self.one_in < 1
                url = f"{ROOT}{version}/api/{chr(97 + name)}"
                self.shows[url] = f"{name} {states[name]}"
                below = (chr(97 + one) for one in (name + 1, name + 2, 0) if one < self.names)
                self.links[url] = [Sighting(f"{ROOT}{version}/api/{one}") for one in below]
        self.links[ROOT] = [Sighting(url) for url in self.shows if url.endswith("/a")]

    def answer(self, fetch):
        return super().answer(fetch)._replace(fingerprint=self.shows.get(fetch.url, "front"))


class HandedOn(Versions):
    """A session is made up at each visit to the front page, and handed on from page to page."""

    one_in, versions = 10**9, 60


def visits_of(world: World, impolite, strategy: str) -> list[str]:
    frontier = Frontier(impolite)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy), world.now)
    world.run(frontier, most=3_000)
    return [one.url for _, one in world.requests if one.kind is Kind.PAGE and one.slot is not Slot.SECOND]


@pytest.mark.parametrize("strategy", ["bfs", "dfs", "sharc-selective"])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_files_under_the_digests_of_a_sites_versions_are_all_captured(impolite, strategy, seed):
    world = Versions(seed)
    visited = visits_of(world, impolite, strategy)
    assert {world.shows[url] for url in visited if url != ROOT} == set(world.shows.values())


@pytest.mark.parametrize("strategy", ["bfs", "dfs", "sharc-selective"])
def test_sessions_that_are_handed_on_end_within_three_times_their_pages(impolite, strategy):
    assert len(visits_of(HandedOn(0), impolite, strategy)) <= 3 * (HandedOn.names + 1)


def test_a_place_is_judged_from_eight_pages_on_of_which_half_are_copies():
    dice = random.Random(1)
    urls = [f"{ROOT}s/{dice.randrange(16**32):032x}/p" for _ in range(LEAST_MADE_UP + 1)]
    for contents in (1, LEAST_MADE_UP // 2, LEAST_MADE_UP // 2 + 1):
        places = MadeUpPlaces()
        for number, url in enumerate(urls[:-1]):
            assert places.judged(urls[-1], few=True) is None, "too few so far"
            places.saw(url, f"{number % contents}", ROOT)
        assert (places.judged(urls[-1], few=True) is not None) is (2 * contents <= LEAST_MADE_UP)
