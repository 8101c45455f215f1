"""An hour and more against servers that keep a log, in virtual time: no gap is shorter than what was asked for."""

from __future__ import annotations

import heapq
import random
from collections import Counter, deque
from itertools import pairwise

import pytest

from sharc_crawler.errors import SiteError, StoppedCaptureError
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Host, Politeness, Task
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.model import Done, Fetch, Kind, Outcome, Result, Sighting, Slot, Validators, Wait
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World

PAGES = 900
DELAYS = {"plain.example": 2.0, "slow.example": 5.0}  # ours; robots.txt of the second asks for 5 s
ROBOTS = {"plain.example": "Sitemap: /sitemap.xml", "slow.example": "User-agent: *\nCrawl-delay: 5\n"}
RETRY_AFTER = 90.0
TOO_MANY = {"result": Result.FAILED, "status": 429, "error": "status 429"}
BUSY = {"result": Result.FAILED, "status": 503, "error": "status 503"}


def build(world, seed: int) -> None:
    """Two hosts: pages, images, sitemaps, redirects, failures, 503 with and without Retry-After."""
    chosen = random.Random(seed)
    world.robots = {**ROBOTS, "plain.example": "Sitemap: http://plain.example/sitemap.xml"}
    for host, pages in (("plain.example", PAGES), ("slow.example", PAGES // 3)):
        root = f"http://{host}/"
        names = [root, *(f"{root}{number}" for number in range(pages))]
        world.links[f"{root}sitemap.xml"] = [Sighting(name) for name in chosen.sample(names, pages // 2)]
        for name in names:
            images = [Sighting(f"{root}i{chosen.randrange(40)}.png", Kind.RESOURCE) for _ in range(2)]
            world.links[name] = [*(Sighting(chosen.choice(names)) for _ in range(12)), *images]
            valid = {"validators": Validators('"1"', None)}
            first = chosen.choices(
                [
                    valid,
                    BUSY,
                    {**chosen.choice((BUSY, TOO_MANY)), "retry_after": RETRY_AFTER},
                    {"result": Result.REDIRECTED, "status": 302, "location": chosen.choice(names)},
                    {"result": Result.GONE, "status": 404},
                ],
                [90, 4, 1, 3, 2],
            )[0]
            world.answers[name] = [first, valid]


@pytest.mark.slow
@pytest.mark.parametrize(
    "strategy", ["sharc-selective", *(pytest.param(one, marks=pytest.mark.long) for one in ("bfs", "sharc-online"))]
)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_the_servers_logs(world, strategy, seed):
    build(world, seed)
    frontier = Sites(Politeness(delay=2.0, back_off=5.0))
    for host in DELAYS:
        frontier.open(CaptureSpec(host, (f"http://{host}/",), strategy=strategy), world.now)
    started = world.now
    world.run(frontier, most=60_000)
    assert world.now - started > 2400, "the log is long"
    kinds = Counter()
    for host, delay in DELAYS.items():
        log = [(at, fetch) for at, fetch in world.requests if fetch.host == host]
        kinds.update((fetch.kind, fetch.slot, fetch.attempt > 1) for _, fetch in log)
        assert min(later[0] - earlier[0] for earlier, later in pairwise(log[1:])) >= delay - 1e-9
        assert log[1][0] - log[0][0] >= 2.0 - 1e-9, "robots.txt itself is followed at the delay known by then"
    assert {kind for kind, _, _ in kinds} - {Kind.PROBE} == {Kind.ROBOTS, Kind.SITEMAP, Kind.PAGE, Kind.RESOURCE}
    assert any(again for _, _, again in kinds), "failures were tried again"
    if strategy != "sharc-online":
        assert any(slot is Slot.SECOND for _, slot, _ in kinds)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_host_that_asks_for_a_pause_gets_it_and_loses_no_page(world, seed):
    build(world, seed)
    frontier = Frontier(Politeness(delay=2.0, back_off=5.0))
    frontier.open(CaptureSpec("plain.example", ("http://plain.example/",), strategy="bfs:revisits=none"), world.now)
    world.run(frontier, most=60_000)
    log = [(at, fetch, tried) for (at, fetch), tried in zip(world.requests, attempts(world), strict=True)]
    paused = [
        (later[0] - at)
        for (at, fetch, tried), later in pairwise(log)
        if world.answers.get(fetch.url, [{}])[0].get("retry_after") and tried == 0
    ]
    assert paused and min(paused) >= RETRY_AFTER
    failed = {url for url, answers in world.answers.items() if answers[0].get("status") in (429, 503)}
    asked = Counter(fetch.url for _, fetch in world.requests)
    assert all(asked[url] == 2 for url in failed & asked.keys()), "what failed once was had at the second attempt"


def attempts(world) -> list[int]:
    seen: Counter[str] = Counter()
    numbers = []
    for _, fetch in world.requests:
        numbers.append(seen[fetch.url])
        seen[fetch.url] += 1
    return numbers


@pytest.mark.parametrize("strategy", ["sharc-selective", "bfs:revisits=none"])
def test_the_names_of_one_machine_share_one_pace(world, strategy):
    """``www.x``, ``x``, and their pauses; robots.txt is read for each, and another site is asked meanwhile."""
    names = ("www.one.example", "one.example")
    world.robots = {"www.one.example": "User-agent: *\nDisallow: /private", "other.example": ""}
    links = [Sighting(f"http://{name}/{number}") for number in range(20) for name in (*names, "other.example")]
    links += [Sighting(f"http://{name}/private") for name in names]
    world.links = {f"http://{name}/": links for name in (*names, "other.example")}
    world.answers["http://one.example/3"] = [{**BUSY, "retry_after": RETRY_AFTER}]
    frontier = Sites(Politeness(delay=2.0, back_off=5.0))
    for site in ("www.one.example", "other.example"):
        frontier.open(CaptureSpec(site, (f"http://{site}/",), strategy=strategy), world.now)
    world.run(frontier)
    log = [(at, fetch) for at, fetch in world.requests if fetch.host in names]
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(log)]
    assert min(gaps) >= 2.0 - 1e-9
    assert max(gaps) >= RETRY_AFTER, "a pause that one name asks for holds for the other"
    assert {fetch.host for _, fetch in log} == set(names)
    assert {fetch.url for _, fetch in log if fetch.url.endswith("private")} == {"http://one.example/private"}
    assert len([at for at, fetch in world.requests if fetch.host not in names]) > 20
    starts = {round(at) for at, _ in log}
    assert any(round(at) in starts for at, fetch in world.requests if fetch.host not in names), "side by side"


def test_a_pause_counts_from_when_a_request_had_left():
    """A busy machine sends it some time after it was begun; the next one is on time all the same."""
    frontier = Frontier(Politeness(delay=2.0, obey_robots=False))
    frontier.open(CaptureSpec("one.example", ("http://one.example/",), strategy="bfs", sitemaps=()), 1e9)
    fetch = frontier.next(1e9)
    assert isinstance(fetch, Fetch)
    frontier.finished(
        fetch, Outcome(Result.OK, 1e9, 1e9 + 1.9, 200, "sha1:A", sent=1e9 + 1.5), [Sighting(f"{fetch.url}b")]
    )
    wait = frontier.next(1e9 + 2)
    assert isinstance(wait, Wait)
    assert wait.until == pytest.approx(1e9 + 3.5)


def test_hosts_of_a_projects_own_naming_have_a_pace_and_a_number_of_requests_each(world):
    """Download slots: several for one host, each with its delay and its requests at once."""
    frontier = Frontier(Politeness(delay=1.0, hosts={"slow": 9.0}, at_once={"wide": 3}, obey_robots=False))
    spec = CaptureSpec("one.example", ("http://one.example/",), strategy="bfs:revisits=none", sitemaps=())
    frontier.open(spec, world.now, seeded=False)
    slots = ["slow"] * 3 + ["wide"] * 3 + [""] * 3
    pages = [Sighting(f"http://one.example/{number}", host=slot) for number, slot in enumerate(slots)]
    frontier.schedule(pages, world.now)
    leased = []
    for second in range(4):
        while isinstance(fetch := frontier.next(world.now + second), Fetch):
            leased.append((second, fetch.host))
    assert Counter(leased) == Counter([(0, "slow"), (0, "one.example"), (0, "wide"), (1, "wide"), (2, "wide")]), (
        "nothing has ended: one each, three where three are allowed, a second apart"
    )
    assert frontier.next(world.now + 4) != Done()


def test_a_host_owes_something_as_long_as_anything_may_be_asked_of_it():
    task = Task(0, Slot.ONLY)
    for name, value in (
        ("has_pages", True),
        ("urgent", deque([task])),
        ("held", deque([task])),
        ("retries", [(5.0, 0, task)]),
        ("robots", task),
    ):
        host = Host("h.example", Politeness())
        assert host.owes is False
        setattr(host, name, value)
        assert host.owes is True


class Silent(World):
    """``b`` answers nothing to any page; robots.txt and sitemap are there."""

    def answer(self, fetch):
        outcome = super().answer(fetch)
        if fetch.kind is Kind.SITEMAP:
            self.links[fetch.url] = [Sighting(f"{fetch.url.removesuffix('sitemap.xml')}{n}") for n in range(40)]
            return outcome._replace(result=Result.OK, status=200)
        if fetch.kind is Kind.PAGE and fetch.url.startswith("http://b/") and self.dead:
            return outcome._replace(result=Result.FAILED, status=None, ended=outcome.started + 60.0, error="timeout")
        return outcome

    dead = True


def test_the_capture_of_a_host_that_hangs_stops_within_three_quarters_of_an_hour_and_goes_on_later():
    world, store = Silent(), MemoryStore()
    politeness = Politeness(delay=1.0)
    sites = Sites(politeness)
    sites.open(CaptureSpec("b", ("http://b/",), strategy="bfs"), world.now, store)
    sites.open(CaptureSpec("a", ("http://a/",), strategy="bfs"), world.now)
    stopped, began = None, world.now
    leased = []
    while not isinstance(decision := _next(sites, world.now), Done):
        if isinstance(decision, SiteError):
            assert stopped is None
            stopped, when = decision, world.now
            sites.stop(decision.site)
        elif isinstance(decision, Fetch):
            heapq.heappush(leased, ((outcome := world.answer(decision)).ended, decision.lease, decision, outcome))
            world.requests.append((world.now, decision))
        else:
            world.now = min([decision.until, *(end for end, *_ in leased[:1])])
        while leased and leased[0][0] <= world.now:
            _, _, fetch, outcome = heapq.heappop(leased)
            sites.finished(fetch, outcome, world.links.get(fetch.url, ()))
    assert str(stopped) == "b has answered nothing whole for 30 minutes (10 URLs in a row were lost)"
    assert 1_800 < when - began < 2_700
    assert sites["a"].done
    asked = {fetch.url for _, fetch in world.requests if fetch.site == "a" and fetch.kind is Kind.PAGE}
    assert len(asked) == 41
    assert any("answered nothing whole" in note for row in store.load().captures.values() for note in row.notes)
    world.dead = False
    frontier = Frontier(politeness, store)
    frontier.restore(store.load(), world.now)
    world.run(frontier, most=9_000)
    known = [row for row in store.load().pages if row.kind is Kind.PAGE]
    assert len(store.load().judgements) == len(known), "what had failed before was to be asked for once more"


def _next(sites, now):
    try:
        return sites.next(now)
    except SiteError as error:
        return error


def test_another_host_of_a_site_that_hangs_is_left_and_the_site_captured(world):
    frontier = Frontier(Politeness(delay=1.0, attempts=1))
    images = [f"http://img/{n}" for n in range(60)]
    world.links["http://a/"] = [Sighting(one, Kind.RESOURCE) for one in images]
    dead = {"result": Result.FAILED, "status": None, "error": "timeout"}
    world.answers = {one: [dead] * 9 for one in images}
    frontier.open(CaptureSpec("a", ("http://a/",), sitemaps=(), strategy="bfs"), world.now)
    while not isinstance(decision := frontier.next(world.now), Done):
        if isinstance(decision, Wait):
            world.now = decision.until
            continue
        outcome = world.answer(decision)
        slow = 200.0 if outcome.result is Result.FAILED else 0.0
        world.requests.append((world.now, decision))
        world.now += slow + 0.01
        frontier.finished(decision, outcome._replace(ended=world.now), world.links.get(decision.url, ()))
    assert frontier.done
    assert len([fetch for _, fetch in world.requests if fetch.url in images]) == 10


YEARS = {**BUSY, "retry_after": 94_608_000.0}  # three of them


def test_a_host_whose_robots_txt_asks_for_years_of_rest_is_left_out_at_once(world):
    world.answers["http://a/robots.txt"] = [YEARS] * 9
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=1.0), store)
    frontier.open(CaptureSpec("a", ("http://a/",), strategy="bfs"), began := world.now)
    assert [fetch.url for fetch in world.run(frontier)] == ["http://a/robots.txt"]
    assert world.now - began < 60
    why = "http://a/robots.txt could not be read (status 503, Retry-After: 94608000 s): nothing on it is fetched"
    assert [why in row.notes for row in store.load().captures.values()] == [True]


def test_a_site_whose_pages_ask_for_years_of_rest_is_asked_twice_and_goes_on_later_without_a_loss(world):
    urls = ["http://a/", *(f"http://a/{number}" for number in range(20))]
    world.links["http://a/sitemap.xml"] = [Sighting(url) for url in urls]
    world.answers = {url: [YEARS] for url in urls}
    politeness, store = Politeness(delay=1.0), MemoryStore()
    frontier = Frontier(politeness, store)
    frontier.open(CaptureSpec("a", ("http://a/",), strategy="bfs"), began := world.now)
    with pytest.raises(StoppedCaptureError, match="a asks for a longer wait than this crawl allows"):
        world.run(frontier)
    pages = [at for at, fetch in world.requests if fetch.kind is Kind.PAGE]
    assert len(pages) == 2
    assert pages[1] - pages[0] >= politeness.longest_pause
    assert world.now - began < politeness.longest_pause + 60, "the second pause is nobody's"
    world.answers.clear()
    frontier = Frontier(politeness, store)
    frontier.restore(store.load(), world.now)
    world.run(frontier)
    assert len(store.load().judgements) == len(urls)


def test_one_url_that_asks_for_years_of_rest_is_lost_alone(world):
    urls = ["http://a/", *(f"http://a/{number}" for number in range(20))]
    world.links["http://a/sitemap.xml"] = [Sighting(url) for url in urls]
    world.answers["http://a/3"] = [YEARS] * 9
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=1.0), store)
    frontier.open(CaptureSpec("a", ("http://a/",), strategy="bfs"), world.now)
    world.run(frontier)
    assert len(store.load().judgements) == len(urls) - 1


def test_another_host_that_asks_for_years_of_rest_is_asked_for_nothing_more(world):
    images = [f"http://img/{number}" for number in range(20)]
    world.links["http://a/"] = [Sighting(one, Kind.RESOURCE) for one in images]
    world.answers = {one: [YEARS] * 9 for one in images}
    politeness = Politeness(delay=1.0)
    frontier = Frontier(politeness)
    frontier.open(CaptureSpec("a", ("http://a/",), sitemaps=(), strategy="bfs"), began := world.now)
    world.run(frontier)
    assert frontier.done
    assert len([fetch for _, fetch in world.requests if fetch.url in images]) == 2
    assert world.now - began < politeness.longest_pause + 60
