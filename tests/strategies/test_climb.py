"""A layout is improved by moves of pages from flight to flight."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from sharc_crawler.strategies import climb as climbing
from sharc_crawler.strategies import optimal
from sharc_crawler.strategies.base import Candidates
from sharc_crawler.strategies.classes import Classes
from sharc_crawler.strategies.climb import FLIGHTS, Pieces, _flights, _Stairs, climb, climbable, series
from sharc_crawler.strategies.layout import classify
from sharc_crawler.strategies.selective import selective
from tests.strategies.oracles import by_assignment, pages_of


def test_a_flight_ends_where_classes_turn_back():
    assert _flights(np.array([0, 2, 5, 4, 4, 1, 3, 6])).tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert _flights(np.array([3, 3, 1, 1, 2])).tolist() == [0, 0, 0, 0, 1]


def test_what_moves_gain_is_added_up_as_it_is_counted_anew():
    """Only what lies between source and target of a move is looked at again."""
    rng = np.random.default_rng(3)
    classes, _ = classify(Candidates.of(np.arange(3000), rng.choice(rng.lognormal(-6.0, 2.0, 40), 3000)))
    pieces = Pieces.of(selective(classes, 2.0))
    stairs = _Stairs(classes, 2.0, pieces, _flights(pieces.rows))
    before = stairs._value
    for _ in range(5):
        stairs.improve()
    starts = np.cumsum(stairs.counts) - stairs.counts
    anew = (stairs._survival(starts) * series(stairs._theta, stairs.counts)).sum()
    assert stairs._value == pytest.approx(anew, rel=1e-12)
    assert stairs._value > before
    assert stairs.counts.sum() == 3000
    assert stairs.tried > 5


def test_what_moving_a_page_gains_is_what_the_layouts_differ_by() -> None:
    """Each class, from each flight to each other one."""
    classes = Classes(np.array([2.0, 0.3, 0.02]), np.ones(3, np.int64), np.array([1.0, 2.0, 0.5]))
    rows, counts = np.array([0, 1, 2, 1, 0, 2, 0, 1, 2]), np.array([1, 2, 3, 2, 1, 4, 2, 3, 1])
    stairs = _Stairs(classes, 0.4, Pieces(rows, counts), _flights(rows))
    gains, found = stairs._gains(), Pieces(stairs.rows, stairs.counts)
    for source, target, row in np.argwhere(gains > -np.inf):
        moved = stairs.counts.copy()
        moved[stairs._at[source, row]] -= 1
        moved[stairs._at[target, row]] += 1
        after = Pieces(stairs.rows, moved).value(classes, 0.4)
        assert gains[source, target, row] == pytest.approx(after - found.value(classes, 0.4))
    held = stairs.counts[stairs._at] > 0
    apart = ~np.eye(len(held), dtype=bool)
    assert ((gains > -np.inf) == (held[:, None, :] & apart[:, :, None])).all()


def of_flights(flights: int) -> tuple[Classes, Pieces]:
    """A layout of two classes, each with one piece in each of so many flights."""
    rows = np.tile([0, 1], flights)
    return Classes(np.array([0.3, 0.1]), np.bincount(rows), np.ones(2)), Pieces(rows, np.ones(len(rows), np.int64))


def test_layouts_of_more_flights_than_can_be_improved_are_left_as_they_are() -> None:
    for flights, climbs in ((FLIGHTS, True), (FLIGHTS + 1, False)):
        classes, pieces = of_flights(flights)
        assert _flights(pieces.rows)[-1] + 1 == flights
        assert climbable(pieces) == climbs
        found = climb(classes, 0.01, pieces, moves=100)
        assert (found.rows.tolist() == pieces.rows.tolist()) != climbs
    assert len(climb(classes, 0.01, Pieces(pieces.rows[:0], pieces.counts[:0]), moves=9).rows) == 0


def test_moves_tried_are_counted_and_end_the_climb_after_the_round_that_they_are_spent_in(monkeypatch) -> None:
    """Each try sums the series of two pieces anew."""
    rng, summed = np.random.default_rng(5), []
    series_of = climbing._series
    monkeypatch.setattr(climbing, "_series", lambda *given: summed.append(given) or series_of(*given))
    classes, _ = classify(pages_of(rng.choice(rng.lognormal(-4.0, 2.0, 12), 200)))
    pieces = climbing._lost_last(classes, 2.0, optimal.assign(classes, 2.0, optimal.Effort(0, 20, 0)))
    stairs, rounds = _Stairs(classes, 2.0, pieces, _flights(pieces.rows)), []
    for _ in range(2):
        assert stairs.improve()
        assert stairs.tried == len(summed) / 2
        rounds.append((stairs.tried, Pieces(stairs.rows, stairs.counts).merged()))
    (first, once), (_, twice) = rounds
    assert once.value(classes, 2.0) < twice.value(classes, 2.0)
    for moves, after in ((1, once), (first, once), (first + 1, twice)):
        found = climb(classes, 2.0, pieces, moves)
        assert (found.rows.tolist(), found.counts.tolist()) == (after.rows.tolist(), after.counts.tolist())


def test_of_a_class_all_half_a_quarter_are_tried_and_none_is_moved_where_nothing_is_gained() -> None:
    """Pages that never change are worth the same anywhere; pages of no weight are not tried at all."""
    rows, counts = np.array([0, 1, 0, 1]), np.array([8, 1, 1, 1])
    still = Classes(np.zeros(2), np.array([9, 2]), np.ones(2))
    stairs = _Stairs(still, 1.0, Pieces(rows, counts), _flights(rows))
    assert not stairs._move(0, 2)
    assert (stairs.tried, stairs.counts.tolist()) == (4, counts.tolist())
    assert not stairs.improve()
    weightless = _Stairs(replace(still, weights=np.zeros(2)), 1.0, Pieces(rows, counts), _flights(rows))
    assert not weightless.improve()
    assert weightless.tried == 0


def test_pages_are_lost_of_which_less_survives_than_e_to_the_minus_twenty() -> None:
    classes = Classes(np.array([10.0, 0.1, 0.01]), np.array([1, 2, 1]), np.ones(3))
    pieces = Pieces(np.array([1, 0, 2]), np.array([2, 1, 1]))  # the hottest after two seconds
    assert climb(classes, 1.0, pieces, moves=0).rows.tolist() == [1, 0, 2]
    assert climb(classes, 1.01, pieces, moves=0).rows.tolist() == [1, 2, 0]


def test_a_flight_of_one_class_has_the_others_in_falling_order() -> None:
    classes = Classes(np.array([0.3, 0.2, 0.1]), np.array([0, 2, 0]), np.ones(3))
    stairs = _Stairs(classes, 1.0, Pieces(np.array([1]), np.array([2])), np.zeros(1, np.int64))
    assert stairs.rows.tolist() == [0, 1, 2]


def test_climbing_leaves_no_layout_worse_and_mends_bad_ones() -> None:
    """Against the best assignment of pages to intervals, from each order of four classes: most have several flights."""
    counts, rates = np.array([3, 4, 2, 5]), np.array([2.0, 0.3, 0.02, 0.004])
    classes, mended = Classes(rates, counts, np.ones(4)), 0
    best = by_assignment(pages_of(np.repeat(rates, counts)))
    for order in permutations(range(4)):
        start = Pieces(np.array(order), counts[list(order)])
        found = climb(classes, 2.0, start, moves=1_000)
        assert np.bincount(found.rows, found.counts).tolist() == counts.tolist()
        assert start.value(classes, 2.0) <= found.value(classes, 2.0) + 1e-9
        mended += found.value(classes, 2.0) > 0.95 * best
    assert mended >= 20
