"""Attested coherence: single visits around the reference instant T, mirrored pairs where a revisit is needed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from sharc_crawler.model import Slot
from sharc_crawler.quality.survival import log_survival_of_either_side
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


def test_where_all_is_attested_every_page_is_visited_once_the_hottest_nearest_to_the_reference_instant() -> None:
    rates = np.array([0.05, 0.01, 0.03, 0.02, 0.04, 0.001])
    before, after = distances("sharc-attested", rates, np.ones(6, bool))
    assert (np.isnan(before) ^ np.isnan(after)).all()
    distance = np.fmin(np.nan_to_num(before, nan=np.inf), np.nan_to_num(after, nan=np.inf))
    assert [sorted(distance)] == [[0.5, 0.5, 1.5, 1.5, 2.5, 2.5]]
    by_heat = distance[np.argsort(-rates)]
    assert (np.diff(by_heat) >= 0).all()


def test_where_all_is_attested_organ_pipes_are_next_to_the_exact_assignment() -> None:
    for rates in sites():
        before, after = distances("sharc-attested", rates, np.ones(len(rates), bool))
        distance = np.where(np.isnan(before), after, before)
        reached = np.exp(-rates * distance).sum()
        assert reached >= 0.99 * best(rates, np.sort(distance), np.ones(len(rates)))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_mixed_sites_are_next_to_a_bound(share: float) -> None:
    """A pair is no better than two half pages of twice the rate, each on a slot of its own (convexity)."""
    rng = np.random.default_rng(1)
    for rates in sites():
        attested = rng.random(len(rates)) < share
        before, after = distances("sharc-attested", rates, attested)
        assert np.isfinite((before + after)[~attested]).all()
        assert (np.isnan(before) ^ np.isnan(after))[attested].all()
        length = np.where(attested, np.fmax(np.nan_to_num(before), np.nan_to_num(after)), before + after)
        reached = np.exp(-rates * length).sum()
        slots = np.sort(np.abs(np.concatenate((before, after))))
        halves = np.repeat(np.arange(len(rates)), np.where(attested, 1, 2))
        parts = np.where(attested, 1.0, 2.0)[halves]
        bound = best(rates[halves] * parts, slots[np.isfinite(slots)], 1 / parts)
        assert 0.95 * bound <= reached <= bound * (1 + 1e-12)


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
