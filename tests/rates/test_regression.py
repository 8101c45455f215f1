from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.rates.history import CHANGED, DATED, UNCHANGED
from sharc_crawler.rates.regression import LogLinear


def test_finds_the_coefficients_from_bits_over_unequal_intervals():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(20_000, 2))
    rate = np.exp(-1.0 + 0.8 * x[:, 0] - 0.4 * x[:, 1])
    lengths = rng.lognormal(0.0, 1.0, len(x))
    bits = (rng.random(len(x)) < -np.expm1(-rate * lengths)).astype(np.int8)
    model = LogLinear(ridge=1e-3).fit(x, bits, lengths)
    np.testing.assert_allclose(model.coefficients_, [-1.0, 0.8, -0.4], atol=0.05)
    np.testing.assert_allclose(model.rate(x), rate, rtol=0.25)


def test_a_dated_change_tells_the_rate_of_an_exponential_age():
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2, size=(5000, 1)).astype(float)
    ages = rng.exponential(np.where(x[:, 0] > 0, 2.0, 20.0))
    censored = ages > 30.0
    codes = np.where(censored, UNCHANGED, DATED).astype(np.int8)
    model = LogLinear(ridge=1e-3).fit(x, codes, np.minimum(ages, 30.0))
    np.testing.assert_allclose(model.rate(np.array([[0.0], [1.0]])), [0.05, 0.5], rtol=0.08)


def test_the_penalty_draws_to_the_mean():
    x = np.array([[0.0], [1.0]] * 20)
    bits = np.array([UNCHANGED, CHANGED] * 20, np.int8)
    loose, tight = (LogLinear(ridge).fit(x, bits, np.ones(40)).rate(x[:2]) for ridge in (0.1, 1000.0))
    assert loose[1] / loose[0] > 10 > 1.1 > tight[1] / tight[0] > 1.0


@pytest.mark.parametrize("code", [UNCHANGED, CHANGED, DATED])
def test_one_kind_of_interval_only_stays_finite(code: int):
    x = np.random.default_rng(1).normal(size=(50, 3))
    rate = LogLinear().fit(x, np.full(50, code, np.int8), np.ones(50)).rate(x)
    assert np.isfinite(rate).all()
    assert (rate > 0).all()


def test_a_page_far_from_all_others_does_not_end_the_fit():
    """A whole step of Newton's gave it e^60 times its rate: then the equations were singular, or all was wrong."""
    rng = np.random.default_rng(5)
    x = np.append(rng.normal(size=20_000), 300.0)[:, None]
    ages = rng.exponential(np.exp(-x[:-1, 0]))
    lengths = np.append(np.minimum(ages, 2.0), 1e-4)
    codes = np.append(np.where(ages > 2.0, UNCHANGED, DATED), UNCHANGED).astype(np.int8)
    model = LogLinear().fit(x, codes, lengths)
    expected = (model.rate(x) * lengths).sum()
    assert expected == pytest.approx((codes == DATED).sum(), rel=1e-3), "the intercept is free: as many as there were"


def test_the_rates_of_what_was_fitted_are_kept():
    rng = np.random.default_rng(3)
    x, lengths = rng.normal(size=(300, 2)), rng.uniform(0.5, 2.0, 300)
    bits = (rng.random(300) < 0.4).astype(np.int8)
    model = LogLinear().fit(x, bits, lengths)
    np.testing.assert_allclose(model.scale_, x.std(0), rtol=1e-12)
    np.testing.assert_allclose(model.fitted_, model.rate(x), rtol=1e-5)  # of the last step but a millionth
