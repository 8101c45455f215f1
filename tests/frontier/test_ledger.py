"""What of a step the store is told, and when."""

from __future__ import annotations

from array import array
from types import SimpleNamespace

import numpy as np
import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Hints, Kind, Outcome, Phase, Plan, RateEstimate, Result, Sighting, Slot, Wait
from sharc_crawler.rates.base import PRIOR
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.rows import HostRow, VisitRow
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.small import ROOT, page, spec


def opened(**changed) -> tuple[Frontier, MemoryStore]:
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=0.0, obey_robots=False), store)
    frontier.open(spec(strategy="bfs:revisits=none", **changed), 1000.0)
    return frontier, store


def paths(store: MemoryStore) -> list[str]:
    return [row.url.removeprefix(ROOT) for row in store.load().pages]


def test_all_of_a_step_is_written_at_its_end():
    frontier, store = opened()
    with frontier.ledger.one_step():
        frontier.schedule([page("1")], 1000.0)
        frontier.schedule([page("2")], 1000.0)
        assert paths(store) == [""]
    assert paths(store) == ["", "1", "2"]
    frontier.schedule([page("3")], 1000.0)
    assert paths(store)[-1] == "3", "and what comes behind it at once"


def test_a_step_that_may_wait_is_written_with_what_follows():
    frontier, store = opened()
    with frontier.ledger.one_step(later=True):
        frontier.schedule([page("1")], 1000.0)
    assert paths(store) == [""]
    assert frontier.ledger.shared.unwritten == {frontier.ledger}, "before anything else is decided"
    frontier.ledger.commit()
    assert paths(store) == ["", "1"]
    assert not frontier.ledger.shared.unwritten


def test_a_note_is_written_with_the_step_that_makes_it_and_once(monkeypatch):
    frontier, store = opened()
    frontier.capture.note("10 pages were lost")
    frontier.ledger.commit()
    assert "10 pages were lost" in store.load().captures[0].notes
    frontier.capture.note("20 pages were lost", instead_of="10 pages were lost")
    frontier.schedule([page("1")], 1000.0)
    assert [note for note in store.load().captures[0].notes if "lost" in note] == ["20 pages were lost"]
    told = []
    monkeypatch.setattr(store, "commit", told.append)
    frontier.schedule([page("2")], 1000.0)
    frontier.ledger.commit()
    assert [step.captures for step in told] == [{}], "nothing was noted since"


def test_that_a_capture_has_begun_its_visits_is_written_with_the_first():
    frontier, store = opened()
    fetch = frontier.next(1000.0)
    frontier.finished(fetch, Outcome(Result.OK, 1000.0, 1000.5, 200))
    assert store.load().captures[0].phase is Phase.VISIT


def test_a_step_that_is_broken_off_is_written_with_the_next():
    frontier, store = opened()

    def broken_off():
        with frontier.ledger.one_step():
            frontier.schedule([page("1")], 1000.0)
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="gone"):
        broken_off()
    assert paths(store) == [""]
    frontier.schedule([page("2")], 1000.0)
    assert paths(store) == ["", "1", "2"]


def test_a_step_is_told_once_and_one_that_changed_nothing_is_none(monkeypatch):
    frontier, store = opened()
    told = []
    monkeypatch.setattr(store, "commit", told.append)
    frontier.schedule([page("1")], 1000.0)
    frontier.schedule([page("1")], 1000.0)
    frontier.ledger.commit()
    assert [[row.url for row in batch.pages] for batch in told] == [[ROOT + "1"]]


def test_without_a_store_nobody_is_told():
    frontier = Frontier(Politeness(delay=0.0, obey_robots=False))
    frontier.open(spec(strategy="bfs"), 1000.0)
    fetch = frontier.next(1000.0)
    frontier.finished(fetch, Outcome(Result.OK, 1000.0, 1000.5, 200), [page("1"), Sighting("http://b.example/")])
    assert not frontier.ledger._batch
    assert list(frontier.ledger.links()) == []


def test_what_is_not_taken_is_listed_without_passwords_and_as_far_as_browsers_read_an_address():
    frontier, store = opened()
    long = "http://b.example/" + "a" * 3_000
    frontier.schedule([Sighting("http://me:secret@b.example/", via="x"), Sighting(long)], 1000.0)
    assert [(row.url, row.via) for row in store.load().outside] == [
        ("http://b.example/", "x"),
        (long[:2_083], "seed"),
    ]


def test_a_fetch_and_a_refusal_are_rows_of_what_was_done():
    frontier, store = opened(max_requests=1)
    fetch = frontier.next(1000.0)
    outcome = Outcome(Result.OK, 1000.0, 1000.5, 200, digest="sha1:A")
    frontier.finished(fetch, outcome, [page("1")])
    frontier.next(1001.0)
    reason = "budget: max_requests=1 has no room left for it"
    refused = Outcome(Result.REFUSED, 1001.0, 1001.0, error=reason)
    assert store.load().visits == [
        VisitRow(0, Slot.ONLY, Plan.HOPEFUL, 1, finished=True, lease=1, decided=1000.0, outcome=outcome),
        VisitRow(1, Slot.ONLY, Plan.HOPEFUL, 0, finished=True, lease=0, decided=1001.0, outcome=refused),
    ]


