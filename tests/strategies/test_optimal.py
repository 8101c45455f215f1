"""The optimum: against all schedules there are, the linear assignment, and its own bound."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from benchmarks.optimum import OFFLINE, optimum
from sharc_crawler.evidence.survival import expected_coherence
from sharc_crawler.model import Plan
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.layout import lay_out
from sharc_crawler.strategies.make import make_strategy
from sharc_crawler.strategies.optimal import resting_gains
from sharc_crawler.strategies.selective import selective
from tests.strategies.oracles import best_of_all_schedules, by_assignment, mixture, pages_of


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


def test_gains_leave_no_owner_of_a_place_envious() -> None:
    """Nor higher than that needs: of the last one in a row of preferences, that of all before it."""
    rng = np.random.default_rng(3)
    for size in range(1, 12):
        values = rng.random((size, size))
        place = linear_sum_assignment(values, maximize=True)[1]
        rather = values[:, place] - values[np.arange(size), place][:, None]
        gains = resting_gains(rather)
        assert gains == pytest.approx((rather + gains).max(axis=1), abs=1e-12)
    row = np.where(np.eye(9, k=1) > 0, 1.0, -9.0)
    np.fill_diagonal(row, 0.0)
    assert resting_gains(row).tolist() == [*range(8, -1, -1)]


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


def test_as_many_pages_as_are_assigned_exactly_need_no_bound(monkeypatch):
    monkeypatch.setattr("benchmarks.optimum.OFFLINE", replace(OFFLINE, exact=6, blocks=3))
    monkeypatch.setattr("benchmarks.optimum.upper_bound", lambda _pages, _classified, _intervals, width: 33.0 * width)
    rates = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    assert [optimum(pages_of(rates[:size]), 1.5).bound == 99.0 for size in (5, 6, 7)] == [False, False, True]


def test_of_no_pages_the_bound_is_reached():
    assert optimum(Candidates.of([], []), 1.0).gap == 0.0
