"""A host that refuses all from some request on, without 429: told from a closed section, asked less often and again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.frontier import throttling
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Host, Politeness, Task
from sharc_crawler.frontier.throttling import ALIKE, Refusals
from sharc_crawler.model import Kind, Outcome, Result, Sighting, Slot
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World
from tests.frontier.test_once_more import captured

ROOT = "http://h.example/"
PAGES = [f"{ROOT}{number}" for number in range(60)]
FORBIDDEN = {"result": Result.REFUSED, "status": 403, "error": "status 403"}
GONE = {"result": Result.GONE, "status": 404}
MOVED = {"result": Result.REDIRECTED, "status": 302, "location": f"{ROOT}busy"}
STRATEGIES = ["bfs", "sharc-selective", "bfs:revisits=none"]


class Throttling(World):
    """A window holds so many requests; what comes beyond is refused until the window is over."""

    def __init__(self, most: int, window: float, **refusal) -> None:
        super().__init__()
        self.links[ROOT] = [Sighting(one) for one in PAGES]
        self.most, self.window, self.refusal = most, window, refusal
        self.begun, self.made = 0.0, 0

    def answer(self, fetch) -> Outcome:
        outcome = super().answer(fetch)
        if self.now >= self.begun + self.window:
            self.begun, self.made = self.now, 0
        self.made += 1
        if self.made <= self.most or fetch.url == f"{ROOT}busy":
            return outcome
        return Outcome(started=outcome.started, ended=outcome.ended, **self.refusal)


def crawled(world: World, strategy: str = "bfs:revisits=none", **given) -> tuple[Frontier, MemoryStore]:
    frontier = Frontier(Politeness(delay=1.0, obey_robots=False, **given), store := MemoryStore())
    frontier.open(CaptureSpec("h.example", (ROOT,), strategy=strategy, sitemaps=()), world.now)
    world.run(frontier)
    assert frontier.done
    return frontier, store


def probes(world: World) -> int:
    return sum(fetch.kind is Kind.PROBE for _, fetch in world.requests)


@pytest.mark.parametrize("refusal", [FORBIDDEN, GONE, MOVED])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_all_but_the_first_refused_pages_are_captured(strategy, refusal):
    world = Throttling(25, 60.0, **refusal)
    frontier, store = crawled(world, strategy)
    assert len({ROOT, *PAGES} - captured(store)) <= ALIKE + (refusal is MOVED)  # where that leads is a page
    assert any("it refuses who asks too often" in note for note in frontier.capture.notes)


def test_a_host_that_refuses_for_good_is_given_up_in_time():
    world = Throttling(25, 1e9, **FORBIDDEN)
    frontier, store = crawled(world)
    assert len(captured(store)) == 25
    assert world.now < 1000.0 + 2 * 3600
    assert len(world.requests) < 61 + 20
    assert any("for a quarter of an hour" in note for note in frontier.capture.notes)


@pytest.mark.parametrize("refusal", [FORBIDDEN, GONE, MOVED])
def test_a_closed_section_is_no_throttling_and_costs_few_requests(refusal):
    world = World()
    world.links[ROOT] = [Sighting(one) for one in PAGES]
    for one in PAGES[12:]:
        world.answers[one] = [refusal] * 9
    frontier, _ = crawled(world)
    assert probes(world) == 4
    assert world.now < 1000.0 + 70.0
    assert not any("too often" in note for note in frontier.capture.notes)


class Strict(World):
    """Answers no query that it does not know; each page from ``first`` on that ``dead`` holds is not there."""

    def __init__(self, dead: range) -> None:
        super().__init__()
        self.links[ROOT] = [Sighting(one) for one in PAGES]
        self.dead = {PAGES[number] for number in dead}

    def answer(self, fetch) -> Outcome:
        outcome = super().answer(fetch)
        gone = fetch.kind is Kind.PROBE or fetch.url in self.dead
        return Outcome(started=outcome.started, ended=outcome.ended, **GONE) if gone else outcome


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("dead", "rests"), [(range(20, 26), 180), (range(20, 60), 180), (range(5, 45), 180)])
def test_dead_links_where_unknown_queries_are_not_found_are_no_throttling(dead, rests, strategy):
    world = Strict(dead)
    frontier, store = crawled(world, strategy)
    assert captured(store) == {ROOT, *PAGES} - world.dead
    assert not any("too often" in note or "quarter" in note for note in frontier.capture.notes)
    assert world.now < 1000.0 + 2 * 61 + rests + 30.0


def test_dead_links_among_others_are_no_throttling():
    world = World()
    world.links[ROOT] = [Sighting(one) for one in PAGES]
    for number, one in enumerate(PAGES):
        if number % 5:
            world.answers[one] = [GONE] * 9
    crawled(world)
    assert not probes(world)
    assert len(world.requests) == 61


def test_a_page_that_is_not_there_is_forgotten_once_another_is():
    """Else each answer of a host that lacks one page is looked at as one that may refuse all."""
    world = World()
    world.links[ROOT] = [Sighting(one) for one in PAGES]
    world.answers[PAGES[20]] = [GONE] * 9
    frontier, _ = crawled(world)
    assert frontier.capture.refusals == {}


def test_who_wants_no_retries_has_none():
    world = Throttling(25, 60.0, **FORBIDDEN)
    _, store = crawled(world, attempts=1)
    assert len([fetch for _, fetch in world.requests if fetch.kind is Kind.PAGE]) == 61
    assert len(captured(store)) < 61


def test_it_goes_on_after_restarts():
    world, store = Throttling(25, 60.0, **FORBIDDEN), MemoryStore()
    politeness = Politeness(delay=1.0, obey_robots=False)
    frontier = Frontier(politeness, store)
    frontier.open(CaptureSpec("h.example", (ROOT,), strategy="bfs", sitemaps=()), world.now)
    world.run_restarted(frontier, politeness, store, 17)


def waiting(attempt: int = 1, times: int = 2, pauses: int = 0, delay: float = 1.0) -> tuple[bool, Refusals, Host]:
    """Is a page put off; what is known of its host then, and the host."""
    known, host = Refusals(), Host("h.example", Politeness(delay=delay))
    known.times, known.pauses, known.like = times, pauses, "status 403"
    notes = SimpleNamespace(note=lambda text: None)
    ledger = SimpleNamespace(hosts=[host], politeness=Politeness(delay=delay, back_off=5.0), capture=notes)
    outcome = Outcome(Result.REFUSED, 99.0, 100.0, 403)
    return throttling._waits(ledger, 0, known, Task(1, Slot.FIRST, attempt=attempt), outcome), known, host


@pytest.mark.parametrize(("pauses", "due"), [(0, 160.0), (1, 220.0), (2, 340.0), (3, 580.0)])
def test_each_pause_is_twice_as_long_as_the_one_before(pauses, due):
    """A minute first; the host is asked half as often, too."""
    put_off, known, host = waiting(pauses=pauses)
    assert (put_off, known.due, known.pauses) == (True, due, pauses + 1)
    assert (host.asked, host.pace.due) == (2.0, due)
    assert waiting(delay=20.0)[2].asked == 30.0, "no less than twice a minute"
    assert waiting(delay=40.0)[2].asked == 40.0, "but as seldom as it was"


def test_a_page_alone_pauses_nobody_and_after_a_quarter_of_an_hour_none_is_put_off():
    put_off, known, host = waiting(times=1)
    assert (put_off, known.pauses, host.asked) == (True, 0, Host("h.example", Politeness(delay=1.0)).asked)
    assert not waiting(attempt=2, times=1)[0], "others were shown meanwhile"
    assert waiting(attempt=2)[0]
    assert not waiting(pauses=throttling.PAUSES)[0]


def test_pages_alike_are_counted_in_a_row():
    known = Refusals()
    counts = []
    for like in ("a", "a", "b", "", "b", "b"):
        known.saw(like)
        counts.append(known.times)
    assert counts == [1, 2, 1, 0, 1, 2]
    known.pauses = 3
    known.saw("b")
    assert known.pauses == 3
    known.saw("")
    assert known.pauses == 0, "it answers again"
