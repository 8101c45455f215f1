"""Error pages of status 200 that name ever new addresses: asked for once, then what only they name is left."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from benchmarks import bench_traps, trap_sites
from sharc_crawler.addresses.unlikely import unlikely
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import HowMade, Kind, Result, Sighting
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.traps.probing import shown_by
from sharc_crawler.traps.soft_errors import SoftErrors
from tests.frontier.conftest import World

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = "http://h/"
TRUE = 12  #: pages
WORDS = [a + b + c + d for a in "bcd" for b in "aeiou" for c in "fgh" for d in "aeiouklm"]


class Site(World):
    """Some pages; any other name shows an error page, which names others and the way home."""

    soft = True

    def __init__(self) -> None:
        super().__init__()
        self.made = count()

    def links_of(self, url: str) -> list[Sighting]:
        name = url.removeprefix(ROOT)
        if name == "":
            return [Sighting(f"{ROOT}{self.name()}"), *(Sighting(f"{ROOT}page{n}") for n in range(TRUE))]
        if name.startswith("page"):
            return []
        return [Sighting(ROOT), Sighting(f"{ROOT}page0"), *(Sighting(f"{ROOT}{self.name()}") for _ in range(5))]

    def name(self) -> str:
        return WORDS[next(self.made) % len(WORDS)] + WORDS[next(self.made) * 7 % len(WORDS)]

    def answer(self, fetch):
        outcome = super().answer(fetch)
        name = fetch.url.removeprefix(ROOT)
        true = name == "" or name.startswith("page")
        outcome = outcome._replace(fingerprint=name if true or not self.soft else "Oops")
        if "no-such-page" in name and not self.soft:
            outcome = outcome._replace(fingerprint="another")
        self.links[fetch.url] = self.links_of(fetch.url)
        return outcome


@pytest.mark.parametrize("strategy", ["bfs:revisits=none", "sharc-selective", "dfs"])
def test_a_site_whose_error_pages_lead_on_ends(impolite, strategy):
    world, store = Site(), MemoryStore()
    frontier = Frontier(impolite, store)
    capture = frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy), world.now)
    world.run(frontier, most=4_000)
    urls = {fetch.url for _, fetch in world.requests if fetch.kind is Kind.PAGE}
    assert len(urls) <= 3 * (TRUE + 1)
    assert {f"{ROOT}page{number}" for number in range(TRUE)} <= urls
    assert len([1 for _, fetch in world.requests if "/no-such-page" in fetch.url]) == 1, "asked once, and never again"
    refused = [visit.outcome.error or "" for visit in store.load().visits if visit.outcome.result is Result.REFUSED]
    why = " ".join([*capture.left_out.reasons, *refused])
    assert "linked only by an error page" in why or "its link was gone when its page was requested again" in why
    assert shown_by(capture.notes)


class Albums(World):
    """Albums say what the error page does; it names the menu alone, they name photographs, which name others."""

    def __init__(self) -> None:
        super().__init__()
        albums = [f"album/{one}" for one in range(60)]
        self.photos = [f"photo/{one * 7919 % 100_003}" for one in range(1_500)]
        self.true = {"": ("home", albums[:30])}
        for one, album in enumerate(albums):
            self.true[album] = ("album", ["", *self.photos[one * 25 : one * 25 + 25], *albums[one + 30 : one + 31]])
        for one, photo in enumerate(self.photos):
            others = [self.photos[(one * 31 + other * 271) % 1_500] for other in range(20)]
            shown = f"photo {one}" if one % 2 else "photo"
            self.true[photo] = (shown, ["", albums[one // 25], *self.photos[one + 1 : one + 2], *others])
        self.error = ("album", albums[:20])

    def answer(self, fetch):
        shown, links = self.true.get(fetch.url.removeprefix(ROOT).partition("?")[0], self.error)
        self.links[fetch.url] = [Sighting(ROOT + one) for one in links]
        return super().answer(fetch)._replace(fingerprint=shown)


@pytest.mark.matrix
@pytest.mark.parametrize("strategy", ["bfs:revisits=none", "sharc-selective"])
@pytest.mark.parametrize("every", [0, 40])
def test_what_true_pages_name_is_taken_though_they_look_like_an_error_page_that_names_nothing(
    impolite, strategy, every
):
    world, store = Albums(), MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy), world.now)
    if every:
        world.run_restarted(frontier, impolite, store, every=every)
    else:
        world.run(frontier, most=4_000)
    urls = {fetch.url for _, fetch in world.requests if fetch.kind is Kind.PAGE}
    assert {ROOT + one for one in world.photos} <= urls


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"result": Result.GONE, "status": 404}, "the site answers 404 to a page that cannot exist (http://h/no-such"),
        ({"result": Result.FAILED, "status": 500, "error": "status 500"}, "the answer (status 500) does not show an"),
        ({"result": Result.REDIRECTED, "status": 302, "location": ROOT}, "the answer (redirected) does not show an"),
    ],
)
def test_the_note_says_what_was_answered(impolite, fields, told):
    world, frontier = World(), Frontier(impolite)
    names = [f"{ROOT}{word}" for word in WORDS[:6]]
    world.links = {ROOT: [Sighting(name) for name in names]}
    world.answers = {name: [{"fingerprint": "sold out"}] for name in names}
    world.answers[ROOT + unlikely("http://h")] = [fields] * 9
    capture = frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy="bfs:revisits=none"), world.now)
    asked = world.run(frontier)
    assert next(fetch.kind for fetch in asked if "no-such-page" in fetch.url) is Kind.PROBE
    assert told in capture.notes[-1]
    assert isinstance(capture.notes[-1], HowMade)
    assert not shown_by(capture.notes)


def test_what_was_asked_for_is_known_after_a_restart(impolite):
    world, store = Site(), MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy="bfs:revisits=none"), world.now)
    world.run_restarted(frontier, impolite, store, every=5)
    assert len({fetch.url for _, fetch in world.requests}) <= 3 * (TRUE + 1) + 2  # robots.txt, and what was asked for
    assert len([1 for _, fetch in world.requests if "/no-such-page" in fetch.url]) == 1


def test_nobody_is_asked_without_a_suspicion(impolite):
    world, frontier = World(), Frontier(impolite)
    world.links = {ROOT: [Sighting(f"{ROOT}{word}") for word in WORDS[:50]]}
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy="bfs:revisits=none"), world.now)
    world.run(frontier)
    assert not [fetch for _, fetch in world.requests if "no-such-page" in fetch.url]


def told(errors: SoftErrors, urls: Iterable[str], content: str) -> list[str]:
    """Pages show the same; what is to be asked for."""
    first, *others = urls
    return [asked for url in others for asked in errors.saw(url, content, first)]


def test_pages_that_are_alike_are_followed_where_an_error_page_looks_otherwise():
    errors = SoftErrors()
    [probe] = told(errors, [ROOT + word for word in WORDS[:9]], "Are you of age?")
    errors.answered(probe, "Not found")
    assert errors.why_not("Are you of age?") is None
    assert errors.why_not("Not found")
    errors.answered(f"{ROOT}{WORDS[0]}", "a story")
    assert errors.why_not("a story") is None, "nobody asked for it"


def test_one_page_under_many_queries_is_no_suspicion():
    assert told(SoftErrors(), [f"{ROOT}page?from={word}" for word in WORDS[:9]], "a story") == []


def test_few_folders_are_asked_in():
    errors = SoftErrors()
    asked = [told(errors, [f"{ROOT}{folder}/{word}" for word in WORDS[:9]], "sold out") for folder in WORDS[:50]]
    assert sum(map(len, asked)) == 5


def test_one_text_in_four_folders_is_asked_for_at_the_top():
    [probe] = told(SoftErrors(), [ROOT + "/".join(WORDS[:depth]) + "/x" for depth in range(1, 5)], "Not found")
    assert probe.rpartition("/")[0] + "/" == ROOT


@pytest.mark.parametrize(("pages", "asked"), [(3, 0), (4, 1)])
def test_four_pages_of_a_folder_that_show_the_same_are_a_suspicion(pages, asked):
    assert len(told(SoftErrors(), [f"{ROOT}x/{word}" for word in WORDS[:pages]], "Oops")) == asked


@pytest.mark.parametrize(("pages", "asked"), [(3, 0), (4, 1)])
def test_the_first_counts_where_it_lies(pages, asked):
    urls = [f"{ROOT}y/z?q", *(f"{ROOT}x/{word}" for word in WORDS[:pages])]
    assert len(told(SoftErrors(), urls, "Oops")) == asked


@pytest.mark.parametrize(("others", "wanted"), [(79, 1), (80, 0)])
def test_of_the_contents_the_eighty_seen_last_are_counted(others, wanted):
    errors, asked = SoftErrors(), []
    for time in range(1, 4):
        asked += errors.saw(f"{ROOT}{WORDS[time]}", "Oops", f"{ROOT}{WORDS[0]}")
        for other in range(others):
            asked += errors.saw(f"{ROOT}{WORDS[other]}", f"story {time} {other}", ROOT)
    assert len(asked) == wanted


def test_an_answer_without_content_is_no_error_page():
    errors = SoftErrors()
    [asked] = told(errors, [ROOT + word for word in WORDS[:4]], "Oops")
    errors.answered(asked, None)
    assert errors.why_not(None) is None


class Naming(Site):
    """Its error pages name the address that was asked for."""

    def answer(self, fetch):
        outcome = super().answer(fetch)
        found = outcome.fingerprint
        shown = f"{found} {fetch.url}\n{found}" if found in {"Oops", "another"} else found
        return outcome._replace(fingerprint=shown)


@pytest.mark.parametrize("strategy", ["bfs:revisits=none", "sharc-selective"])
def test_a_site_whose_error_pages_name_their_addresses_ends(impolite, strategy):
    world = Naming()
    frontier = Frontier(impolite)
    frontier.open(CaptureSpec("h", (ROOT,), strategy=strategy, sitemaps=(), limit=500), world.now)
    world.run(frontier, most=3_000)
    visited = {fetch.url for _, fetch in world.requests if fetch.kind is Kind.PAGE}
    assert {f"{ROOT}page{n}" for n in range(TRUE)} <= visited
    assert len(visited) <= 3 * TRUE


@pytest.mark.parametrize(("pages", "asked"), [(2, 0), (3, 1)])
def test_three_are_enough_where_they_lead_on(pages, asked):
    first, *others = [f"{ROOT}x/{word}" for word in WORDS[:pages]]
    errors = SoftErrors()
    assert sum(len(errors.saw(url, "Oops", first, lambda: True)) for url in others) == asked


@pytest.mark.matrix
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
@pytest.mark.parametrize(
    ("seed", "size"), [(2_005, 5), (21_005, 5), (34_005, 5), (38_005, 5), (23_008, 8), (106_008, 8)]
)
def test_sites_of_few_pages_whose_error_pages_lead_on_end_within_three_times_these(seed, size, strategy):
    """Among them are error pages that name true pages first, and texts that hold their own addresses, or hide them."""
    _, site = trap_sites.drawn("soft", seed, size)
    run = bench_traps.Run(site, strategy)
    assert not run.lost
    assert len(run.visited) <= 3 * size


class FrontPage(World):
    """Whatever there is none of shows the front page, with other news."""

    def answer(self, fetch):
        outcome = super().answer(fetch)
        name = fetch.url.removeprefix(ROOT)
        self.links[fetch.url] = [Sighting(f"{ROOT}page{n}") for n in range(TRUE)] * (name == "")
        if not name.startswith("page"):
            self.links[fetch.url] += [Sighting(f"{ROOT}{WORDS[len(self.requests) * 3 + n]}") for n in range(2)]
            return outcome._replace(fingerprint="the front page")
        return outcome._replace(fingerprint=name)


@pytest.mark.parametrize("strategy", ["bfs:revisits=none", "sharc-selective", "dfs"])
def test_what_a_seed_names_is_captured_where_it_is_what_an_error_page_shows(impolite, strategy):
    world, frontier = FrontPage(), Frontier(impolite)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy), world.now)
    world.run(frontier, most=3_000)
    assert {f"{ROOT}page{number}" for number in range(TRUE)} <= {fetch.url for _, fetch in world.requests}
    assert any("/no-such-page" in fetch.url for _, fetch in world.requests)
