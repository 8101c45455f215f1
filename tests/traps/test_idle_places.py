"""Session names of letters alone end within three times the true pages; honest addresses are taken."""

from __future__ import annotations

import random
from itertools import product
from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Sighting, Slot
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.traps import idle_places
from sharc_crawler.traps.idle_places import IdlePlaces
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


@pytest.mark.matrix
@pytest.mark.slow
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


class Places(IdlePlaces):
    """They are told which address showed a content first."""

    def __init__(self) -> None:
        super().__init__()
        self.firsts: dict[str, str] = {}

    def saw(self, url: str, content: str, parent: str = "", first: str = "") -> None:
        super().saw(url, content, parent, first or self.firsts.get(content, ""))
        self.firsts.setdefault(content, url)


def why_any(pages: dict[str, str]) -> list[str]:
    places, found = Places(), []
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
    places = Places()
    for number in range(60):
        places.saw(f"{ROOT}{LETTERS[number % 17] * (3 + number)}/{number % 6}", f"story {number % 6}")
    assert places.why_not(f"{ROOT}elsewhere/5")
    assert places.why_not(f"{ROOT}elsewhere/6") is None
    assert places.why_not(f"{ROOT}5") is None


@pytest.mark.parametrize(("others", "kept"), [(4_999, True), (5_000, False)])
def test_five_thousand_addresses_without_what_stands_in_a_place_are_kept(others, kept):
    """Of one place; what is known is counted once."""
    places = Places()
    places.saw(f"{ROOT}one/0", "story")
    for number in range(20):
        places.saw(f"{ROOT}more{LETTERS[number % 17] * number}/0", "story")
    for number in range(1, others):
        places.saw(f"{ROOT}one/{number}", "others")
    places.saw(f"{ROOT}one/last", "a last story")
    assert (hash(f"{ROOT}*/last") in places._places["/*"].rests) is kept


ALONE, SHARED = (SimpleNamespace(words=SimpleNamespace(alone=lambda _, told=told: told)) for told in (True, False))
OTHER = f"{ROOT}anything/0"


def shown(rests: int, values: int, copies: int, changed: int = 0, kept: int = 0, letters: str = "") -> IdlePlaces:
    """``rests`` pages, each shown first under one name, then so many copies in all; ``changed`` of them showed
    something else meanwhile, and ``kept`` have what stands there from their parents.
    """
    places, names = Places(), [f"{LETTERS[one % 17]}{LETTERS[one // 17]}name{letters}" for one in range(values)]
    later = []
    for copy in range(copies):
        later.append((names[1 + copy % (values - 1)], copy % rests, f"story {copy % rests}"))
        if copy == rests - 1 and changed:
            later += [("another", rest, f"other story {rest}") for rest in range(changed)]
    for rest in range(rests):
        places.saw(f"{ROOT}{names[0]}/{rest}", f"story {rest}")
    for number, (name, rest, content) in enumerate(later):
        places.saw(f"{ROOT}{name}/{rest}", content, f"{ROOT}{name}/" if number >= len(later) - kept else ROOT)
    return places


@pytest.mark.parametrize(
    ("seen", "left"),
    [
        ({"rests": 5, "values": 21, "copies": 20}, True),
        ({"rests": 5, "values": 21, "copies": 19}, False),  # copies: twenty
        ({"rests": 4, "values": 21, "copies": 40}, False),  # of five pages
        ({"rests": 5, "values": 20, "copies": 40}, False),  # under twenty names
        ({"rests": 12, "values": 40, "copies": 27, "changed": 3}, True),
        ({"rests": 12, "values": 40, "copies": 27, "changed": 4}, False),  # nine in ten of those that could be any
    ],
)
def test_a_place_means_nothing_from_twenty_copies_on_of_five_pages_under_as_many_names(seen, left):
    assert bool(shown(**seen).why_not(OTHER)) is left


@pytest.mark.parametrize(
    ("seen", "left"),
    [
        ({"rests": 6, "values": 40, "copies": 20, "changed": 0, "kept": 20}, True),  # never something else: a session
        ({"rests": 7, "values": 40, "copies": 20, "changed": 2, "kept": 10}, True),  # of half of them it is not known
        ({"rests": 7, "values": 40, "copies": 20, "changed": 2, "kept": 11}, False),
        ({"rests": 6, "values": 40, "copies": 20, "changed": 1, "kept": 21}, False),
        ({"rests": 6, "values": 40, "copies": 21, "changed": 1, "kept": 22}, True),  # three copies of each content
        ({"rests": 6, "values": 60, "copies": 50, "changed": 2, "kept": 52}, False),  # one in three shows another
        ({"rests": 7, "values": 60, "copies": 50, "changed": 2, "kept": 52}, True),
    ],
)
def test_versions_that_are_handed_on_need_more_copies_before_they_are_taken_for_sessions(seen, left):
    assert bool(shown(**seen).why_not(OTHER)) is left


