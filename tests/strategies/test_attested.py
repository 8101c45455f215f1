"""Attested coherence: single visits around the reference instant T, mirrored pairs where a revisit is needed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from sharc_crawler.evidence.survival import log_survival_of_either_side
from sharc_crawler.model import Slot
from sharc_crawler.strategies.base import Candidates, Setting
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
    return reference - times[0], times[1] - reference


def sites() -> list[np.ndarray]:
    rng = np.random.default_rng(4)
    return [np.exp(rng.normal(-5, rng.uniform(0.2, 2.5), int(rng.integers(2, 60)))) for _ in range(40)]


def best(rates: np.ndarray, slots: np.ndarray, weights: np.ndarray) -> float:
    """The exact assignment of pages (or halves of them) to distances from T."""
    values = weights[:, None] * np.exp(-np.outer(rates, slots))
    return float(values[linear_sum_assignment(values, maximize=True)].sum())


def test_where_all_is_attested_the_hotter_half_is_visited_before_t_the_hottest_nearest_to_it_on_either_side() -> None:
    rates = np.array([0.05, 0.01, 0.03, 0.02, 0.04, 0.001, 0.002])
    before, after = distances("sharc-attested", rates, np.ones(7, bool))
    np.testing.assert_array_equal(before, [0.5, np.nan, 2.5, 3.5, 1.5, np.nan, np.nan])
    np.testing.assert_array_equal(after, [np.nan, 0.5, np.nan, np.nan, np.nan, 2.5, 1.5])


def kept(rates: np.ndarray, before: np.ndarray, after: np.ndarray) -> float:
    """Expected coherence of pages visited once, where those that changed before T are visited again after it."""
    first = np.isfinite(before)
    lost = -np.expm1(-rates[first] * before[first])
    order = np.argsort(-rates[first])
    again = np.cumsum(lost[order])  # expected downloads until a page's second one is made
    won = (lost[order] * np.exp(-rates[first][order] * again)).sum()
    return float((1 - lost).sum() + won + np.exp(-rates[~first] * (after[~first] + lost.sum())).sum())


def test_what_is_lost_before_t_is_won_back_so_that_the_hotter_half_lies_there() -> None:
    """Beside organ pipes, whose halves are as hot as each other, and which are the best of single visits."""
    gained = 0.0
    for rates in sites():
        ours = kept(rates, *distances("sharc-attested", rates, np.ones(len(rates), bool)))
        place = np.empty(len(rates))
        place[np.argsort(-rates)] = np.arange(len(rates)) // 2 + 0.5
        even = np.argsort(np.argsort(-rates)) % 2 == 0
        pipes = kept(rates, np.where(even, place, np.nan), np.where(even, np.nan, place))
        gained += ours - pipes
        assert ours > pipes - 1.0
    assert gained > 0


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_mixed_sites_are_next_to_a_bound(share: float) -> None:
    """A pair is no better than two half pages of twice the rate, each on a slot of its own (convexity).

    Attested pages count as if they were shown at T where they are visited before it: what changes is visited again.
    """
    rng = np.random.default_rng(1)
    for rates in sites():
        attested = rng.random(len(rates)) < share
        before, after = distances("sharc-attested", rates, attested)
        assert np.isfinite((before + after)[~attested]).all()
        assert (np.isnan(before) ^ np.isnan(after))[attested].all()
        length = np.where(attested, np.nan_to_num(after), before + after)
        reached = np.exp(-rates * length).sum()
        slots = np.sort(np.abs(np.concatenate((before, after))))
        halves = np.repeat(np.arange(len(rates)), np.where(attested, 1, 2))
        parts = np.where(attested, 1.0, 2.0)[halves]
        bound = best(rates[halves] * parts, slots[np.isfinite(slots)], 1 / parts)
        assert 0.95 * bound <= reached


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
