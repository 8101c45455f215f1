"""From the seeds to the first decision: robots.txt, sitemaps, seeds that lead elsewhere."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.opening import Opener, Parts, named_strategy
from sharc_crawler.model import (
    Hints,
    HowMade,
    Kind,
    Result,
    Sighting,
    Slot,
    Wait,
)
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.small import ROOT, page, spec, urls, verdicts

if TYPE_CHECKING:
    from sharc_crawler.strategies.base import Setting


def test_robots_txt_comes_first_and_is_obeyed(world):
    world.robots = {"a.example": "User-agent: *\nDisallow: /private\nCrawl-delay: 3"}
    world.links = {ROOT: [page("private/1"), page("2")]}
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=1.0), store)
    capture = frontier.open(spec(), world.now)
    fetches = world.run(frontier)
    assert fetches[0].kind is Kind.ROBOTS
    assert "private/1" not in urls(fetches)
    gaps = [b - a for (a, _), (b, _) in pairwise(world.requests)]
    assert min(gaps[1:]) >= 3.0 - 1e-9
    assert not capture.left_out.reasons, "what is refused is a page that was not captured"
    keys = [row.key for row in store.load().pages if row.kind is Kind.ROBOTS]
    assert keys == [f"robots:{ROOT}robots.txt"]
    assert [visit.outcome.error for visit in store.load().visits if not visit.attempt] == ["robots.txt disallows it"]


@pytest.mark.parametrize(("status", "fetched"), [("5xx", False), ("4xx", True)])
def test_robots_that_cannot_be_had(world, status, fetched):
    failed = {"result": Result.FAILED, "status": 503}
    world.answers = {ROOT + "robots.txt": [failed] * 9 if status == "5xx" else []}
    frontier = Frontier(Politeness(delay=0.0, attempts=3, back_off=2.0, longest_pause=0.5))
    capture = frontier.open(spec(), world.now)
    fetches = world.run(frontier)
    assert (urls(fetches) != []) is fetched
    assert len(urls(fetches, Kind.ROBOTS)) == (1 if fetched else 7)
    assert capture.counts.captured == fetched
    if not fetched:
        assert "nothing on it is fetched" in " ".join(capture.notes)


@pytest.mark.parametrize(("sent", "earliest"), [(0.0, 1_003.0), (1_000.5, 1_003.5)])
def test_the_delay_that_robots_txt_asks_for_counts_from_its_own_request(world, sent, earliest):
    """From when that had left, where it is known."""
    rules = {"result": Result.OK, "robots": "User-agent: *\nCrawl-delay: 3", "sent": sent}
    world.answers = {ROOT + "robots.txt": [rules]}
    frontier = Frontier(Politeness(delay=1.0))
    frontier.open(spec(), world.now)
    world.run(frontier)
    assert world.requests[1][0] == earliest


def test_what_robots_txt_and_sitemaps_have_told_a_reader_is_written_at_once(world):
    failed = {"result": Result.FAILED, "status": 503}
    world.robots = {"a.example": "User-agent: *\nCrawl-delay: 999"}
    world.answers = {"http://b.example/map.xml": [failed]}
    store, heard = MemoryStore(), []
    frontier = Frontier(Politeness(delay=0.0, attempts=1), store)
    capture = frontier.open(spec(sitemaps=("http://b.example/map.xml",)), world.now)
    capture.mode.sitemap_read = lambda number, slot, outcome: heard.append((number, slot, outcome.status))
    written = []
    while world.step(frontier):
        written.append(list(store.load().captures[0].notes))
        if world.requests[-1][1].kind is Kind.SITEMAP:
            break
    too_slow = f"{ROOT}robots.txt asks for 999 s between two requests: more than SHARC_MAX_DELAY=300"
    notes = [
        f"{too_slow}: nothing on it is fetched",
        "sitemap http://b.example/map.xml: status 503: pages that only it lists are missing from this capture",
    ]
    assert (written[0], written[-1]) == (notes[:1], notes)
    assert heard == [(world.requests[-1][1].page, Slot.ONLY, 503)]


@pytest.mark.parametrize(
    ("strategy", "mode", "revisited", "spare"),
    [
        ("bfs", "capture", True, 18),
        ("sharc-attested", "capture", False, 18),
        ("bfs:revisits=none", "capture", False, 18),
        ("bfs:revisits=none", "instant", False, 20),
    ],
)
def test_room_is_kept_for_the_visit_and_the_revisit_of_seeds_that_are_pages(impolite, strategy, mode, revisited, spare):
    capture = Frontier(impolite).open(spec(strategy=strategy, mode=mode, max_requests=20), 1000.0)
    assert (capture.budget.all_revisited, capture.budget.spare(1000.0)) == (revisited, spare)


def test_a_page_in_place_of_robots_txt_and_a_sitemap_with_an_error_are_told(world):
    world.robots = {"a.example": "<!DOCTYPE html><html><body>Not here</body></html>"}
    world.links = {ROOT + "map.xml": [page("1")]}
    world.answers = {ROOT + "map.xml": [{"error": "the rest cannot be read"}]}
    frontier = Frontier()
    capture = frontier.open(spec(sitemaps=(ROOT + "map.xml",)), world.now)
    world.run(frontier)
    assert (
        f"{ROOT}robots.txt is an HTML page, not a robots.txt: nothing in it counts, all may be fetched" in capture.notes
    )
    (broken,) = [note for note in capture.notes if note == f"sitemap {ROOT}map.xml: the rest cannot be read"]
    assert not isinstance(broken, HowMade)
    assert ROOT + "1" in [fetch.url for _, fetch in world.requests]


@pytest.mark.parametrize(("redirects", "pages"), [(5, {"", "yes"}), (6, {"", "yes", "no"})])
def test_robots_redirects_are_followed_up_to_five_times(world, redirects, pages):
    hops = {
        f"{ROOT}robots{i or ''}.txt": [
            {"result": Result.REDIRECTED, "status": 301, "location": f"{ROOT}robots{i + 1}.txt"}
        ]
        for i in range(redirects)
    }
    rules = {"result": Result.OK, "robots": "User-agent: *\nDisallow: /no"}
    world.answers = hops | {f"{ROOT}robots{redirects}.txt": [rules]}
    world.links = {ROOT: [page("no"), page("yes")]}
    frontier = Frontier(Politeness(delay=0.0))
    frontier.open(spec(), world.now)
    fetches = world.run(frontier)
    assert set(urls(fetches)) == pages


def test_sitemaps_are_read_before_the_first_page_and_give_rates(world):
    world.robots = {"a.example": f"Sitemap: {ROOT}index.xml"}
    world.links = {
        ROOT + "index.xml": [Sighting(ROOT + "s1.xml", Kind.SITEMAP)],
        ROOT + "s1.xml": [page("hot", changefreq="hourly"), page("cold", changefreq="yearly", priority=0.9)],
    }
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=0.0), store)
    frontier.open(spec(sitemaps=None), world.now)
    fetches = world.run(frontier)
    assert [fetch.kind for fetch in fetches[:3]] == [Kind.ROBOTS, Kind.SITEMAP, Kind.SITEMAP]
    rows = {row.url.removeprefix(ROOT): row for row in store.load().pages}
    assert rows["hot"].rate > rows["cold"].rate > 0
    assert rows["cold"].weight > 0


def test_an_index_sends_nobody_to_another_site(world):
    world.robots = {"a.example": f"Sitemap: {ROOT}index.xml\nSitemap: http://cdn.example/index.xml"}
    foreign = [Sighting(f"http://{host}/s.xml", Kind.SITEMAP) for host in ("victim.example", "cdn.example")]
    world.links = {ROOT + "index.xml": foreign, "http://cdn.example/index.xml": foreign, ROOT: [page("1")]}
    frontier = Frontier(Politeness(delay=0.0))
    capture = frontier.open(spec(sitemaps=None), world.now)
    fetched = {fetch.url for fetch in world.run(frontier) if fetch.kind is Kind.SITEMAP}
    assert fetched == {ROOT + "index.xml", "http://cdn.example/index.xml", "http://cdn.example/s.xml"}
    assert capture.left_out.reasons["a sitemap index names another site's sitemap"] >= 2


def test_sitemaps_end(world):
    """Indexes in a circle are read once each; one that never ends is left after five levels."""
    world.robots = {"a.example": f"Sitemap: {ROOT}0.xml\nSitemap: {ROOT}circle.xml"}
    world.links = {f"{ROOT}{i}.xml": [Sighting(f"{ROOT}{i + 1}.xml", Kind.SITEMAP)] for i in range(50)}
    world.links[ROOT + "circle.xml"] = [Sighting(ROOT + "circle.xml", Kind.SITEMAP), page("1")]
    frontier = Frontier(Politeness(delay=0.0))
    frontier.open(spec(sitemaps=None), world.now)
    fetched = [fetch.url for fetch in world.run(frontier) if fetch.kind is Kind.SITEMAP]
    assert sorted(fetched) == sorted([*(f"{ROOT}{i}.xml" for i in range(6)), ROOT + "circle.xml"])


def test_a_robots_txt_that_names_thousands_of_sitemaps_is_no_thousands_of_requests(world, monkeypatch):
    monkeypatch.setattr("sharc_crawler.frontier.opening.MAX_NAMED_SITEMAPS", 20)
    world.robots = {"a.example": "".join(f"Sitemap: {ROOT}{number % 4000}.xml\n" for number in range(5000))}
    world.links = {ROOT: [page("1")], f"{ROOT}19.xml": [page("2")], f"{ROOT}20.xml": [page("3")]}
    frontier = Frontier(Politeness(delay=0.0))
    capture = frontier.open(spec(sitemaps=None), world.now)
    fetches = world.run(frontier)
    assert len([fetch for fetch in fetches if fetch.kind is Kind.SITEMAP]) == 20
    assert set(urls([fetch for fetch in fetches if fetch.kind is Kind.PAGE])) == {"", "1", "2"}
    assert f"{ROOT}robots.txt names 4,000 sitemaps: the first 20 are read (others: sitemap=URL)" in capture.notes


@pytest.mark.parametrize("named", [1_000, 1_001])
def test_of_the_sitemaps_that_a_robots_txt_names_a_thousand_are_read(world, named):
    world.robots = {"a.example": "".join(f"Sitemap: {ROOT}{number}.xml\n" for number in range(named))}
    frontier = Frontier(Politeness(delay=0.0))
    capture = frontier.open(spec(sitemaps=None), world.now)
    world.step(frontier)
    assert any("the first 1,000 are read" in note for note in capture.notes) is (named > 1_000)
    assert [frontier.pages.kinds[number] for number in range(len(frontier.pages))].count(Kind.SITEMAP) == 1_000


@pytest.mark.parametrize(("pooled", "noted"), [(0, True), (3, False)])
def test_pages_that_wait_for_a_part_of_their_own_were_named_by_a_sitemap_too(world, impolite, pooled, noted):
    frontier = Frontier(impolite)
    capture = frontier.open(spec(sitemaps=None), world.now)
    capture.mode.pooled = pooled
    world.run(frontier)
    assert any("no sitemap lists any page" in note for note in capture.notes) is noted


def test_a_mode_is_told_that_the_strategy_is_there_before_that_is_given_any_page(world, impolite):
    frontier = Frontier(impolite)
    capture = frontier.open(spec(), world.now)
    frontier.schedule([page("1")], world.now)
    told = []
    capture.mode.begun = lambda pages, now: told.append((list(pages), now, capture.strategy.first_visits_left))
    world.run(frontier)
    assert told == [([0, 1], 1000.0, 0)]


class Told:
    """A strategy that keeps what it was told of its capture."""

    def __init__(self, settings: list[Setting]) -> None:
        self._settings = settings

    def __call__(self, spec, setting: Setting):
        self._settings.append(setting)
        return named_strategy(spec, setting)


@pytest.mark.parametrize(
    ("changed", "delay", "size", "step"),
    [
        ({}, 2.0, 4, 2.0),
        ({}, 0.0, 4, 0.05),
        ({"size": 3}, 0.2, 4, 0.2),
        ({"size": 9}, 2.0, 9, 2.0),
        ({"limit": 3}, 2.0, 3, 2.0),
        ({"size": 9, "limit": 7}, 2.0, 7, 2.0),
    ],
)
def test_a_strategy_is_told_how_many_pages_there_may_be_and_how_fast_they_are_visited(
    world, changed, delay, size, step
):
    settings = []
    frontier = Frontier(Politeness(delay=delay, obey_robots=False), parts=Parts(strategy=Told(settings)))
    frontier.open(spec(sitemaps=(ROOT + "map.xml",), **changed), world.now)
    world.links = {ROOT + "map.xml": [page(str(number)) for number in range(3)]}
    world.run(frontier)
    told = settings[-1]
    assert (told.size, told.step) == (size, step)
    assert told.start == world.requests[1][0], "when the first page is visited"


@pytest.mark.slow
def test_indexes_within_indexes_that_name_ever_new_ones_end(world, monkeypatch):
    """Each of 30 names 30 more, five levels deep: that would be 25 million."""
    monkeypatch.setattr("sharc_crawler.frontier.besides_links.MAX_NESTED_SITEMAPS", 100)

    class Fan(dict):
        def get(self, url, default=None):
            if url.endswith(".xml"):
                return [Sighting(f"{url[:-4]}-{i}.xml", Kind.SITEMAP) for i in range(30)]
            return super().get(url, default)

        def __contains__(self, url):
            return url.endswith(".xml") or super().__contains__(url)

    world.links = Fan({ROOT: [page("1")]})
    world.robots = {"a.example": f"Sitemap: {ROOT}index.xml"}
    frontier = Frontier(Politeness(delay=0.0))
    capture = frontier.open(spec(sitemaps=None), world.now)
    fetches = world.run(frontier)
    assert len([fetch for fetch in fetches if fetch.kind is Kind.SITEMAP]) == 1 + 30 + 100
    assert set(urls([fetch for fetch in fetches if fetch.kind is Kind.PAGE])) == {"", "1"}
    assert any("indexes within indexes" in reason for reason in capture.left_out.reasons)


@pytest.mark.parametrize("obeyed", [True, False])
def test_a_site_without_sitemap_is_crawled_by_links_and_the_report_says_so(world, obeyed):
    """It was asked for at the usual place, whether robots.txt is read or not."""
    world.links = {ROOT: [page("1")]}
    frontier = Frontier(Politeness(delay=0.0, obey_robots=obeyed))
    capture = frontier.open(spec(sitemaps=None), world.now)
    fetches = world.run(frontier)
    assert set(urls(fetches)) == {"", "1"}
    assert urls(fetches, Kind.SITEMAP) == ["sitemap.xml"]
    assert [isinstance(note, HowMade) for note in capture.notes if "pages are found by links" in note] == [True]
    assert [isinstance(note, HowMade) for note in capture.notes if note.startswith("sitemap ")] == [True], "not there"


def test_a_seed_that_redirects_elsewhere_takes_its_scope_along(world, impolite):
    target = "http://b.example/home/"
    world.answers = {ROOT: [{"result": Result.REDIRECTED, "status": 301, "location": target}]}
    world.links = {target: [Sighting("http://b.example/x"), Sighting("http://c.example/")]}
    frontier = Frontier(impolite)
    capture = frontier.open(spec(), world.now)
    fetches = world.run(frontier)
    assert {fetch.url for fetch in fetches} == {ROOT, target, "http://b.example/x"}
    assert any("redirects" in note for note in capture.notes)


@pytest.mark.parametrize("cut", range(6))
def test_a_site_that_has_moved_is_captured_by_its_sitemaps_read_before_and_by_those_of_its_new_host(world, cut):
    """Also where the crawl is cut off after that many fetches."""
    new = "http://b.example/"
    world.robots = {"a.example": f"Sitemap: {ROOT}map.xml", "b.example": f"Sitemap: {new}own.xml"}
    world.answers = {ROOT: [{"result": Result.REDIRECTED, "status": 301, "location": new}]}
    elsewhere = Sighting("http://c.example/")
    world.links = {
        ROOT + "map.xml": [Sighting(new + "hot", hints=Hints(changefreq="hourly")), elsewhere],
        new + "own.xml": [Sighting(new + "orphan")],
    }
    frontier = Frontier(Politeness(delay=0.0), store := MemoryStore())
    frontier.open(spec(sitemaps=None), world.now)
    for _ in range(cut):
        while isinstance(fetch := frontier.next(world.now), Wait):
            world.now = fetch.until
        outcome = world.answer(fetch)
        world.requests.append((world.now, fetch))
        frontier.finished(fetch, outcome, world.links.get(fetch.url, ()) if outcome.result is Result.OK else ())
        world.now += 0.01
    if cut:
        frontier = Frontier(Politeness(delay=0.0), store)
        frontier.restore(store.load(), world.now)
    world.run(frontier)
    capture = frontier.capture
    assert set(verdicts(store)) == {new, new + "hot", new + "orphan"}
    assert capture.counts.pages == 4, "with the seed"
    assert not any("no sitemap lists" in note for note in capture.notes)


def test_seeds_out_of_scope_and_empty_sites_are_said(impolite):
    frontier = Frontier(impolite)
    with pytest.raises(UsageError, match=r"no URL that is taken in \(excluded by"):
        frontier.open(spec(exclude=(".",)), 0.0)


def test_once_a_seeds_host_is_open_its_sitemaps_are_looked_for_and_all_hosts_are_asked():
    for waited in (False, True):
        told = []
        host = SimpleNamespace(name="h")
        owed = SimpleNamespace(first={"h"} if waited else {"other"}, was_read=told.append)
        ledger = SimpleNamespace(
            hosts=[host],
            capture=SimpleNamespace(owed=owed),
            ring=SimpleNamespace(wake_all=lambda told=told: told.append("woken")),
        )
        opener = SimpleNamespace(_ledger=ledger, _look_for_sitemaps=lambda *given, told=told: told.append(given[1:]))
        Opener._host_opened(opener, 0, "robots")
        assert told == ["h", (host, "robots"), "woken"] * waited


@pytest.mark.parametrize("bound", [{"limit": 1}, {"exclude": ("b.example",)}])
def test_a_seed_on_a_host_of_its_own_that_a_bound_leaves_out(world, impolite, bound):
    frontier = Frontier(impolite, MemoryStore())
    frontier.open(spec(seeds=(ROOT, "http://b.example/"), **bound), world.now)
    assert set(urls(world.run(frontier))) == {""}
    assert frontier.done


def test_a_seed_that_redirects_to_a_host_that_a_bound_leaves_out(world, impolite):
    other = "http://b.a.example/x/"
    world.answers[ROOT] = [{"result": Result.REDIRECTED, "status": 301, "location": other}]
    frontier = Frontier(impolite, MemoryStore())
    frontier.open(spec(scope="domain", exclude=("/x/",)), world.now)
    assert set(urls(world.run(frontier))) == {""}
    assert frontier.done
