"""Budgets of a site capture: never exceeded, counted over restarts, and with room for the revisits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Hints, Kind, Result, Sighting, Slot, Validators, Verdict
from sharc_crawler.polling.terms import Terms
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World

ROOT = "http://h.example/"
STRATEGIES = ["sharc-selective", "bfs", "sharc-online", "sharc-optimal", "bfs:revisits=none", "sharc-attested"]


def build(world: World, pages: int = 60, images: int = 1, size: int = 1000) -> None:
    """Pages in a chain of links, each with images; every answer is of a size."""
    for number in range(pages):
        url = f"{ROOT}{number}" if number else ROOT
        shown = [Sighting(f"{ROOT}{number}-{image}.png", Kind.RESOURCE, url) for image in range(images)]
        linked = [Sighting(f"{ROOT}{near}", Kind.PAGE, url) for near in range(number + 1, min(number + 4, pages))]
        world.links[url] = [*shown, *linked]
        for name in (url, *(one.url for one in shown)):
            world.answers[name] = [{"length": size}] * 9


def crawl(world: World, store=None, strategy="sharc-selective", politeness=None, most=5000, **bounds):
    frontier = Frontier(politeness or Politeness(delay=1.0, back_off=1.0), store)
    capture = frontier.open(CaptureSpec("h", (ROOT,), strategy=strategy, sitemaps=(), **bounds), world.now)
    world.run(frontier, most=most)
    return capture


def visited(world: World, slot: Slot) -> set[str]:
    return {fetch.url for _, fetch in world.requests if fetch.slot is slot and fetch.kind is not Kind.ROBOTS}


@pytest.mark.matrix
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("most", [1, 2, 3, 10, 61, 100])
def test_requests(world, strategy, most):
    build(world)
    capture = crawl(world, strategy=strategy, max_requests=most)
    assert capture.life.ended is not None
    assert len(world.requests) <= most
    assert len(world.requests) >= most - 2 or most < 4, "it is used"
    assert visited(world, Slot.FIRST) <= visited(world, Slot.SECOND), "what was visited was revisited"


def test_304s_are_tested_in_room_that_visits_leave(world):
    """The sample that is downloaded in full costs no other page its revisit."""
    build(world, images=0)
    for answers in world.answers.values():
        given = {"validators": Validators('"1"', None)}
        answers[:] = [given, {"result": Result.NOT_MODIFIED, "status": 304}, *[given] * 9]
    capture = crawl(world, max_requests=60)
    tested = [url for url in world.answers if sum(fetch.url == url for _, fetch in world.requests) > 2]
    assert len(tested) >= 3, "five are expected"
    assert 50 <= len(world.requests) <= 60
    assert not capture.budget.unproven, "no revisit was left"


@pytest.mark.parametrize("most", [6.0, 12.0, 20.0])
def test_a_304_that_is_tested_in_another_second_costs_no_page_its_revisit(world, most):
    """With a delay below a second: ten of them take ten seconds, whatever requests took before."""
    build(world, images=0)
    for answers in world.answers.values():
        given = {"validators": Validators('"1"', None)}
        answers[:] = [given, {"result": Result.NOT_MODIFIED, "status": 304}, *[given] * 9]
    capture = crawl(world, politeness=Politeness(delay=0.1), max_time=most)
    assert len(visited(world, Slot.SECOND)) >= 3
    assert not capture.budget.unproven, "no revisit was left"


def test_a_revisit_that_fails_is_not_tried_again_at_the_cost_of_others(world):
    build(world, pages=30, images=0)
    failing = f"{ROOT}2"
    world.answers[failing] = [{}, *[{"result": Result.FAILED, "status": 503}] * 9]
    crawl(world, strategy="bfs", max_requests=21)
    visits, revisits = visited(world, Slot.FIRST), visited(world, Slot.SECOND)
    assert failing in visits
    assert visits <= revisits, "each has its revisit"
    assert sum(fetch.url == failing for _, fetch in world.requests) == 2


@pytest.mark.parametrize(("most", "attempts"), [(6, 1), (7, 2)])
def test_a_revisit_that_fails_is_tried_again_where_there_is_room_for_one_request_more(world, most, attempts):
    build(world, pages=3, images=0)
    world.answers[ROOT] = [{}, {"result": Result.FAILED, "status": 503}]
    crawl(world, strategy="bfs:revisits=fifo", politeness=Politeness(delay=1.0, obey_robots=False), max_requests=most)
    assert len(world.requests) == most
    assert len(visited(world, Slot.SECOND)) == 3
    revisits = [fetch.url for _, fetch in world.requests if fetch.slot is Slot.SECOND]
    assert revisits.count(ROOT) == attempts


@pytest.mark.parametrize("strategy", ["sharc-selective", "bfs"])
def test_bytes(world, strategy):
    build(world)
    crawl(world, strategy=strategy, max_bytes=50_000)
    received = 1000 * (len(world.requests) - 1)
    assert 45_000 <= received <= 50_000
    assert visited(world, Slot.FIRST) <= visited(world, Slot.SECOND)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("most", [40_000, 50_000])
def test_a_large_file_does_not_cost_small_pages_their_revisits(world, strategy, most):
    """Its own revisit does not fit: it alone is unknown, and says why; a second such file is not even begun."""
    build(world, pages=8, images=0, size=400)
    large = [f"{ROOT}{number}.pdf" for number in range(2)]
    world.links[ROOT] += [Sighting(url, Kind.PAGE, ROOT) for url in large]
    world.answers |= {url: [{"length": 30_000}] * 9 for url in large}
    store = MemoryStore()
    crawl(world, store, strategy=strategy, max_bytes=most)
    assert sum(fetch.url.endswith(".pdf") for _, fetch in world.requests) == 1
    assert {f"{ROOT}{number or ''}" for number in range(8)} <= visited(world, Slot.FIRST) | visited(world, Slot.ONLY)
    if strategy in ("sharc-selective", "sharc-optimal", "bfs"):
        saved = store.load()
        unknown = {row.page: row.reason for row in saved.judgements if row.verdict is Verdict.UNKNOWN}
        assert len(unknown) == 1, "the large one"
        (reason,) = unknown.values()
        assert reason == f"never-revisited: max_bytes={most}B has no room left for it"


@pytest.mark.parametrize("most", [5_000, 40_000])
def test_where_nothing_is_left_to_read_sitemaps_again_the_capture_ends(world, most):
    known = [Sighting(f"{ROOT}{name}", hints=Hints(lastmod=1.0)) for name in ("", "1", "2", "0.pdf", "1.pdf")]
    world.links[f"{ROOT}sitemap.xml"] = known
    world.answers |= {f"{ROOT}{number}.pdf": [{"length": 30_000}] * 9 for number in range(2)}
    frontier = Frontier(Politeness(delay=1.0), MemoryStore())
    capture = frontier.open(CaptureSpec("h", (ROOT,), strategy="sharc-attested", max_bytes=most), world.now)
    world.run(frontier)
    assert capture.life.ended is not None


@pytest.mark.parametrize("strategy", ["sharc-selective", "bfs"])
def test_time(world, strategy):
    build(world)
    started = world.now
    capture = crawl(world, strategy=strategy, max_time=80.0)
    assert 70 <= capture.life.ended - started <= 81
    assert visited(world, Slot.FIRST) <= visited(world, Slot.SECOND)


@pytest.mark.parametrize("url", [f"{ROOT}robots.txt", ROOT, f"{ROOT}0-0.png"])
@pytest.mark.parametrize("strategy", ["sharc-selective", "bfs", "sharc-attested"])
def test_no_pause_that_a_server_asks_for_outlasts_the_time(world, strategy, url):
    """Nothing is sent in it, and what it leaves is named; also where the last that was asked is that page."""
    build(world)
    world.answers[url] = [{"result": Result.FAILED, "status": 503, "retry_after": 3000.0}] * 9
    started, store = world.now, MemoryStore()
    capture = crawl(world, store, strategy, max_time=80.0)
    assert capture.life.ended - started <= 80.1
    paused = next(at for at, fetch in world.requests if fetch.url == url)
    assert paused == world.requests[-1][0], "nothing is asked of a host that wants a pause"
    reasons = [row.outcome.error for row in store.load().visits if row.outcome.result is Result.REFUSED]
    assert reasons or url == ROOT
    assert all("max_time=80s has no room left" in reason for reason in reasons), reasons


@pytest.mark.parametrize("strategy", ["sharc-selective", "sharc-online", "hottest-last", "sharc-attested"])
def test_the_seed_is_captured_whenever_its_turn_comes(world, strategy):
    """The page that changes most is visited last: it must not be the one that is left."""
    build(world)
    known = [Sighting(f"{ROOT}{number}", hints=Hints(changefreq="yearly")) for number in range(1, 60)]
    world.links[f"{ROOT}sitemap.xml"] = [Sighting(ROOT, hints=Hints(changefreq="always")), *known]
    frontier = Frontier(Politeness(delay=1.0), MemoryStore())
    frontier.open(CaptureSpec("h", (ROOT,), strategy=strategy, max_requests=30), world.now)
    world.run(frontier)
    assert ROOT in {fetch.url for _, fetch in world.requests}
    assert len(world.requests) <= 30


@pytest.mark.matrix
@pytest.mark.parametrize("every", [0, 7])
@pytest.mark.parametrize("strategy", ["sharc-selective", "sharc-online", "hottest-last", "sharc-attested", "dfs"])
def test_what_sitemaps_name_is_captured_before_what_links_alone_lead_to(world, strategy, every):
    """Facets of facets, none of which changes; what changes most would be left for them."""
    news = [f"{ROOT}news/{number}" for number in range(12)]
    world.links[ROOT] = [Sighting(f"{ROOT}f0")]
    for number in range(300):
        below = [Sighting(f"{ROOT}f{number * 3 + one}") for one in (1, 2, 3)]
        world.links[f"{ROOT}f{number}"] = [*below, Sighting(f"{ROOT}one.gif", Kind.RESOURCE)]
    often = ("always", "yearly", "never")
    listed = [Sighting(one, hints=Hints(changefreq=often[at % 3])) for at, one in enumerate(news)]
    world.links[f"{ROOT}sitemap.xml"] = listed
    frontier = Frontier(Politeness(delay=1.0), store := MemoryStore())
    frontier.open(CaptureSpec("h", (ROOT,), strategy=strategy, max_requests=80), world.now)
    world.run_restarted(frontier, Politeness(delay=1.0), store, every) if every else world.run(frontier)
    asked = {fetch.url for _, fetch in world.requests}
    assert {ROOT, *news} <= asked
    assert f"{ROOT}one.gif" in asked, "what pages embed is no page"
    assert len(world.requests) <= 80
    assert len(world.requests) > 70, "what is left is used"


@pytest.mark.parametrize("every", [0, 7])
def test_how_many_pages_were_left_that_sitemaps_name_is_noted(world, every):
    listed = [Sighting(f"{ROOT}{number}") for number in range(40)]
    world.links = {f"{ROOT}sitemap.xml": listed, ROOT: [Sighting(f"{ROOT}found")]}
    frontier = Frontier(Politeness(), store := MemoryStore())
    frontier.open(CaptureSpec("h", (ROOT,), strategy="bfs", max_requests=21), world.now)
    world.run_restarted(frontier, Politeness(), store, every) if every else world.run(frontier)
    (capture,) = store.load().captures.values()
    left = {one.url for one in listed} - {fetch.url for _, fetch in world.requests}
    assert len(left) > 20
    assert [note for note in capture.notes if "left by the budget" in note] == [
        f"{len(left)} pages that sitemaps name were left by the budget"
    ]


def test_what_was_left_is_said_page_by_page(world):
    build(world, images=0)
    store = MemoryStore()
    crawl(world, store, "bfs", max_requests=21)
    reasons = [row.outcome.error for row in store.load().visits if row.outcome.result is Result.REFUSED]
    assert reasons
    assert set(reasons) == {"budget: max_requests=21 has no room left for it"}


def test_failures_count_and_never_break_the_bound(world):
    build(world)
    for number in range(0, 60, 2):
        world.answers[f"{ROOT}{number}"] = [{"result": Result.FAILED, "status": 503}] * 9
    capture = crawl(world, strategy="bfs", max_requests=50)
    assert len(world.requests) <= 50
    assert capture.life.ended is not None


def test_where_all_revisits_fail_each_page_has_its_own(world):
    build(world, images=0)
    for answers in world.answers.values():
        answers[1:] = [{"result": Result.FAILED, "status": 503}] * 9
    capture = crawl(world, strategy="bfs", max_requests=31)
    assert len(world.requests) == 31
    assert visited(world, Slot.FIRST) <= visited(world, Slot.SECOND), "no page's is tried again in place of another's"
    assert not capture.budget.unproven, "no revisit was left"


def test_sitemaps_take_half_at_most(world):
    build(world, images=0)
    maps = [f"{ROOT}{number}.xml" for number in range(100)]
    world.links[f"{ROOT}sitemap.xml"] = [Sighting(url, Kind.SITEMAP, f"{ROOT}sitemap.xml") for url in maps]
    world.links.update({url: [Sighting(ROOT)] for url in maps})
    frontier = Frontier(Politeness(delay=1.0))
    frontier.open(CaptureSpec("h", (ROOT,), strategy="bfs", max_requests=40), world.now)
    fetched = world.run(frontier)
    assert len(fetched) <= 40
    assert 15 <= sum(fetch.kind is Kind.SITEMAP for fetch in fetched) <= 20
    assert visited(world, Slot.SECOND)


@pytest.mark.slow
@given(st.data())
def test_counted_over_restarts(data):
    """Cut off anywhere, gone on with: the bound holds for both together, as if it had been one."""
    world = World()
    build(world)
    most, cut = data.draw(st.integers(5, 90)), data.draw(st.integers(1, 90))
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=1.0), store)
    frontier.open(CaptureSpec("h", (ROOT,), strategy="bfs", sitemaps=(), max_requests=most), world.now)
    try:
        world.run(frontier, most=cut)
    except AssertionError:
        before = len(world.requests)
        world.now += 5000
        frontier = Frontier(Politeness(delay=1.0), store)
        frontier.restore(store.load(), world.now)
        world.run(frontier, most=5000)
        assert len(world.requests) >= before
    assert frontier.done
    assert len(world.requests) <= most
    assert visited(world, Slot.FIRST) <= visited(world, Slot.SECOND)


def test_time_stands_still_while_nothing_runs(world):
    build(world)
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=1.0), store)
    frontier.open(CaptureSpec("h", (ROOT,), strategy="bfs", sitemaps=(), max_time=60.0), world.now)
    with pytest.raises(AssertionError):
        world.run(frontier, most=30)
    made = len(world.requests)
    world.now += 86_400
    frontier = Frontier(Politeness(delay=1.0), store)
    frontier.restore(store.load(), world.now)
    world.run(frontier)
    assert len(world.requests) > made + 20


def test_no_bound_no_cost(world):
    build(world)
    capture = crawl(world, strategy="bfs")
    assert len(visited(world, Slot.FIRST)) == 120
    assert not [note for note in capture.notes if "budget" in note]


def test_an_instant_crawl_ends_when_its_budget_does(world):
    world.links[ROOT] = [Sighting(f"{ROOT}{number}", Kind.PAGE, ROOT) for number in range(3)]
    terms = Terms(every=10.0)
    frontier = Frontier(Politeness(delay=1.0), MemoryStore(), terms=terms)
    spec = CaptureSpec("h", (ROOT,), strategy="bfs:revisits=none", sitemaps=(), mode="instant", max_requests=20)
    capture = frontier.open(spec, world.now)
    world.run(frontier)
    assert len(world.requests) == 20
    assert capture.life.ended is not None


def test_in_the_last_instant_of_its_time_an_instant_crawl_waits_for_its_next_poll(world, impolite):
    frontier = Frontier(impolite, terms=Terms(every=100.0))
    spec = CaptureSpec("h", (ROOT,), strategy="bfs:revisits=none", sitemaps=(), mode="instant", max_time=10.0)
    capture = frontier.open(spec, world.now)
    fetch = frontier.next(world.now)
    frontier.finished(fetch, world.answer(fetch))
    assert frontier.next(world.now).until == capture.budget.ends == 1010.0
    assert frontier.next(1010.0).until > 1010.0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_the_front_page_names_comes_before_what_lies_deep(world, strategy):
    """Old versions of each section, which link to those of all: nobody knows a rate."""
    sections, versions = range(10), 30
    world.links[ROOT] = [Sighting(f"{ROOT}s{one}", Kind.PAGE, ROOT) for one in sections]
    for one in sections:
        for version in range(versions):
            url = f"{ROOT}s{one}?v={version}" if version else f"{ROOT}s{one}"
            older = version + 1 < versions
            world.links[url] = [Sighting(f"{ROOT}s{two}?v={version + 1}", Kind.PAGE, url) for two in sections if older]
    crawl(world, strategy=strategy, max_requests=80)
    assert {f"{ROOT}s{one}" for one in sections} <= {fetch.url for _, fetch in world.requests}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_a_limit_leaves_is_what_lies_deepest(world, strategy):
    """Facets of facets: each page names ten that lie below it."""
    waiting = [""]
    while waiting:
        above = waiting.pop()
        below = [f"{above}{number}/" for number in range(10)]
        world.links[ROOT + above] = [Sighting(ROOT + one, Kind.PAGE, ROOT + above) for one in below]
        waiting += below if len(above) < 6 else []
    crawl(world, strategy=strategy, limit=60)
    assert max(fetch.url.count("/") - ROOT.count("/") for _, fetch in world.requests if fetch.kind is Kind.PAGE) == 2