@pytest.mark.parametrize(
    ("seen", "waits"),
    [
        ({"rests": 2, "values": 3, "copies": 4}, True),
        ({"rests": 2, "values": 3, "copies": 3}, False),
        ({"rests": 1, "values": 3, "copies": 4}, True),
        ({"rests": 2, "values": 2, "copies": 4}, False),  # one name alone
    ],
)
def test_after_four_copies_under_two_names_what_stands_alone_there_waits(seen, waits):
    places = shown(**seen)
    assert places.doubts(OTHER, ALONE.words) is waits
    assert places.doubtful == ({"/*"} if waits else set())
    assert not places.doubts(OTHER, SHARED.words), "words that others have"
    assert not places.doubts(f"{ROOT}anything/else", ALONE.words), "nobody has seen that page"
    assert not places.doubts(f"{ROOT}anything", ALONE.words)


def test_a_place_that_shows_other_things_after_all_is_waited_for_no_more():
    places = shown(rests=2, values=3, copies=4)
    for number in range(2):
        places.saw(f"{ROOT}more{LETTERS[number]}/0", f"news {number}")
    assert not places.doubts(OTHER, ALONE.words)


@pytest.mark.parametrize(
    ("contents", "seen", "left"),
    [
        (3, {"rests": 3, "values": 4, "copies": 4}, True),
        (3, {"rests": 2, "values": 4, "copies": 4}, False),  # of three pages
        (3, {"rests": 3, "values": 3, "copies": 6}, False),  # under three names
        (30, {"rests": 3, "values": 4, "copies": 15}, False),
        (30, {"rests": 3, "values": 4, "copies": 16}, True),  # half of what the site has shown, and one more
        (100, {"rests": 3, "values": 4, "copies": 19}, False),
        (100, {"rests": 3, "values": 4, "copies": 20}, True),  # twenty at most
    ],
)
def test_once_nothing_else_waits_fewer_copies_suffice_on_a_small_site(contents, seen, left):
    places = shown(**seen)
    places.nothing_else(contents)
    assert bool(places.why_not(OTHER, ALONE)) is left
    assert places.why_not(OTHER, SHARED) is places.why_not(OTHER) is None


def compared(*paths: str) -> set[str]:
    """The places that are watched once pages at these addresses have shown one text."""
    places = Places()
    for path in paths:
        places.saw(ROOT + path, "news")
    return set(places._places)


def test_what_a_front_page_shows_elsewhere_is_compared_with_that_other_address():
    """It has other places within: nothing in them explains it. Where one does, its first address stays."""
    assert compared("", "a/x", "b/x", "b/y") == {"/*"}
    assert compared("one/a/x", "one/b/x", "two/a/x") == {"/*", "/one/*"}
    assert compared("one/a/x", "one/b/x", "two/b/x") == {"/one/*"}


def test_each_folder_each_parameter_and_the_whole_query_is_a_place():
    assert [(one.place, one.rest, one.value) for one in idle_places.forms(f"{ROOT}a/b?c=d&e&f=g")] == [
        ("/*", f"{ROOT}*/b?c=d&e&f=g", "a"),
        ("?c=*", f"{ROOT}a/b?c=*&e&f=g", "d"),
        ("?f=*", f"{ROOT}a/b?c=d&e&f=*", "g"),
        ("?*", f"{ROOT}a/b?*", "c=d&e&f=g"),
    ]
    assert [one.rest for one in idle_places.forms(f"{ROOT}a/b/c")] == [f"{ROOT}*/b/c", f"{ROOT}a/*/c"]
    assert idle_places.forms("http://h") == []


def test_what_looks_made_up_waits_whatever_its_words_and_four_copies_suffice_once_nothing_else_waits():
    for letters, left in (("2x7Gk", True), ("", False)):
        places = shown(rests=3, values=4, copies=4, letters=letters)
        assert places.doubts(OTHER, SHARED.words) is left
        places.nothing_else(100)
        assert bool(places.why_not(OTHER, SHARED)) is left


def test_five_hundred_places_and_other_addresses_are_kept():
    elsewhere, watched = Places(), Places()
    for number in range(502):
        elsewhere.saw(f"{ROOT}a", f"story {number}")
        elsewhere.saw(f"{ROOT}b/{number}", f"story {number}")
        for address in ("a?n{0}=1", "b?n{0}=1", "a?n{0}=2"):
            watched.saw(f"{ROOT}{number}/{address.format(number)}".replace("?", "/x?"), f"text {number}")
    assert len(elsewhere._first) == 500
    assert len(watched._places) == 500
