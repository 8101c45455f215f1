"""The optimum: against all schedules there are, the linear assignment, and its own bound."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from sharc_crawler.evidence.coherence import expected_coherence
from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.model import Plan
from sharc_crawler.strategies import bound, optimal
from sharc_crawler.strategies import climb as climbing
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.bound import upper_bound
from sharc_crawler.strategies.classes import Classes
from sharc_crawler.strategies.climb import FLIGHTS, _flights, _Stairs, climb, climbable
from sharc_crawler.strategies.layout import classify, lay_out
from sharc_crawler.strategies.make import make_strategy
from sharc_crawler.strategies.optimal import _assigned, optimum
from sharc_crawler.strategies.pieces import Pieces, series
from sharc_crawler.strategies.selective import selective
from tests.strategies.oracles import best_of_all_schedules


def pages_of(rates: np.ndarray, weights: np.ndarray | None = None, shapes: np.ndarray | None = None) -> Candidates:
    return Candidates.of(np.arange(len(rates)), rates, weights, shapes)


def by_assignment(pages: Candidates, width: float = 2.0) -> float:
    intervals = width * np.arange(len(pages))
    values = pages.weights[:, None] * np.exp(
        log_survival(pages.rates[:, None], intervals[None, :], pages.shapes[:, None])
    )
    return float(values[linear_sum_assignment(values, maximize=True)].sum())


def mixture(rng: np.random.Generator, n: int) -> np.ndarray:
    groups = int(rng.integers(1, 5))
    member = rng.integers(0, groups, n)
    centres, spreads = rng.uniform(-9, 0, groups), rng.uniform(0.01, 2, groups)
    return np.exp(rng.normal(centres[member], spreads[member]))


@given(st.lists(st.floats(0, 3), min_size=1, max_size=4))
@settings(max_examples=25)
def test_no_schedule_at_all_is_better(rates: list[float]) -> None:
    """Among all orders of visits and of revisits, with the last page downloaded once."""
    assert optimum(pages_of(np.array(rates)), 1.0).coherence == pytest.approx(best_of_all_schedules(rates, apex=True))


@pytest.mark.parametrize("rates", [[0.4, 0.35, 0.3, 0.25, 0.2], [2.0, 0.5, 0.5, 0.1, 0.01], [1e-3, 1.0, 1.1, 0.2, 0.2]])
def test_no_schedule_of_five_pages_is_better(rates: list[float]) -> None:
    pages = pages_of(np.array(rates))
    assert optimum(pages, 1.0).coherence == pytest.approx(best_of_all_schedules(rates, apex=True))
    # two downloads for every page: intervals Δ, 3Δ, 5Δ...
    values = np.exp(-np.outer(rates, 1 + 2 * np.arange(len(rates))))
    assigned = values[linear_sum_assignment(values, maximize=True)].sum()
    assert assigned == pytest.approx(best_of_all_schedules(rates, apex=False))


@pytest.mark.slow
def test_small_sites_are_exact() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        pages = pages_of(mixture(rng, int(rng.integers(1, 120))))
        best = optimum(pages, 1.0)
        assert best.coherence == pytest.approx(by_assignment(pages), rel=1e-12)
        assert best.gap == 0
        assert best.coherence >= expected_of(pages) - 1e-12


def expected_of(pages: Candidates) -> float:
    layout = lay_out(pages, 1.0, selective)
    return expected_coherence(pages.rates, layout.intervals, pages.shapes, pages.weights)


def test_small_sites_are_exact_with_weights_and_posteriors() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        n = int(rng.integers(1, 80))
        weights, shapes = rng.integers(1, 11, n) / 10, rng.choice([0.5, 2.0, math.inf], n)
        pages = pages_of(mixture(rng, n), weights, shapes)
        assert optimum(pages, 1.0).coherence == pytest.approx(by_assignment(pages), rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, *(pytest.param(more, marks=pytest.mark.long) for more in (1, 2, 3))])
def test_large_sites_lie_between_assignment_and_bound(seed: int) -> None:
    """The bound holds, and the layout is next to the exact assignment."""
    rng = np.random.default_rng(seed)
    pages = pages_of(mixture(rng, 1030))
    best, exact = optimum(pages, 1.0), by_assignment(pages)
    assert exact <= best.bound * (1 + 1e-12)
    assert best.coherence <= exact * (1 + 1e-12)
    assert best.coherence >= exact * (1 - 1e-3)
    assert best.coherence >= expected_of(pages) * (1 - 1e-6)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_for_any_layout_weights_and_posteriors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 300
    pages = pages_of(mixture(rng, n), rng.integers(1, 4, n) / 3, rng.choice([1.0, 4.0, math.inf], n))
    exact = by_assignment(pages)
    for intervals in (2.0 * np.arange(n), lay_out(pages, 1.0, selective).intervals, 2.0 * rng.permutation(n)):
        assert upper_bound(pages, classify(pages), intervals, 2.0) >= exact * (1 - 1e-12)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(
    "rates",
    [
        pytest.param(1 / np.arange(1, 50_001) ** 1.2, id="zipf", marks=pytest.mark.long),
        pytest.param(
            np.exp(np.random.default_rng(0).normal(-11, 2.5, 50_000)), id="log-normal", marks=pytest.mark.long
        ),
        pytest.param(1 / np.arange(1, 50_001), id="skew-1", marks=pytest.mark.long),
        pytest.param(np.where(np.random.default_rng(1).random(50_000) < 0.3, 1e-2, 1e-6), id="bimodal"),
        pytest.param(np.random.default_rng(2).choice([1e-6, 1e-4, 1e-1], 50_000), id="three"),
        pytest.param(np.zeros(50_000), id="still"),
    ],
)
def test_the_gap_of_large_sites_is_small(rates: np.ndarray) -> None:
    best = optimum(pages_of(rates), 1.0)
    assert 0 <= best.gap < 5e-5
    intervals = np.sort(best.layout.intervals)
    assert (intervals == 2.0 * np.arange(len(rates))).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(one, marks=pytest.mark.long) for one in ("weights", "posteriors", "both")]
)
def test_large_sites_with_weights_and_posteriors_are_no_worse_than_greedy(kind: str) -> None:
    """There the layout is not as near to the bound; the bound itself is: it goes with the exact assignment."""
    rng = np.random.default_rng(5)
    weights = rng.integers(1, 11, 3000) / 10 if kind != "posteriors" else None
    shapes = rng.choice([0.5, 2.0, math.inf], 3000) if kind != "weights" else None
    pages = pages_of(rng.lognormal(-8, 2, 3000), weights, shapes)
    best = optimum(pages, 1.0)
    assert expected_of(pages) <= best.coherence <= best.bound
    assert best.gap < 0.03


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_an_exact_assignment_is_tight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pages = pages_of(mixture(rng, 600), rng.integers(1, 4, 600) / 3, rng.choice([1.0, 4.0, math.inf], 600))
    best = optimum(pages, 1.0)
    assert (
        best.coherence <= upper_bound(pages, classify(pages), best.layout.intervals, 2.0) < best.coherence * (1 + 1e-4)
    )


def test_the_bound_of_two_weights_is_tight() -> None:
    """Pages of each combination of weight and shape are added up once."""
    rng = np.random.default_rng(11)
    pages = pages_of(mixture(rng, 120), rng.choice([1.0, 3.0], 120))
    best = optimum(pages, 1.0)
    assert (
        best.coherence <= upper_bound(pages, classify(pages), best.layout.intervals, 2.0) < best.coherence * (1 + 1e-3)
    )


@pytest.mark.parametrize("slots", [1, 2, 5, 40])
def test_prices_between_knots_are_interpolated(slots: int) -> None:
    knots = np.unique(np.array([0, 1, 2, slots // 2, slots - 1]).clip(0, slots - 1))
    prices = np.array([9.0, 4.0, 2.0, 1.5, 1.0])[: len(knots)]
    assert bound._sum(prices, knots) == pytest.approx(np.interp(np.arange(slots), knots, prices).sum())


@pytest.mark.slow
def test_the_bound_of_more_rates_than_its_grid_has_holds_and_is_tight(monkeypatch) -> None:
    monkeypatch.setattr("sharc_crawler.strategies.bound.GRID", 128)
    rates = np.concatenate((np.zeros(3), mixture(np.random.default_rng(8), 400)))
    best = optimum(pages_of(rates), 1.0)
    assert (
        best.coherence
        <= upper_bound(pages_of(rates), classify(pages_of(rates)), best.layout.intervals, 2.0)
        < best.coherence * (1 + 1e-3)
    )


def test_hopeless_are_those_with_longer_intervals_than_colder_pages() -> None:
    rates = np.array([0.40, 0.35, 0.30, 0.25, 0.20])
    layout = optimum(pages_of(rates), 1.0).layout
    for page in range(5):
        colder = layout.intervals[rates < rates[page]]
        assert layout.hopeless[page] == bool((layout.intervals[page] > colder).any())


@pytest.mark.parametrize("name", ["sharc-optimal", "sharc-selective"])
def test_the_strategy_makes_its_plan_come_true(name: str) -> None:
    """Offline: every page has the interval that the planner gives it."""
    rng = np.random.default_rng(3)
    rates = np.round(mixture(rng, 60), 3)
    pages = pages_of(rates)
    planned = optimum(pages, 1.0).layout if name == "sharc-optimal" else lay_out(pages, 1.0, selective)
    strategy = make_strategy(name, Setting(size=60))
    strategy.add(pages)
    first, intervals, hopeless = {}, np.zeros(60), np.zeros(60, bool)
    for now in range(119):
        visit = strategy.next(now)
        intervals[visit.page] = now - first.setdefault(visit.page, now)
        hopeless[visit.page] = visit.plan is Plan.HOPELESS
        strategy.finished(visit, captured=True)
    assert strategy.next(119) is None
    assert expected_coherence(rates, intervals) == pytest.approx(expected_coherence(rates, planned.intervals))
    assert hopeless.sum() == planned.hopeless.sum()


def test_no_page_and_one_page() -> None:
    assert optimum(pages_of(np.zeros(0)), 1.0).coherence == 0
    assert optimum(pages_of(np.array([5.0])), 1.0).coherence == 1


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


def test_as_many_pages_as_are_assigned_exactly_need_no_bound(monkeypatch):
    monkeypatch.setattr(optimal, "OFFLINE", replace(optimal.OFFLINE, exact=6, blocks=3))
    monkeypatch.setattr(optimal, "upper_bound", lambda _pages, _classified, _intervals, width: 33.0 * width)
    rates = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    assert [optimum(pages_of(rates[:size]), 1.5).bound == 99.0 for size in (5, 6, 7)] == [False, False, True]


def test_in_a_block_the_hotter_page_comes_first_unless_it_is_likely_to_change_before_either():
    effort = optimal.Effort(exact=0, blocks=2, moves=0)
    for rates, order in (([0.9, 0.7, 0.1, 0.05], [0, 1, 2, 3]), ([9.0, 7.0, 0.1, 0.05], [2, 3, 1, 0])):
        classes = Classes(np.array(rates), np.ones(4, np.int64), np.ones(4))
        assert optimal.assign(classes, 1.0, effort).rows.tolist() == order


def test_in_a_block_of_one_expected_change_the_hotter_page_comes_first():
    classes = Classes(np.array([0.9, 0.8, 0.375, 0.125]), np.ones(4, np.int64), np.ones(4))  # 0.25 at 4 seconds
    assert optimal.assign(classes, 1.6, optimal.Effort(exact=0, blocks=2, moves=0)).rows.tolist() == [0, 1, 2, 3]


def test_pages_up_to_the_limit_are_assigned_one_by_one():
    classes = Classes(np.array([2.0, 1.0, 0.5, 0.1]), np.ones(4, np.int64), np.ones(4))
    alone, blocks = (optimal.assign(classes, 1.0, optimal.Effort(exact, 1, 0)).rows.tolist() for exact in (4, 3))
    assert alone == [0, 2, 1, 3] != blocks


def test_what_is_expected_of_a_block_is_the_mean_of_all_its_pages():
    """2.6 and 1.1 changes of three pages in a second: more than one each, so the colder one comes first."""
    effort = optimal.Effort(exact=0, blocks=2, moves=0)
    classes = Classes(np.array([1.3, 1.1, 0.001]), np.array([2, 1, 3]), np.ones(3))
    assert optimal.assign(classes, 1.0, effort).rows.tolist() == [1, 0, 2]


def test_of_no_pages_the_bound_is_reached():
    assert optimum(Candidates.of([], []), 1.0).gap == 0.0


def test_knots_are_the_first_slots_some_evenly_spread_and_some_by_equal_ratios(monkeypatch) -> None:
    monkeypatch.setattr(bound, "KNOTS", 5)
    assert bound._knots(1000).tolist() == [0, 1, 2, 3, 4, 5, 31, 177, 250, 500, 749, 999]
    assert [bound._knots(slots).tolist() for slots in (1, 3)] == [[0], [0, 1, 2]]


def bounds_of(pages: Candidates, intervals: np.ndarray) -> list[float]:
    """By each of the prices: what all slots cost, and the most that each page gains on any of them."""
    classes, row = classify(pages)
    order = np.argsort(intervals, kind="stable")
    pieces = Pieces(row[order].astype(np.int64), np.ones(len(pages), np.int64)).merged()
    knots, slots = bound._knots(len(pages)), np.arange(len(pages))
    worth = pages.weights[:, None] * np.exp(
        log_survival(pages.rates[:, None], 2.0 * slots[None, :], pages.shapes[:, None])
    )
    by_prices = bound._prices(classes, 2.0, pieces, bound._values(classes, 2.0 * knots))
    each = [np.interp(slots, knots, prices) for prices in by_prices]
    return [float(prices.sum() + (worth - prices).max(axis=1).sum()) for prices in each]


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_the_least_that_any_of_the_prices_prove(seed: int, monkeypatch) -> None:
    """A layout with a page out of its place: the prices found without it prove more."""
    monkeypatch.setattr(bound, "KNOTS", 24)
    monkeypatch.setattr(bound, "SHARES", (0.0, 0.02))
    rng = np.random.default_rng(seed)
    pages = pages_of(rng.choice(10 ** rng.uniform(-3, -1, 6), 150), rng.choice([1.0, 2.0, 3.0], 150))
    intervals = lay_out(pages, 1.0, selective).intervals
    hottest, coldest = np.argmax(pages.rates), np.argmin(pages.rates)
    intervals[[hottest, coldest]] = intervals[[coldest, hottest]]
    proven = bounds_of(pages, intervals)
    assert min(proven) < max(proven) - 0.01
    assert upper_bound(pages, classify(pages), intervals, 2.0) == pytest.approx(min(proven), rel=1e-9)


@pytest.mark.parametrize(("singles", "lists"), [(998, 1), (999, 2)])
def test_prices_are_sought_without_the_pieces_of_less_than_a_thousandth(singles: int, lists: int) -> None:
    """Of 1,000 pages one is a thousandth; of 1,001 it is less."""
    rates = np.array([0.1] * 2 + [0.01] * singles)
    pages = pages_of(rates)
    intervals = 2.0 * np.array([0, singles + 1, *range(1, singles + 1)])  # two pieces of one page, about the others
    assert len(bounds_of(pages, intervals)) == lists


def test_a_grid_has_all_rates_where_they_are_few_or_spans_them_by_equal_ratios() -> None:
    assert bound._grid(np.array([0.4, 0.1, 0.1, 0.9]), 3).tolist() == [0.1, 0.4, 0.9]
    some = np.array([10.0, 0.5, 0.002, 0.001])
    assert bound._grid(some, 3).tolist() == pytest.approx([0.001, 0.1, 10.0])
    assert bound._grid(np.array([0.0, *some]), 3).tolist() == pytest.approx([0.0, 0.001, 0.1, 10.0])


def test_rates_are_shared_among_the_combinations_of_weight_and_shape(monkeypatch) -> None:
    points: list[int] = []
    monkeypatch.setattr(bound, "GRID", 100)
    monkeypatch.setattr(bound, "_grid", lambda rates, most: points.append(most) or np.unique(rates))
    for weights in ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]):
        upper_bound(
            pages := pages_of(np.array([0.3, 0.2, 0.1]), np.array(weights)),
            classify(pages),
            np.array([0.0, 2.0, 4.0]),
            2.0,
        )
    assert points == [164, 97, 97, 97]


def classes_one_by_one(pages: Candidates, limit: int) -> dict[tuple[int, ...], list[float]]:
    """The pages of each class, and their mean rate, weight and shape."""
    columns = [column.tolist() for column in (pages.rates, pages.weights, pages.shapes)]
    width, keys = 0.0, list(zip(*columns, strict=True))

    def binned(value: float, lowest: float) -> float | str:
        return str(value) if value in {0.0, math.inf} else round(math.log(value / lowest) / width)

    while len(set(keys)) > limit:
        width = 2 * width or 0.01
        lowest = [min((value for value in column if value > 0), default=1.0) for column in columns]
        keys = [tuple(map(binned, page, lowest)) for page in zip(*columns, strict=True)]
    groups = [tuple(page for page, key in enumerate(keys) if key == one) for one in set(keys)]
    return {own: [sum(column[page] for page in own) / len(own) for column in columns] for own in groups}


@pytest.mark.parametrize("seed", range(24))
def test_classes_are_exact_up_to_a_limit_and_then_bins_as_narrow_as_can_be(seed: int, monkeypatch) -> None:
    monkeypatch.setattr("sharc_crawler.strategies.layout.LIMIT", 8)
    rng = np.random.default_rng(seed)
    rates = rng.choice([0.0, *10 ** rng.uniform(-3, rng.choice([-2.9, -1.0]), 4 + seed % 6)], 40)
    weights = rng.choice(rng.uniform(1, 1.05, 3), 40) if seed % 3 == 0 else None
    shapes = rng.choice([math.inf, *rng.uniform(1, 4, 4)], 40) if seed % 4 == 0 else None
    pages = pages_of(rates, weights, shapes)
    classes, row = classify(pages)
    known = classes.shapes if classes.shapes is not None else np.full(len(classes), math.inf)
    expected = classes_one_by_one(pages, 8)
    for at, means in enumerate(zip(classes.rates, classes.weights, known, strict=True)):
        own = np.flatnonzero(row == at)
        assert classes.counts[at] == len(own)
        assert list(means) == pytest.approx(expected.pop(tuple(own)))
    assert not expected
    assert (np.diff(classes.rates * classes.weights) <= 0).all()
    assert (classes.shapes is None) == np.isinf(pages.shapes).all()


def assigned_one_by_one(classes: Classes, width: float, blocks: int) -> list[int]:
    """The class of the page on each interval, of all ways to put blocks of pages on as many blocks of intervals."""
    shapes = optimal._shapes(classes)
    rows = sorted(range(len(classes)), key=lambda row: (classes.weights[row], shapes[row], -classes.rates[row]))
    pages = [row for row in rows for _ in range(classes.counts[row])]
    edges = [block * len(pages) // blocks for block in range(blocks + 1)]
    cut = [pages[first:end] for first, end in pairwise(edges)]
    middles = [width * (first + end - 1) / 2 for first, end in pairwise(edges)]

    def stays(row: int, interval: float) -> float:
        change = classes.rates[row] * interval
        return math.exp(-change) if math.isinf(shapes[row]) else (1 + change / shapes[row]) ** -shapes[row]

    def worth(order: tuple[int, ...]) -> float:
        return sum(
            np.mean([classes.weights[row] * stays(row, at) for row in cut[block]])
            for block, at in zip(order, middles, strict=True)
        )

    laid = []
    for block, at in zip(max(permutations(range(blocks)), key=worth), middles, strict=True):
        many = np.mean([classes.rates[row] for row in cut[block]]) * at > 1
        laid += cut[block][:: -1 if many else 1]
    return laid


@pytest.mark.parametrize("seed", range(25))
def test_blocks_are_assigned_as_by_trying_all_ways(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = rng.choice([0.5, 2.0, math.inf], 5) if seed % 2 else None
    classes = Classes(10 ** rng.uniform(-3, 0.5, 5), rng.integers(1, 6, 5), rng.uniform(0.5, 2, 5), shapes)
    blocks = int(min(classes.counts.sum(), rng.integers(1, 5)))
    found = optimal.assign(classes, 0.7, optimal.Effort(exact=0, blocks=blocks, moves=0))
    assert np.repeat(found.rows, found.counts).tolist() == assigned_one_by_one(classes, 0.7, blocks)


def test_what_is_assigned_exactly_is_not_climbed_and_what_is_too_fine_is_assigned_in_larger_blocks_too(monkeypatch):
    """The best of the greedy layout and those of blocks is improved, and the one of larger blocks."""
    monkeypatch.setattr(climbing, "FLIGHTS", 1)
    starts, climbed = [], []

    def assigned(_classes: Classes, _width: float, effort: optimal.Effort) -> Pieces:
        starts.append(effort.blocks)
        return Pieces(np.array([2, 0, 1, 2]), np.array([effort.blocks, 2, 2, 2 - effort.blocks]))

    monkeypatch.setattr(optimal, "assign", assigned)
    monkeypatch.setattr(optimal, "climb", lambda _classes, _width, pieces, _moves: climbed.append(pieces) or pieces)
    classes = Classes(np.array([0.3, 0.2, 0.1]), np.full(3, 2), np.ones(3))
    optimal.optimal(classes, 1.0, optimal.Effort(exact=6, blocks=8, moves=9))
    assert (starts, climbed) == ([8], [])
    starts.clear()
    optimal.optimal(classes, 1.0, optimal.Effort(exact=5, blocks=8, moves=9))
    assert starts == [8, 2]
    greedy = Pieces.of(selective(classes, 1.0))
    assert [one.counts.tolist() for one in climbed] == [greedy.counts.tolist(), [2, 2, 2, 0]]


@pytest.mark.parametrize("kind", ["geometric", "alike", "any"])
def test_prices_of_a_sample_leave_the_assignment_the_best(kind: str) -> None:
    rng = np.random.default_rng(3)
    rates = {"geometric": np.geomspace(1e-4, 1, 200), "alike": np.repeat([0.01, 0.1], 100), "any": rng.random(200)}[
        kind
    ]
    values = np.exp(-rates[:, None] * np.arange(200.0))
    rows = np.arange(200)
    assert values[rows, _assigned(values)].sum() == pytest.approx(
        values[linear_sum_assignment(values, maximize=True)].sum()
    )
    assert sorted(_assigned(values)) == [*rows]
