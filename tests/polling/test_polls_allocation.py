"""Shares of polls: the optimum of the formula, its bounds, and what is left where they cannot be held."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from sharc_crawler.polling.polls import intervals

RATES = st.lists(st.floats(1e-7, 1e-1), min_size=1, max_size=30).map(np.array)


@given(RATES, st.floats(1.05, 50))
def test_the_pace_is_spent_and_the_bounds_hold(rates, times_least):
    shortest, longest = 30.0, 3000.0
    pace = times_least * len(rates) / longest
    shares = intervals(rates, pace, shortest, longest)
    assert (shares >= shortest * (1 - 1e-9)).all()
    assert (shares <= longest * (1 + 1e-9)).all()
    assert (1 / shares).sum() == pytest.approx(min(pace, len(rates) / shortest), rel=1e-6)


@given(RATES)
def test_busier_hubs_are_polled_more_often(rates):
    shares = intervals(rates, len(rates) / 300, 30.0, 3000.0)
    order = np.argsort(rates)
    assert (np.diff(shares[order]) <= 1e-6).all()


@pytest.mark.parametrize("seed", range(5))
def test_no_other_shares_let_new_pages_wait_less(seed):
    """The Lagrange solution with bounds, against a general optimiser."""
    rates = np.random.default_rng(seed).lognormal(-8, 2, 8)
    ours = 300 / intervals(rates, 8 / 300, 30.0, 3000.0)
    found = minimize(
        lambda polls: (rates / polls).sum() / rates.sum(),
        np.ones(8),
        bounds=[(0.1, 10.0)] * 8,
        constraints={"type": "eq", "fun": lambda polls: polls.sum() - 8},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert found.success
    assert (rates / ours).sum() <= (rates / found.x).sum() * (1 + 1e-6)