def test_what_is_tried_again_is_a_row_too_and_the_page_is_not_finished():
    frontier, store = opened()
    first = frontier.next(1000.0)
    frontier.finished(first, Outcome(Result.FAILED, 1000.0, 1000.5, 503))
    again = frontier.next(1009.0)
    frontier.finished(again, Outcome(Result.OK, 1009.0, 1009.5, 200))
    rows = [(row.attempt, row.finished, row.outcome.result) for row in store.load().visits]
    assert rows == [(1, False, Result.FAILED), (2, True, Result.OK)]


def test_the_rules_of_a_host_are_kept_with_its_delay(world):
    world.robots = {"a.example": "User-agent: *\nCrawl-delay: 3"}
    store = MemoryStore()
    frontier = Frontier(Politeness(delay=1.0), store)
    frontier.open(spec(), world.now)
    world.step(frontier)
    assert store.load().hosts == {"a.example": HostRow("a.example", world.robots["a.example"], 3.0)}


def test_who_owns_what_is_embedded_in_what_is_embedded():
    """The page; a resource that no page brings owns itself."""
    frontier, _ = opened()
    frontier.schedule([Sighting(ROOT + "own.png", Kind.RESOURCE)], 1000.0)
    fetch = frontier.next(1000.0)
    style = Sighting(ROOT + "s.css", Kind.RESOURCE)
    images = {style.url: [Sighting(ROOT + "bg.png", Kind.RESOURCE)], ROOT: [style, page("1")]}
    for _ in range(5):
        outcome = Outcome(Result.OK, 1000.0, 1000.5, 200)
        frontier.finished(fetch, outcome, images.get(fetch.url, ()))
        fetch = frontier.next(1000.0)
    names = {url.removeprefix(ROOT): number for number, url in enumerate(frontier.pages.urls)}
    owners = {name: frontier.pages.owner(number) for name, number in names.items()}
    assert [frontier.pages.rates[names[name]] for name in ("own.png", "s.css")] == [0.0, 0.0], "nobody rates them"
    assert owners == {"": 0, "own.png": names["own.png"], "s.css": 0, "bg.png": 0, "1": names["1"]}


@pytest.mark.parametrize("due", [0.0, 5.0])
def test_what_is_owed_wakes_the_host_that_owes_it(world, due):
    frontier, _ = opened()
    frontier.schedule([Sighting("http://b.example/i.png", Kind.RESOURCE)], world.now)
    (image,) = {fetch.page for fetch in world.run(frontier) if fetch.kind is Kind.RESOURCE}
    frontier.pages.states[image] = State.VISITED
    if due:
        frontier.ledger.owe_at(image, Slot.SECOND, world.now + due)
        assert frontier.next(world.now) == Wait(world.now + due)
    else:
        frontier.ledger.owe(image, Slot.SECOND)
    assert frontier.next(world.now + max(due, 1.0)).page == image


@pytest.mark.parametrize(
    ("mode", "seeded", "left"), [("capture", True, True), ("capture", False, False), ("instant", True, False)]
)
def test_hosts_that_answer_nothing_are_left_by_captures_of_their_seeds(mode, seeded, left):
    frontier = Frontier()
    frontier.open(spec(strategy="bfs:revisits=none", mode=mode), 1000.0, seeded)
    assert frontier.ledger.leaves_hosts is left


@pytest.mark.parametrize("source", [PRIOR, "sitemap"])
@pytest.mark.parametrize("how", ["one", "many", "columns"])
def test_a_rate_that_is_known_better_is_written_and_it_is_known_whether_it_is_a_guess(source, how):
    frontier, store = opened()
    frontier.schedule([page("1")], 1000.0)
    estimate = RateEstimate(0.5, source, 2.0)
    columns = SimpleNamespace(columns=lambda: (np.array([0.5]), np.array([2.0]), [source]))
    if how == "one":
        frontier.ledger.rated(1, estimate)
    else:
        frontier.ledger.rated_all(array("i", [1]), [estimate] if how == "many" else columns)
    frontier.ledger.commit()
    pages = frontier.pages
    assert (pages.rates[1], pages.shapes[1], pages.guessed[1]) == (0.5, 2.0, source == PRIOR)
    row = store.load().pages[1]
    assert (row.rate, row.shape, row.source) == (0.5, 2.0, source)


def test_what_is_said_of_a_page_that_waits_and_what_came_of_it_are_written(world):
    frontier, store = opened()
    frontier.schedule([page("1")], world.now)
    assert store.load().pages[1].hints is None
    frontier.schedule([page("1", lastmod=5.0)], world.now)
    assert store.load().pages[1].hints == Hints(lastmod=5.0)
    world.run(frontier)
    assert sorted(row.page for row in store.load().judgements) == [0, 1]
    unkept = Frontier(Politeness(delay=0.0, obey_robots=False))
    unkept.open(spec(), world.now)
    unkept.schedule([page("1")], world.now)
    unkept.schedule([page("1", lastmod=5.0)], world.now)
    world.run(unkept)
    assert not unkept.ledger._batch
