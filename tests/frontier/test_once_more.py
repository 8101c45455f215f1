"""What fails at each attempt has one more at the end of the visits; of a host that is down, a few pages have."""

from __future__ import annotations

import pytest

from sharc_crawler.frontier.frontier import FEW, Frontier
from sharc_crawler.frontier.throttling import LATER
from sharc_crawler.model import Kind, Outcome, Result, Sighting, Slot
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World

ROOT = "http://h/"
STRATEGIES = ["bfs", "bfs:revisits=none", "sharc-selective", "sharc-attested"]


class Outage(World):
    """Twelve pages; from ``begins`` on ``down`` ones answer with this, until ``ends``."""

    def __init__(self, begins: float, ends: float, down: range = range(4, 5), **answer) -> None:
        super().__init__()
        self.pages = [f"{ROOT}{number}" for number in range(12)]
        self.links[ROOT] = [Sighting(one) for one in self.pages]
        self.begins, self.ends, self.down = begins, ends, {self.pages[number] for number in down}
        self.failing = {"result": Result.FAILED, "status": 503} | answer

    def answer(self, fetch) -> Outcome:
        outcome = super().answer(fetch)
        fails = fetch.url in self.down and self.begins <= self.now < self.ends
        return Outcome(started=outcome.started, ended=outcome.ended, **self.failing) if fails else outcome

    def times(self, url: str) -> int:
        return sum(fetch.url == url and fetch.slot is not Slot.SECOND for _, fetch in self.requests)


def crawled(world: World, impolite, strategy: str = "bfs", every: int = 0, **given) -> tuple[Frontier, MemoryStore]:
    frontier = Frontier(impolite, store := MemoryStore())
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy, **given), world.now)
    if every:
        world.run_restarted(frontier, impolite, store, every)
    else:
        world.run(frontier)
    return frontier, store


def captured(store: MemoryStore) -> set[str]:
    saved = store.load()
    urls = {row.page: row.url for row in saved.pages if row.kind is Kind.PAGE}
    return {urls[visit.page] for visit in saved.visits if visit.outcome.result is Result.OK and visit.page in urls}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_outage_longer_than_three_attempts_loses_no_page(impolite, strategy):
    world = Outage(1000.0, 1010.0)
    frontier, store = crawled(world, impolite, strategy)
    assert captured(store) == {ROOT, *world.pages}
    assert world.times(world.pages[4]) == 4
    order = [fetch.url for _, fetch in world.requests if fetch.slot is not Slot.SECOND]
    assert order[-1] == world.pages[4], "after all others"
    assert (
        "1 page that had failed 3 times was kept for one more attempt at the end of the visits"
        in frontier.capture.notes
    )
    assert frontier.capture.reference is None or frontier.capture.reference > 1010.0, "T waited"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_whatever_says_that_there_may_be_an_answer_later(impolite, status):
    world = Outage(1000.0, 1010.0, status=status)
    _, store = crawled(world, impolite)
    assert captured(store) == {ROOT, *world.pages}


def test_it_goes_on_after_restarts_too(impolite):
    world = Outage(1000.0, 1010.0)
    _, store = crawled(world, impolite, every=5)
    assert captured(store) == {ROOT, *world.pages}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("answer", [{}, {"status": None, "error": "connection refused"}])
def test_of_a_host_that_stays_down_a_few_are_asked_for_once_more(impolite, answer, strategy):
    world = Outage(1000.05, 1e9, range(12), **answer)
    frontier, store = crawled(world, impolite, strategy)
    assert frontier.done
    asked = sum(map(world.times, world.pages)) - 3 * len(captured_not(store, world))
    assert asked - len(captured(store) & set(world.pages)) <= FEW
    why = {visit.outcome.error for visit in store.load().visits if visit.outcome.result is Result.REFUSED}
    assert why == {"it had failed, and h failed 3 such pages once more"}


def captured_not(store: MemoryStore, world: Outage) -> set[str]:
    return set(world.pages) - captured(store)


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 500},
        {"status": 200, "error": "cut short"},
        {"retry_after": 1e6},
    ],
)
def test_what_does_not_pass_is_not_asked_for_once_more(impolite, answer):
    world = Outage(1000.0, 1e9, **answer)
    frontier, store = crawled(world, impolite)
    assert captured_not(store, world) == {world.pages[4]}
    assert world.times(world.pages[4]) == 3
    assert not any("one more attempt" in note for note in frontier.capture.notes)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("length", [0, 10], ids=["announced", "found out"])
def test_what_is_too_large_is_asked_for_once(impolite, length, strategy):
    world = Outage(1000.0, 1e9, status=None, length=length, error="larger than DOWNLOAD_MAXSIZE")
    _, store = crawled(world, impolite, strategy, every=5)
    assert captured_not(store, world) == {world.pages[4]}
    assert world.times(world.pages[4]) == 1


def test_who_wants_no_retries_has_none(impolite):
    world = Outage(1000.0, 1010.0)
    crawled(world, impolite.__class__(delay=0.0, obey_robots=False, attempts=1))
    assert world.times(world.pages[4]) == 1


def test_it_is_given_time_and_an_end(impolite):
    """A minute from its last failure on, or as long as it asks for; then it is lost."""
    for answer, least in (({}, LATER * impolite.back_off), ({"retry_after": 40.0}, 40.0)):
        world = Outage(1000.0, 1e9, **answer)
        _, store = crawled(world, impolite)
        at = [now for now, fetch in world.requests if fetch.url == world.pages[4]]
        assert least <= at[3] - at[2] <= least + 2
        assert len(at) == 4
        assert captured_not(store, world) == {world.pages[4]}


def test_a_budget_of_time_ends_it(impolite):
    world = Outage(1000.0, 1e9)
    _, store = crawled(world, impolite, max_time=8.0)
    assert world.now < 1020.0
    assert captured_not(store, world) == {world.pages[4]}


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "hottest-last"])
def test_a_list_of_changes_that_fails_before_its_turn_is_asked_for_again_when_that_comes(impolite, strategy):
    world, lists = World(), [f"{ROOT}{name}" for name in ("feed/", "recent", "news")]
    world.links[ROOT] = [Sighting(url) for url in (*lists, *(f"{ROOT}{number}" for number in range(40)))]
    world.answers = {url: [{"result": Result.FAILED, "status": 503}] * 100 for url in lists}
    frontier, store = crawled(world, impolite, strategy)
    assert frontier.done
    assert captured(store) == {one.url for one in world.links[ROOT]} - set(lists) | {ROOT}
    times = [sum(fetch.url == url for _, fetch in world.requests) for url in lists]
    assert max(times) == 3 + 3 + 1, "before its turn, in its turn, at the end"
