"""A strategy that breaks its port's contract is stopped at that step; what was captured stays valid, and may go on."""

from __future__ import annotations

import pytest

from sharc_crawler.errors import StrategyError
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Fetch, Phase, Plan, Sighting, Slot, Verdict, Visit
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.door import Door
from tests.strategies import bad

ROOT = "http://a.example/"
LINKS = {
    ROOT: [Sighting(f"{ROOT}{number}") for number in range(6)],
    f"{ROOT}1": [Sighting(f"{ROOT}deep/{number}") for number in range(6)],
}


def stopped(world, politeness, strategy) -> tuple[Frontier, MemoryStore, StrategyError]:
    """A capture by a bad strategy, up to the error."""
    store = MemoryStore()
    world.links = LINKS
    frontier = Frontier(politeness, store)
    frontier.open(CaptureSpec("a.example", (ROOT,), strategy=f"{bad.__name__}.{strategy.__name__}"), world.now)
    with pytest.raises(StrategyError) as caught:
        world.run(frontier)
    return frontier, store, caught.value


def check_claims(store: MemoryStore) -> None:
    """Every page that is claimed was visited before T, and revisited after it."""
    state = store.load()
    (row,) = state.captures.values()
    slots = {(visit.page, visit.slot): visit.outcome for visit in state.visits if visit.finished}
    firsts = [outcome.ended for (_, slot), outcome in slots.items() if slot is Slot.FIRST]
    assert row.reference is None or max(firsts) <= row.reference
    for judgement in state.judgements:
        assert judgement.verdict is not Verdict.COHERENT or (
            row.reference is not None and row.reference <= slots[judgement.page, Slot.SECOND].started
        )


@pytest.mark.parametrize("strategy", bad.BAD, ids=lambda strategy: strategy.__name__)
def test_a_bad_strategy_is_stopped_and_named_and_another_one_goes_on(strategy, world, impolite):
    frontier, store, error = stopped(world, impolite, strategy)
    assert error.args[0].startswith(f"strategy='{bad.__name__}.{strategy.__name__}' is stopped: ")
    with pytest.raises(StrategyError, match=bad.BAD[strategy]):
        frontier.next(world.now)  # as often as it is asked
    (row,) = store.load().captures.values()
    assert (row.phase is Phase.DONE, row.ended) == (False, None)
    assert any(note.endswith(f"Z: {error}") for note in row.notes), "and when"
    check_claims(store)

    saved = store.load()
    saved.captures[0] = row._replace(spec=CaptureSpec("a.example", (ROOT,), strategy="bfs"))
    other = Frontier(impolite, store)
    other.restore(saved, world.now)
    world.run(other)
    assert other.done
    check_claims(store)
    state = store.load()
    pages = {page.url for page in state.pages if page.kind == "page"}
    assert pages == {ROOT, *(sighting.url for links in LINKS.values() for sighting in links)}
    fetched = [(visit.page, visit.slot) for visit in state.visits if visit.finished]
    assert len(fetched) == len(set(fetched)), "nothing is made twice"


def test_a_good_strategy_of_somebody_else_is_let_through(world, impolite):
    store = MemoryStore()
    world.links = LINKS
    frontier = Frontier(impolite, store)
    frontier.open(CaptureSpec("a.example", (ROOT,), strategy=f"{bad.__name__}.Good"), world.now)
    world.run(frontier)
    assert frontier.done
    assert {judgement.verdict for judgement in store.load().judgements} == {Verdict.COHERENT}


@pytest.mark.parametrize("strategy", [bad.Twice, bad.InFlight])
def test_what_was_under_way_when_a_strategy_was_stopped_is_not_lost(strategy, world):
    store = MemoryStore()
    several = Politeness(delay=0.0, obey_robots=False, concurrency=10)
    frontier = Frontier(several, store)
    frontier.open(
        CaptureSpec("a.example", (ROOT,), strategy=f"{bad.__name__}.{strategy.__name__}", sitemaps=()), world.now
    )
    for links in (LINKS[ROOT], ()):
        over = frontier.next(world.now)
        frontier.finished(over, world.answer(over), links)
    under_way: list[Fetch] = []
    with pytest.raises(StrategyError, match="is stopped"):
        while isinstance(fetch := frontier.next(world.now), Fetch):
            under_way.append(fetch)
    assert under_way
    for fetch in under_way:
        frontier.finished(fetch, world.answer(fetch), ())
    visited = {visit.page for visit in store.load().visits if visit.finished}
    assert visited >= {fetch.page for fetch in under_way}
    check_claims(store)


def test_visits_of_a_former_run_count_under_a_strategy_that_would_not_have_made_them():
    door = Door(bad.Once(Setting()), "once")
    door.add(Candidates.of([0, 1], [0.1, 0.1]))
    door.finished(Visit(0, Slot.FIRST, Plan.HOPEFUL), captured=True)
    door.finished(Visit(1, Slot.FIRST, Plan.HOPEFUL), captured=True)
    door.strategy.visited.clear()
    assert door.next(0.0) is None, "a strategy of single visits owes no revisit of what another one visited first"
