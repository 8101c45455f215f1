"""Attested coherence: single visits before the reference instant T, mirrored pairs where a revisit is needed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from sharc_crawler.evidence.survival import log_survival_of_either_side
from sharc_crawler.model import Plan, Slot
from sharc_crawler.strategies.attested import AttestedOnce, AttestedTwice
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.classes import Classes
from sharc_crawler.strategies.make import make_strategy


def distances(spec: str, rates: np.ndarray, attested: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far from T each page is visited, before (or at) it and after; nan: not at all. T lies next to a visit."""
    strategy = make_strategy(spec, Setting(size=len(rates)))
    strategy.add(Candidates.of(np.arange(len(rates)), rates, attested=attested))
    times: tuple[np.ndarray, np.ndarray] = (np.full(len(rates), np.nan), np.full(len(rates), np.nan))
    reference, now = np.nan, 0.0
    while visit := strategy.next(now):
        if strategy.past_reference and np.isnan(reference):
            reference = now - 0.5
        side = times[int(strategy.past_reference)]
        assert np.isnan(side[visit.page]), f"{visit}: twice on one side of T"
        side[visit.page] = now
        assert (visit.slot is Slot.ONLY) <= (attested[visit.page] or now == len(rates) - 1)
        strategy.finished(visit, captured=True)
        now += 1
    reference = now - 0.5 if np.isnan(reference) else reference
    return reference - times[0], times[1] - reference


def sites() -> list[np.ndarray]:
    rng = np.random.default_rng(4)
    return [np.exp(rng.normal(-5, rng.uniform(0.2, 2.5), int(rng.integers(2, 60)))) for _ in range(40)]


def best(rates: np.ndarray, slots: np.ndarray, weights: np.ndarray) -> float:
    """The exact assignment of pages (or halves of them) to distances from T."""
    values = weights[:, None] * np.exp(-np.outer(rates, slots))
    return float(values[linear_sum_assignment(values, maximize=True)].sum())


def test_where_all_is_attested_every_page_is_visited_before_t_the_hottest_nearest_to_it() -> None:
    rates = np.array([0.05, 0.01, 0.03, 0.02, 0.04, 0.001, 0.002])
    before, after = distances("sharc-attested", rates, np.ones(7, bool))
    np.testing.assert_array_equal(before - before.min(), [0, 4, 2, 3, 1, 6, 5])
    assert np.isnan(after).all()


@pytest.mark.slow
def test_as_few_pages_as_possible_are_expected_to_change_before_t() -> None:
    """Each of these costs another download: the greedy plan is within a half of one of the best, on 2 to 60 pages."""
    for rates in sites():
        before, _ = distances("sharc-attested", rates, np.ones(len(rates), bool))
        slots = np.arange(len(rates), dtype=float)
        still = np.exp(-rates * (before - before.min())).sum()
        assert still >= best(rates, slots, np.ones(len(rates))) - 0.5


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_on_mixed_sites_the_others_are_visited_on_both_sides_in_mirrored_order(share: float) -> None:
    rng = np.random.default_rng(1)
    for rates in sites():
        attested = rng.random(len(rates)) < share
        before, after = distances("sharc-attested", rates, attested)
        assert np.isfinite(before).all()
        assert np.isnan(after[attested]).all()
        twice = np.flatnonzero(~attested)
        assert np.isfinite(after[twice]).all()
        assert (np.argsort(before[twice]) == np.argsort(after[twice])).all()


@pytest.mark.slow
def test_where_nothing_is_attested_the_order_is_that_of_sharc_selective() -> None:
    for rates in sites():
        nothing = np.zeros(len(rates), bool)
        (ours, _), (selective, _) = (distances(name, rates, nothing) for name in ("sharc-attested", "sharc-selective"))
        np.testing.assert_array_equal(np.argsort(ours), np.argsort(selective))


