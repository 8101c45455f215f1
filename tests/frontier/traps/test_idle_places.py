"""Session names of letters alone end within three times the true pages; honest addresses are taken."""

from __future__ import annotations

import random
from itertools import product

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.frontier.traps import idle_places
from sharc_crawler.frontier.traps.idle_places import IdlePlaces
from sharc_crawler.model import Sighting, Slot
from tests.frontier.conftest import World

ROOT, TRUE = "http://h/", 24
LETTERS = "bcdfghklmnprstvwz"


class Letters(World):
    """Every link has another session name, of letters alone."""

    def __init__(self, pattern: str) -> None:
        super().__init__()
        self.pattern = pattern
        self.random = random.Random(7)
        self.of: dict[str, int] = {}

    def address(self, number: int) -> str:
        made_up, name = ("".join(self.random.choices(LETTERS, k=8)) for _ in range(2))
        url = ROOT + self.pattern.format(number=number, letter=chr(97 + number), made_up=made_up, name=name)
        self.of[url] = number
        return url

    def answer(self, fetch):
        outcome = super().answer(fetch)
        outcome = outcome._replace(fingerprint=f"story {self.of.get(fetch.url, -1)}")
        self.links[fetch.url] = [Sighting(self.address(number)) for number in range(TRUE)]
        return outcome


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize(
    "pattern",
    ["{made_up}/story/{number}", "in/{made_up}/x{number}", "{number}?{name}={made_up}", "page-{letter}?v={made_up}"],
)
def test_sessions_of_letters_end(impolite, pattern, strategy):
    world = Letters(pattern)
    frontier = Frontier(impolite)
    capture = frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy, limit=500), world.now)
    world.run(frontier)
    visited = [fetch.url for _, fetch in world.requests if fetch.slot is not Slot.SECOND]
    assert len([url for url in visited if url in world.of or url == ROOT]) <= 3 * TRUE
    assert {world.of[url] for url in visited if url in world.of} == set(range(TRUE))
    assert any("looks like a trap" in reason for reason in capture.left_out.reasons)


def why_any(pages: dict[str, str]) -> list[str]:
    places, found = IdlePlaces(), []
    for url, content in pages.items():
        if why := places.why_not(url):
            found.append(f"{url}: {why}")
        places.saw(url, content)
    return found


def test_honest_addresses_are_taken():
    names = ["".join(name) for name in product("abcde", "rstuv", "klmno")]
    missing = {f"{ROOT}w?title={name}": name if n % 10 == 0 else "no such article" for n, name in enumerate(names)}
    mirrors = {f"{ROOT}{place}/{name}": name for place in ("en", "de", "fr", "it") for name in names}
    folders = {f"{ROOT}{name}/{page}": f"{name} {page}" for name in names for page in ("index", "about", "imprint")}
    imprints = {
        f"{ROOT}{name}/{page}": page if page == "imprint" else name for name in names for page in ("imprint", "x")
    }
    assert why_any(mirrors) == why_any(folders) == why_any(imprints) == why_any(missing) == []


def test_what_was_seen_once_at_least_is_all_that_is_left():
    places = IdlePlaces()
    for number in range(60):
        places.saw(f"{ROOT}{LETTERS[number % 17] * (3 + number)}/{number % 6}", f"story {number % 6}")
    assert places.why_not(f"{ROOT}elsewhere/5")
    assert places.why_not(f"{ROOT}elsewhere/6") is None
    assert places.why_not(f"{ROOT}5") is None


def test_rests_of_places_are_kept_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(idle_places, "RESTS", 3)
    places = IdlePlaces()
    for number in range(20):
        places.saw(f"http://h/{chr(97 + number) * 7}/{number % 2}", f"story {number % 2}")  # known again and again
    assert sum(len(one.rests) for one in places._places.values()) == 2
    for number in range(20):
        places.saw(f"http://h/other/{number}", f"other story {number}")
    assert sum(len(one.rests) for one in places._places.values()) == 3
