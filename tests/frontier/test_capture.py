"""The values that a capture is parted into: what is counted, owed, embedded, noted."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.frontier import capture
from sharc_crawler.frontier.capture import Counts, Embedded, Front, Owed
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.restoring import interrupted, put_back
from sharc_crawler.model import Phase, Sighting
from sharc_crawler.rates.swings import Swings
from sharc_crawler.state.spec import HOPS, CaptureSpec
from tests.frontier.small import spec


def test_pages_are_counted_by_what_becomes_of_them():
    counts = Counts()
    counts.known()
    counts.known(5)
    counts.left()
    counts.left(3)
    counts.left(-1)
    counts.visited(captured=True)
    counts.visited(captured=False)
    counts.visited(captured=True, pages=4)
    counts.visited(captured=False, pages=2)
    counts.polled()
    counts.revisited()
    counts.revisited()
    assert (counts.pages, counts.late, counts.visits, counts.captured, counts.revisits) == (6, 3, 8, 6, 2)


def test_what_is_owed_is_over_when_all_of_it_has_ended():
    owed = Owed()
    owed.add()
    owed.add()
    owed.before_visits("h")
    assert (owed.pending, owed.first) == (2, {"h"})
    owed.ended()
    owed.was_read("h")
    assert (owed.pending, owed.first) == (1, set())


def test_what_waits_for_the_strategy_is_taken_once(monkeypatch):
    monkeypatch.setattr(capture, "MAX_ELSEWHERE", 2)
    front = Front()
    front.wait([3, 1])
    front.wait([2])
    assert [list(front.take()), list(front.take())] == [[3, 1, 2], []]
    for number in range(4):
        front.lies_elsewhere(Sighting(f"http://o/{number}"))
    front.moved_to("http://o/")
    assert [one.url for one in front.take_elsewhere()] == ["http://o/0", "http://o/1"]
    assert (front.take_elsewhere(), front.moved) == ([], ["http://o/"])
    unrated = front.unrated
    assert front.take_unrated() is unrated
    assert front.unrated is not unrated


def test_all_that_a_whole_sitemap_may_name_is_kept_for_a_seed_that_has_moved():
    front, one = Front(), Sighting("http://o/")
    for _ in range(50_001):
        front.lies_elsewhere(one)
    assert len(front.take_elsewhere()) == 50_000


def test_a_capture_of_which_no_more_is_said_has_no_bound_and_takes_in_all_that_a_page_is():
    spec = CaptureSpec("h.example", ("http://h.example/",))
    unbounded = spec.size, spec.limit, spec.hops, spec.max_requests, spec.max_bytes, spec.max_time, spec.lasts
    assert set(unbounded) == {0}
    assert (spec.traps, spec.discover, spec.resources) == (True, True, True)
    assert (HOPS, spec.page_resources, spec.looks) == (50, 1_000, 3_600.0)
    assert (spec.audit, spec.lag, spec.hints) == (0.02, 86_400.0, 0.1)


def test_of_what_a_page_embeds_no_more_than_so_many_are_fetched():
    for most, beyond in ((2, {12, 13}), (1, {11, 12, 13}), (0, set())):
        embedded = Embedded(most)
        for resource in (10, 11, 12, 13):
            assert embedded.full(1) == (most and resource >= 10 + most)
            embedded.add(1, resource)
        embedded.add(2, 20)
        assert {one for one in (10, 11, 12, 13, 20) if embedded.why_not(one)} == beyond
        assert (1 in embedded, 3 in embedded) == (True, False)
        assert (embedded.take(1), embedded.take(1)) == ([10, 11, 12, 13], [])
        embedded.clear()
        assert embedded.take(2) == []
    assert Embedded(1).why_not(5) is None


def test_a_new_capture_has_neither_counts_nor_a_strategy():
    made = Frontier().open(spec(), 1000.0)
    assert (made.strategy, made.reference, made.life.ended, made.turned) == (None, None, None, False)
    assert (made.beginning, made.weighing, made.former, made.counts.visits) == (False, False, 0, 0)


@pytest.mark.parametrize(
    ("mode", "traps", "looked_for"),
    [("capture", True, True), ("capture", False, False), ("continuous", True, True), ("instant", True, False)],
)
def test_traps_are_looked_for_where_sites_are_captured_whole(mode, traps, looked_for):
    made = Frontier().open(spec(mode=mode, traps=traps), 1000.0)
    assert (made.traps is not None) is looked_for


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("accepts_late", [None, False, True])
def test_what_is_found_is_late_once_visits_are_over_and_the_strategy_takes_no_more(phase, accepts_late):
    made = Frontier().open(spec(), 1000.0)
    made.life.restore(phase, None, None)
    made.strategy = None if accepts_late is None else SimpleNamespace(accepts_late=accepts_late)
    over = phase in (Phase.CHECK, Phase.DONE) or (phase is Phase.REVISIT and not accepts_late)
    assert made.turned is over


def test_a_capture_is_restored_as_it_was_stored():
    made, again = (Frontier().open(spec(), 1000.0) for _ in range(2))
    made.life.restore(Phase.CHECK, 5.0, 9.0)
    made.note("told")
    interrupted(made, 1.0, 2.0)
    made.left_out.add("http://b.example/", "another host")
    made.mode.audit = {"claimed": 1}
    made.swings = Swings.usual()
    put_back(again, made.row())
    assert again.row() == made.row()
    assert (again.phase, again.reference, again.life.ended) == (Phase.CHECK, 5.0, 9.0)
    assert (
        again.row()._replace(
            phase=Phase.OPENING,
            reference=None,
            ended=None,
            notes=(),
            interruptions=(),
            skipped={},
            audit=None,
            swings=None,
        )
        == Frontier().open(spec(), 1000.0).row()
    )


def test_a_note_is_told_once_and_may_take_the_place_of_another(impolite):
    frontier = Frontier(impolite)
    made = frontier.open(spec(), 1000.0)
    before = list(made.notes)
    for text, instead in (("held up", ""), ("held up", ""), ("again", "held up"), ("over", "never said")):
        frontier.note(text, instead)
    assert made.notes == [*before, "again", "over"]


def test_the_time_of_a_budget_stands_still_while_nothing_is_done(impolite):
    made = Frontier(impolite).open(spec(max_time=100.0), 1000.0)
    interrupted(made, 1010.0, 1030.0)
    interrupted(made, 1040.0, 1045.0)
    assert made.interruptions == [(1010.0, 1030.0), (1040.0, 1045.0)]
    assert made.budget.paused == 25.0
    assert made.budget.ends == 1125.0