@pytest.mark.slow
def test_two_visits_and_lastmods_are_no_worse_than_bytes_alone() -> None:
    """Attested pages are coherent if they kept still on either side of T, which is no page's download."""
    gained = 0.0
    for rates in sites():
        attested = np.ones(len(rates), bool)
        before, after = distances("sharc-attested:visits=2", rates, attested)
        ours = np.exp(log_survival_of_either_side(rates, before + after)).sum()
        before, after = distances("sharc-selective", rates, attested)
        pyramid = np.nan_to_num(before + after) + 1  # nan: the apex, downloaded twice like the others
        bytes_alone = np.exp(log_survival_of_either_side(rates, pyramid)).sum()
        assert ours >= bytes_alone * (1 - 1e-3)
        gained += ours - bytes_alone
    assert gained > 0


def test_pages_found_after_t_are_visited_once_whatever_is_known_of_them() -> None:
    strategy = make_strategy("sharc-attested", Setting(size=4))
    strategy.add(Candidates.of([0, 1], [0.1, 0.2], attested=[True, False]))
    firsts = [strategy.next(0.0), strategy.next(1.0)]
    assert {(visit.page, visit.slot) for visit in firsts} == {(0, Slot.ONLY), (1, Slot.FIRST)}
    assert len(strategy) == 1
    strategy.reference_passed()
    strategy.add(Candidates.of([2, 3], [0.1, 0.2], attested=[True, False]))
    assert strategy.next(2.0) is None, "those before T are not over"
    for visit in firsts:
        strategy.finished(visit, captured=True)
    assert len(strategy) == 3
    later = []
    while visit := strategy.next(3.0):
        later.append((visit.page, visit.slot))
        strategy.finished(visit, captured=True)
    assert strategy.accepts_late
    assert later[0] == (1, Slot.SECOND)
    assert sorted(later[1:]) == [(2, Slot.ONLY), (3, Slot.ONLY)]
    assert len(strategy) == 0


def test_of_pages_claimed_on_the_servers_word_none_is_hopeless() -> None:
    """What changes is downloaded again; of pages that are compared by bytes some are given up."""
    rates = [5.0, 3.0, 0.01, 0.01, 0.01, 0.001]
    for attested in (True, False):
        strategy = make_strategy("sharc-attested", Setting(size=6))
        strategy.add(Candidates.of([*range(6)], rates, attested=[attested] * 6))
        plans = [strategy.next(0.0).plan for _ in rates]
        assert (Plan.HOPELESS in plans) is not attested


def test_until_a_revisit_it_takes_longer_by_what_the_revisits_take(monkeypatch) -> None:
    """Three pages are visited once, one twice: four slots before T, one after it."""
    told = []
    monkeypatch.setattr("sharc_crawler.strategies.attested.selective", lambda *plan: told.append(plan) or [])
    rates, weights = np.array([0.2, 0.1]), np.array([1.0, 3.0])
    classes = Classes(rates, np.array([3, 1]), weights, attested=np.array([True, False]))
    assert AttestedOnce(Setting(step=2.0))._before(classes) == []
    ((made, width),) = told
    assert (made.rates.tolist(), made.weights.tolist(), width) == ([0.2, 0.1 * 1.25], [1.0, 3.0 / 1.25], 2.0)


def test_visited_twice_an_attested_page_is_planned_for_with_either_side(monkeypatch) -> None:
    told = []
    monkeypatch.setattr("sharc_crawler.strategies.attested.selective", lambda *plan: told.append(plan) or [])
    classes = Classes(np.array([0.2]), np.array([3]), np.ones(1), attested=np.array([True]))
    assert AttestedTwice(Setting(step=2.0))._plan(classes) == []
    ((made, width),) = told
    assert (made.either_side, width) == (True, 4.0)


def test_the_revisits_ahead_are_those_that_come_in_their_order() -> None:
    strategy = make_strategy("sharc-attested", Setting(size=6))
    strategy.add(Candidates.of(list(range(6)), [0.05, 0.01, 0.03, 0.02, 0.04, 0.001], attested=[False] * 5 + [True]))
    for _ in range(6):
        strategy.finished(strategy.next(0.0), captured=True)
    ahead = strategy.revisits_ahead()
    assert sorted(ahead) == [0, 1, 2, 3, 4]
    assert [strategy.next(0.0).page for _ in range(5)] == ahead
