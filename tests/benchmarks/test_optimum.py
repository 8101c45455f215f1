"""What a bound proves: no order of visits does better, and it is near to what is reached."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks import optimum as bound
from benchmarks.optimum import optimum, upper_bound
from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.strategies.climb import Pieces
from sharc_crawler.strategies.layout import classify, lay_out
from sharc_crawler.strategies.selective import selective
from tests.strategies.oracles import by_assignment, mixture, pages_of

if TYPE_CHECKING:
    from sharc_crawler.strategies.base import Candidates


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
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_an_exact_assignment_is_tight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pages = pages_of(mixture(rng, 600), rng.integers(1, 4, 600) / 3, rng.choice([1.0, 4.0, math.inf], 600))
    best = optimum(pages, 1.0)
    bounded = upper_bound(pages, classify(pages), best.layout.intervals, 2.0)
    assert best.coherence * (1 - 1e-12) <= bounded < best.coherence * (1 + 1e-4)


def test_the_bound_of_two_weights_is_tight() -> None:
    """Pages of each combination of weight and shape are added up once."""
    rng = np.random.default_rng(11)
    pages = pages_of(mixture(rng, 120), rng.choice([1.0, 3.0], 120))
    best = optimum(pages, 1.0)
    bounded = upper_bound(pages, classify(pages), best.layout.intervals, 2.0)
    assert best.coherence * (1 - 1e-12) <= bounded < best.coherence * (1 + 1e-3)  # sums round as the processor adds


@pytest.mark.parametrize("slots", [1, 2, 5, 40])
def test_prices_between_knots_are_interpolated(slots: int) -> None:
    knots = np.unique(np.array([0, 1, 2, slots // 2, slots - 1]).clip(0, slots - 1))
    prices = np.array([9.0, 4.0, 2.0, 1.5, 1.0])[: len(knots)]
    assert bound._sum(prices, knots) == pytest.approx(np.interp(np.arange(slots), knots, prices).sum())


@pytest.mark.slow
def test_the_bound_of_more_rates_than_its_grid_has_holds_and_is_tight(monkeypatch) -> None:
    monkeypatch.setattr("benchmarks.optimum.GRID", 128)
    rates = np.concatenate((np.zeros(3), mixture(np.random.default_rng(8), 400)))
    best = optimum(pages_of(rates), 1.0)
    bounded = upper_bound(pages_of(rates), classify(pages_of(rates)), best.layout.intervals, 2.0)
    assert best.coherence * (1 - 1e-12) <= bounded < best.coherence * (1 + 1e-3)


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
