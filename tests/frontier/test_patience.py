"""robots.txt and sitemaps that are refused for some minutes are asked for again: many pages hang on them."""

from __future__ import annotations

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Hints, Kind, Outcome, Result, Sighting, Slot
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World
from tests.frontier.test_once_more import captured

ROOT = "http://h.example/"
ROBOTS, MAP, INDEX = ROOT + "robots.txt", ROOT + "map.xml", ROOT + "index.xml"
POLITE = Politeness(delay=1.0)
TWICE = ["bfs", "sharc-selective", "sharc-offline", "sharc-attested"]
STRATEGIES = [*TWICE, "bfs:revisits=none", "sharc-online"]
BUSY = {"status": 503}
REFUSALS = [BUSY, {"status": 429}, {"status": 429, "retry_after": 20.0}, {"status": None, "error": "no answer in time"}]


class Refusing(World):
    """What is refused until an instant; a sitemap names five pages, and the seed one of them and two others."""

    def __init__(self, refused: str, until: float, **answer) -> None:
        super().__init__()
        self.refused, self.until, self.refusal = refused, until, {"result": Result.FAILED, **answer}
        self.robots = {"h.example": f"User-agent: *\nSitemap: {INDEX}"}
        self.listed, self.linked = {f"{ROOT}{n}" for n in range(5)}, {f"{ROOT}{n}" for n in range(4, 7)}
        self.links[INDEX] = [Sighting(MAP, Kind.SITEMAP)]
        self.links[MAP] = [Sighting(one, hints=Hints(900.0)) for one in sorted(self.listed)]
        self.links[ROOT] = [Sighting(one) for one in sorted(self.linked)]
        self.every = {ROOT} | self.listed | self.linked

    def answer(self, fetch) -> Outcome:
        outcome = super().answer(fetch)
        fails = fetch.url == self.refused and self.now < self.until
        return Outcome(started=outcome.started, ended=outcome.ended, **self.refusal) if fails else outcome

    def at(self, url: str) -> list[float]:
        return [now for now, fetch in self.requests if fetch.url == url and fetch.slot is not Slot.SECOND]


def crawled(world: World, politeness: Politeness = POLITE, **given) -> tuple[Frontier, MemoryStore]:
    frontier = Frontier(politeness, store := MemoryStore())
    frontier.open(CaptureSpec("h.example", (ROOT,), **{"strategy": "bfs", **given}), world.now)
    world.run(frontier)
    return frontier, store


@pytest.mark.matrix
@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("refused", [ROBOTS, INDEX, MAP])
def test_what_is_refused_for_a_minute_and_a_half_loses_no_page(refused, refusal):
    for strategy in STRATEGIES:
        world = Refusing(refused, 1090.0, **refusal)
        frontier, store = crawled(world, strategy=strategy)
        assert captured(store) == world.every, strategy
        assert not frontier.capture.counts.late
        assert not any("missing" in note or "nothing on it" in note for note in frontier.capture.notes)
        told = [note for note in frontier.capture.notes if note.startswith(f"{refused} could not be read at first (")]
        assert len(told) == (len(world.at(refused)) > 3)


@pytest.mark.parametrize("refused", [ROBOTS, INDEX])
def test_it_goes_on_after_a_restart(refused):
    for strategy in STRATEGIES:
        for every in (4, 7):
            world = Refusing(refused, 1060.0, **BUSY)
            frontier = Frontier(POLITE, store := MemoryStore())
            frontier.open(CaptureSpec("h.example", (ROOT,), strategy=strategy), world.now)
            world.run_restarted(frontier, POLITE, store, every)
            assert captured(store) == world.every, (strategy, every)


@pytest.mark.parametrize("status", [500, 503])
def test_robots_txt_is_asked_for_again_for_five_minutes_and_no_page_before(status):
    world = Refusing(ROBOTS, 1e9, status=status)
    frontier, store = crawled(world)
    assert [round(at - 1000.0) for at in world.at(ROBOTS)] == [0, 5, 15, 75, 135, 215, 375]
    assert {fetch.url for _, fetch in world.requests} == {ROBOTS}
    assert not captured(store)
    assert f"{ROBOTS} could not be read (status {status}): nothing on it is fetched" in frontier.capture.notes


def test_other_hosts_go_on_while_one_is_waited_for():
    world = Refusing("http://i.example/robots.txt", 1090.0, **BUSY)
    world.links[ROOT] = [*world.links[ROOT], Sighting("http://i.example/far")]
    _, store = crawled(world, strategy="bfs:revisits=none", include=("http://[hi][.]example/",))
    assert captured(store) >= world.every
    assert max(world.at(f"{ROOT}6")) < 1090.0


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "bfs:revisits=none"])
def test_pages_are_visited_while_a_sitemap_is_waited_for_and_t_waits(strategy):
    world = Refusing(INDEX, 1e9, **BUSY)
    frontier, store = crawled(world, strategy=strategy)
    assert captured(store) == {ROOT} | world.linked
    at = world.at(INDEX)
    assert len(at) == 5
    assert at[2] < max(world.at(f"{ROOT}5")) < at[3], "pages on the way"
    ahead = [now for now, fetch in world.requests if fetch.slot is Slot.SECOND]
    assert not ahead or min(ahead) > at[4]
    (said,) = [note for note in frontier.capture.notes if note.startswith("sitemap ")]
    assert said == f"sitemap {INDEX}: status 503: pages that only it lists are missing from this capture"
    assert not any("no sitemap lists" in note for note in frontier.capture.notes)


def test_where_sitemaps_are_the_evidence_visits_wait_for_them():
    world = Refusing(INDEX, 1090.0, **BUSY)
    crawled(world, strategy="sharc-attested")
    assert min(at for at, fetch in world.requests if fetch.kind is Kind.PAGE) > 1090.0


@pytest.mark.parametrize("error", ["no such host", "the TLS certificate is not trusted"])
@pytest.mark.parametrize("refused", [ROBOTS, INDEX])
def test_what_minutes_do_not_change_is_asked_for_as_before(refused, error):
    world = Refusing(refused, 1e9, status=None, error=error)
    crawled(world)
    assert len(world.at(refused)) == 3


@pytest.mark.parametrize("given", [{"attempts": 1}, {"longest_pause": 10.0}])
def test_who_wants_no_retries_or_shorter_pauses_has_none(given):
    for refused in (ROBOTS, INDEX):
        world = Refusing(refused, 1e9, status=429, retry_after=11.0)
        crawled(world, Politeness(**given))
        assert len(world.at(refused)) <= 3


def test_a_plan_is_made_at_once():
    world = Refusing(ROBOTS, 1e9, **BUSY)
    crawled(world, mode="survey", strategy="sharc-attested")
    assert len(world.at(ROBOTS)) == 3


def test_a_budget_of_time_ends_it():
    world = Refusing(ROBOTS, 1e9, **BUSY)
    crawled(world, max_time=40.0)
    assert world.now < 1045.0
