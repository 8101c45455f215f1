"""How often a site is worth a capture: better than even and than proportional intervals, within the same budget."""

from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.collection.allocation import (
    DAY,
    LONGEST,
    SHORTEST,
    WORTH,
    Foretold,
    SiteLoad,
    changed,
    intervals,
    trust,
)  # fmt: skip


def fresh(load: SiteLoad, every: float) -> float:
    """How many of its pages are as the archive has them, on average over time."""
    changes = load.rates * every
    return float((-np.expm1(-changes) / changes).sum())


def sites(seed: int) -> list[SiteLoad]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(20, 400, 20)
    means = rng.choice([0.003, 0.03, 0.3], 20)
    return [
        SiteLoad(np.exp(rng.normal(np.log(mean), 1.5, size)) / DAY, 2.0 * size)
        for size, mean in zip(sizes, means, strict=True)
    ]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_more_pages_are_fresh_than_by_even_or_proportional_intervals(seed):
    loads = sites(seed)
    costs, heat = np.array([one.cost for one in loads]), np.array([one.rates.mean() for one in loads])
    budget = costs.sum() / 7
    proportional = (heat * costs).sum() / heat / (budget / DAY)
    chosen = intervals(loads, budget)
    assert (costs / chosen).sum() * DAY == pytest.approx(budget, rel=1e-3)
    even, by_heat, best = (
        sum(fresh(load, every) for load, every in zip(loads, each, strict=True))
        for each in ([7 * DAY] * len(loads), proportional, chosen)
    )
    assert best > 1.01 * even > 1.01 * by_heat


def test_each_interval_stays_within_its_bounds_and_one_without_a_budget_is_worth_its_capture():
    still, hot = SiteLoad(np.zeros(5), 10), SiteLoad(np.full(5, 1.0), 10)
    assert intervals([still, hot], None) == pytest.approx([LONGEST, SHORTEST])
    moving = SiteLoad(np.full(5, 0.1 / DAY), 10)
    (every,) = intervals([moving], None)
    assert changed(moving, every) == pytest.approx(WORTH)
    assert intervals([], 100) == []


@pytest.mark.long
def test_rates_that_foretell_nothing_make_intervals_even_and_the_budget_is_kept():
    loads = sites(0)
    costs = np.array([one.cost for one in loads])
    budget = costs.sum() / 7
    best, half, even = (np.array(intervals(loads, budget, trusted)) for trusted in (1.0, 0.5, 0.0))
    assert even == pytest.approx(np.full(20, 7 * DAY))
    assert (costs / half).sum() * DAY == pytest.approx(budget, rel=1e-3)
    assert np.ptp(np.log(half)) == pytest.approx(np.ptp(np.log(best)) / 2, rel=0.1)


def test_trust_is_by_what_tells_sites_apart():
    dice = np.random.default_rng(1)
    rates = dice.gamma(0.5, 1 / DAY, 30)
    seen = dice.poisson(rates * 100 * DAY)
    learned = [Foretold(float(one), rate * 100 * DAY, 100 * DAY) for one, rate in zip(seen, rates, strict=True)]
    assert trust(learned) > 0.9
    assert trust([one._replace(expected=9 * one.expected) for one in learned]) > 0.9, "all hotter alike is no fault"
    wrong = [one._replace(expected=other.expected) for one, other in zip(learned, reversed(learned), strict=True)]
    assert trust(wrong) == 0.0
    assert trust(learned[:2]) == trust([]) == 0.0, "too few to tell"
    assert trust([one._replace(changed=0.0) for one in learned]) == 0.0
