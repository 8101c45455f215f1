"""What is handed on from page to page: a site's versions are captured whole, sessions end."""

from __future__ import annotations

import random
import re

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.frontier.traps import repeats
from sharc_crawler.frontier.traps.made_up_places import ASKED, MadeUpPlaces
from sharc_crawler.frontier.traps.repeats import Repeats
from sharc_crawler.known_urls import UNSEEN
from sharc_crawler.model import Kind, Result, Sighting, Slot
from sharc_crawler.unlikely import is_nobodys, look_at
from tests.frontier.conftest import World
from tests.frontier.traps.made_sites import run_through

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


class Files(World):
    """Lists name a page for each file, by its digest, which says the same for all and names the file."""

    lists, others = 12, 404

    def __init__(self) -> None:
        super().__init__()
        dice = random.Random(3)
        self.links[ROOT] = [Sighting(f"{ROOT}list/a")]
        self.true = {ROOT}
        for at in range(self.lists):
            names = [f"{dice.randrange(16**32):032x}" for _ in range(5)]
            pages = [Sighting(f"{ROOT}f/{name}/info") for name in names]
            further = [Sighting(f"{ROOT}list/{chr(98 + at)}")] if at + 1 < self.lists else []
            self.links[f"{ROOT}list/{chr(97 + at)}"] = pages + further
            for name in names:
                self.links[f"{ROOT}f/{name}/info"] = [Sighting(f"{ROOT}f/{name}/file.bin")]
                self.links[f"{ROOT}f/{name}/file.bin"] = []
        self.true |= self.links.keys()

    def answer(self, fetch):
        url = re.sub(r"\?no-such-page-[a-z]+$", "", fetch.url)
        self.links[fetch.url] = self.links.get(url, [])
        outcome = super().answer(fetch)
        if fetch.kind is Kind.PROBE and url not in self.true:
            gone = self.others == 404
            return outcome._replace(result=Result.GONE if gone else Result.OK, status=self.others, fingerprint="no")
        ends = [end for end in ("info", "file.bin") if url.endswith(end)]
        return outcome._replace(fingerprint=ends[0] if ends else url)


class FilesOfASloppySite(Files):
    """What there is not is answered by an error page of status 200."""

    others = 200


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize("site", [Files, FilesOfASloppySite])
def test_pages_named_by_digests_that_stay_are_captured_though_they_say_the_same(impolite, strategy, site):
    for every in (0, 31):
        world = site()
        run_through(world, impolite, strategy, every)
        assert {fetch.url for _, fetch in world.requests} >= world.true


def shown(places: MadeUpPlaces, parent: str) -> list[str]:
    """Eight pages under made-up names show one content; what is to be asked for."""
    names = ("a1b2c3", "d4e5f6", "g7h8i9", "j1k2l3", "m4n5o6", "p7q8r9", "s1t2u3", "v4w5x6")
    return [asked for name in names for asked in places.saw(f"{ROOT}s/{name}/p", "text", parent.format(name))]


def test_an_address_made_alike_is_asked_for_and_who_named_such_a_page():
    places = MadeUpPlaces()
    probe, look = shown(places, f"{ROOT}front")
    assert re.fullmatch(rf"{ROOT}s/[a-z]\d[a-z]\d[a-z]\d/p", probe)
    assert is_nobodys(probe)
    assert look == look_at(f"{ROOT}front")
    (probe,) = shown(MadeUpPlaces(), f"{ROOT}s/{{}}/other")
    assert is_nobodys(probe), "all were handed on"


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(("content", "absent"), [("text", False), ("other", False), (None, True), (None, False)])
def test_pages_are_not_left_where_it_is_not_there_and_the_link_stays(content, absent, named):
    places = MadeUpPlaces()
    probe, _ = shown(places, f"{ROOT}front")
    places.answered(f"{ROOT}another", None, absent=True)
    places.looked(f"{ROOT}another", {f"{ROOT}s/v4w5x6/p"})
    assert places.judged(f"{ROOT}s/y7z8a9/p", few=True)
    places.answered(probe, content, absent=absent)
    places.looked(f"{ROOT}front", {f"{ROOT}s/v4w5x6/p"} if named else {f"{ROOT}s/y7z8a9/p"})
    there = named and (absent or content == "other")
    assert (
        places.judged(f"{ROOT}s/y7z8a9/p", few=True) is None if there else places.judged(f"{ROOT}s/y7z8a9/p", few=True)
    )


def test_in_few_places_is_asked():
    places = MadeUpPlaces()
    asked = [
        places.saw(f"{ROOT}{folder}/{name}/p", "text", ROOT)
        for folder in "abcdefgh"
        for name in ("a1b2c3", "d4e5f6", "g7h8i9", "j1k2l3", "m4n5o6", "p7q8r9", "s1t2u3", "v4w5x6")
    ]
    assert sum(map(bool, asked)) == ASKED
