"""What is handed on from page to page: a site's versions are captured whole, sessions end."""

from __future__ import annotations

import random

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.frontier.traps import repeats
from sharc_crawler.frontier.traps.made_up_places import MadeUpPlaces
from sharc_crawler.frontier.traps.repeats import Repeats
from sharc_crawler.known_urls import UNSEEN
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


@pytest.mark.matrix
@pytest.mark.slow
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
    urls = [f"{ROOT}s/{dice.randrange(16**32):032x}/p" for _ in range(9)]
    for contents in (1, 4, 5):
        places = MadeUpPlaces()
        for number, url in enumerate(urls[:-1]):
            assert places.judged(urls[-1], few=True) is None, "too few so far"
            places.saw(url, f"{number % contents}", ROOT)
        assert (places.judged(urls[-1], few=True) is not None) is (contents <= 4)


def seen(rests: int, pages: int, other: int = 0, kept: int = 0, pattern: str = "s/{}/p{}") -> MadeUpPlaces:
    """``rests`` pages by turns under ever other names; the last visits show something else at ``other`` of them, and
    the first ``kept`` have the name from their parents.
    """
    dice, places = random.Random(1), MadeUpPlaces()
    for number in range(pages):
        name, rest, later = f"{dice.randrange(16**32):032x}", number % rests, number >= pages - other
        places.saw(ROOT + pattern.format(name, rest), f"{rest} {later}", f"{ROOT}{name}" if number < kept else ROOT)
    return places


NEXT = f"{ROOT}s/{7:032x}/p0"


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({"rests": 9, "pages": 27, "other": 3}, False),  # of three that came again one showed something else
        ({"rests": 10, "pages": 30, "other": 3}, True),
        ({"rests": 4, "pages": 19}, False),  # nothing is left by fewer than twenty, but at the end
        ({"rests": 4, "pages": 20}, True),
        ({"rests": 10, "pages": 43, "other": 1, "kept": 43}, False),  # versions, as long as four show no one content
        ({"rests": 10, "pages": 44, "other": 1, "kept": 44}, True),
        ({"rests": 10, "pages": 42, "other": 1, "kept": 21}, False),
        ({"rests": 10, "pages": 42, "other": 1, "kept": 20}, True),  # fewer than half were handed on
        ({"rests": 18, "pages": 44, "kept": 44}, False),
        ({"rests": 18, "pages": 45, "kept": 45}, True),  # five for two, and all are equal
        ({"rests": 20, "pages": 40, "kept": 40}, True),  # twenty came again, and all are equal
        ({"rests": 20, "pages": 42, "kept": 42, "other": 1}, False),
        ({"rests": 4, "pages": 19, "other": 1, "kept": 19}, False),
        ({"rests": 4, "pages": 20, "other": 1, "kept": 20}, True),
    ],
)
def test_what_stands_in_a_place_means_nothing_where_pages_are_equal_often_enough(given, left):
    places = seen(**given)
    assert bool(places.judged(NEXT, few=False)) is left
    assert places.judged(NEXT, few=False) is not None
    assert places.judged(NEXT.replace("/p0", "/other"), few=False) == "", "a page that nobody has seen is taken"
    assert places.judged(NEXT.replace("/s/", "/t/"), few=False) is None, "elsewhere"


def test_at_the_end_few_copies_suffice():
    places = seen(rests=4, pages=8)
    assert places.judged(NEXT, few=False) == ""
    assert places.judged(NEXT, few=True) == (
        "looks like a trap: 8 pages with something made up in /s/* had 4 contents (traps=0 takes them)"
    )


def test_of_a_parameter_that_means_something_other_rules_are_asked():
    places = seen(rests=9, pages=27, other=3, pattern="p?s={}&p={}")
    assert places.judged(f"{ROOT}p?s={7:032x}&p=0", few=True) is None


def test_twenty_thousand_names_are_watched():
    counts = Repeats()
    assert [counts.row(str(number)) for number in range(20_001)] == [*range(20_000), UNSEEN]
    assert counts.row("7") == 7


def test_a_place_that_is_not_watched_keeps_no_other_from_being_judged(monkeypatch):
    monkeypatch.setattr(repeats, "MOST", 1)
    places = MadeUpPlaces()
    places.saw(f"{ROOT}a?s={0:032x}", "a text", "")
    for number in range(9):
        places.saw(f"{ROOT}{1:032x}/a?s={number:032x}", "a text", "")
    assert places.judged(f"{ROOT}{1:032x}/a?s={99:032x}", few=True)
