from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gamma

from benchmarks.simple_estimators import BiasReduced, FullKnowledge, PerTime, Recency
from sharc_crawler.errors import UsageError
from sharc_crawler.model import RateEstimate
from sharc_crawler.rates.estimators.gamma_poisson import WEEK, GammaPoisson, Prior
from sharc_crawler.rates.estimators.irregular import IrregularMle
from sharc_crawler.rates.history import CHANGED, DATED, UNCHANGED, UNKNOWN, Histories

if TYPE_CHECKING:
    from sharc_crawler.rates.estimators.base import Estimator

ALL: list[Estimator] = [
    FullKnowledge(),
    PerTime(),
    BiasReduced(),
    IrregularMle(),
    GammaPoisson(),
    Recency(IrregularMle(), 5.0, 0.0),
]


def simulated(rng: np.random.Generator, rates: np.ndarray, count: int, regular: bool = True) -> Histories:
    n = len(rates)
    lengths = np.ones(n * count) if regular else rng.lognormal(0.0, 1.0, n * count)
    bits = rng.random(n * count) < -np.expm1(-np.repeat(rates, count) * lengths)
    ends = np.tile(np.arange(count) - count + 1.0, n)
    return Histories(np.arange(n + 1) * count, lengths, bits.astype(np.int8), ends)


interval = st.tuples(st.floats(1e-3, 1e4), st.sampled_from([UNCHANGED, CHANGED, DATED, UNKNOWN]))
page = st.lists(interval, max_size=8)


@pytest.mark.slow
@given(st.lists(page, max_size=6))
def test_irregular_equals_brent_page_by_page(pages: list[list[tuple[float, int]]]):
    histories = Histories.of([[t for t, _ in p] for p in pages], [[x for _, x in p] for p in pages])
    estimates = IrregularMle().estimate(histories)
    for i, p in enumerate(pages):
        changed = np.array([t for t, x in p if x == CHANGED])
        calm = sum(t for t, x in p if x in (UNCHANGED, DATED))
        dated = sum(x == DATED for _, x in p)
        if not (len(changed) or dated) or not calm:
            continue

        def excess(rate: float, changed=changed, calm=calm, dated=dated) -> float:
            z = np.minimum(rate * changed, 700.0)
            return float((z / np.expm1(z)).sum() + dated - rate * calm)

        root = brentq(excess, 1e-12, 1.001 * (len(changed) + dated) / calm, xtol=1e-300, rtol=1e-14)
        assert estimates.rate[i] == pytest.approx(root, rel=1e-9)


def test_irregular_without_a_maximum():
    estimates = IrregularMle().estimate(Histories.of([[2.0, 2.0], [2.0, 2.0], []], [[1, 1], [0, 0], []]))
    assert estimates.rate[0] == pytest.approx(-np.log(0.5 / 2.5) / 2.0)
    assert estimates.rate[1] == 0.0
    assert np.isnan(estimates.rate[2])


def test_irregular_is_the_closed_form_for_regular_access():
    estimates = IrregularMle().estimate(Histories.of([[3.0] * 4], [[1, 0, 1, 1]]))
    assert estimates.rate[0] == pytest.approx(-np.log(0.25) / 3.0, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [BiasReduced(), IrregularMle(), pytest.param(GammaPoisson(), marks=pytest.mark.long)],
    ids=lambda e: type(e).__name__,
)
def test_consistent(estimator: Estimator):
    rates = np.repeat([0.05, 0.3, 1.0], 200)
    histories = simulated(np.random.default_rng(7), rates, 400)
    classes = np.repeat([0, 1, 2], 200)
    estimates = estimator.fit(histories, classes).estimate(histories, classes)
    means = estimates.rate.reshape(3, 200).mean(1)
    np.testing.assert_allclose(means, [0.05, 0.3, 1.0], rtol=0.03)
    # the spread that is claimed is the spread that is there
    errors = np.abs(estimates.rate - rates) / estimates.spread
    assert 0.5 < np.sqrt((errors.reshape(3, 200)[1:] ** 2).mean()) < 1.3


def test_per_time_is_biased_low_and_the_bias_reduced_is_not():
    histories = simulated(np.random.default_rng(3), np.full(4000, 1.0), 10)
    assert PerTime().estimate(histories).rate.mean() == pytest.approx(1 - np.exp(-1.0), rel=0.02)
    assert BiasReduced().estimate(histories).rate.mean() == pytest.approx(1.0, rel=0.03)


def test_full_knowledge_wants_one_interval_length():
    with pytest.raises(UsageError, match="irregular-interval"):
        FullKnowledge().estimate(Histories.of([[1.0, 2.0]], [[0, 1]]))


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)
def test_edges(estimator: Estimator):
    one_length = Histories.of([[7.0, 7.0, 7.0], [], [7.0], [7.0]], [[0, 1, UNKNOWN], [], [UNKNOWN], [1]])
    estimates = estimator.fit(one_length).estimate(one_length)
    assert estimates.observations.tolist() == [2, 0, 0, 1]
    assert np.isfinite(estimates.rate[[0, 3]]).all()
    assert (estimates.rate[[0, 3]] > 0).all()
    assert (estimates.spread[[0, 3]] > 0).all()
    nothing = Histories.of([], [])
    assert len(estimator.fit(nothing).estimate(nothing)) == 0


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)
def test_pages_do_not_depend_on_each_other_or_on_blocks(estimator: Estimator):
    histories = simulated(np.random.default_rng(5), np.geomspace(0.01, 2.0, 50), 6)
    whole = estimator.fit(histories).estimate(histories)
    parts = [estimator.estimate(part) for _, part in histories.blocks(7)]
    np.testing.assert_allclose(whole.rate, np.concatenate([part.rate for part in parts]), rtol=1e-12)
    some = np.array([40, 3, 3])
    np.testing.assert_allclose(estimator.estimate(histories.select(some)).rate, whole.rate[some], rtol=1e-12)


def test_unit_of_time_does_not_matter():
    histories = simulated(np.random.default_rng(5), np.geomspace(0.01, 2.0, 50), 6, regular=False)
    weeks = Histories(histories.offsets, histories.lengths / 604800.0, histories.changed, histories.ends)
    for estimator in (PerTime(), BiasReduced(), IrregularMle(), GammaPoisson()):
        slow = estimator.fit(histories).estimate(histories).rate
        np.testing.assert_allclose(estimator.fit(weeks).estimate(weeks).rate, slow * 604800.0, rtol=0.02)


def test_posterior_equals_integration():
    histories = Histories.of([[1.0, 2.0, 4.0, 3.0]], [[0, CHANGED, 0, DATED]])
    estimator = GammaPoisson().fit(histories)
    shape, mean = estimator.priors_[0] = Prior(0.7, 0.4)

    def density(rate: float) -> float:
        prior = rate ** (shape - 1) * np.exp(-rate * shape / mean) * (shape / mean) ** shape / gamma(shape)
        return float(prior * -np.expm1(-2.0 * rate) * rate * np.exp(-8.0 * rate))

    moments = [quad(lambda x, k=k: x**k * density(x), 0, 20, limit=200)[0] for k in range(3)]
    estimates = estimator.estimate(histories)
    assert estimates.rate[0] == pytest.approx(moments[1] / moments[0], rel=0.01)
    variance = moments[2] / moments[0] - (moments[1] / moments[0]) ** 2
    assert estimates.spread[0] == pytest.approx(variance**0.5, rel=0.02)
    assert estimates.shape[0] == pytest.approx((estimates.rate[0] / estimates.spread[0]) ** 2)


def test_pages_that_always_change_do_not_run_away():
    histories = Histories.of([[7.0] * 9, *[[7.0] * 9] * 3], [[1] * 9, *[[0] * 9] * 3])
    rate = GammaPoisson().fit(histories).estimate(histories).rate
    assert 0.2 < rate[0] < 1.0
    assert (rate[1:] < 0.05).all()


@pytest.mark.slow
def test_prior_is_learned_per_class():
    rng = np.random.default_rng(11)
    rates = np.concatenate([rng.gamma(2.0, 0.25, 1500), rng.gamma(0.3, 0.1, 1500)])
    classes = np.repeat([4, 9], 1500)
    histories = simulated(rng, rates, 12)
    estimator = GammaPoisson().fit(histories, classes)
    assert estimator.priors_[4] == pytest.approx((2.0, 0.5), rel=0.2)
    assert estimator.priors_[9] == pytest.approx((0.3, 0.03), rel=0.35)
    borrowed = estimator.estimate(histories, classes).rate
    assert np.mean((borrowed - rates) ** 2) < 0.8 * np.mean((IrregularMle().estimate(histories).rate - rates) ** 2)


@settings(max_examples=30)
@given(st.integers(1, 6), st.integers(0, 6))
def test_recency_follows_the_last_weeks(busy: int, calm: int):
    lately = [0] * calm + [1] * busy
    histories = Histories.of([[1.0] * len(lately)] * 2, [lately, lately[::-1]])
    recent, past = Recency(PerTime(), 2.0, 0.0).estimate(histories).rate
    assert recent >= past
    assert (recent > past) == (calm > 0)


def test_recency_with_an_endless_half_life_changes_nothing():
    histories = simulated(np.random.default_rng(2), np.geomspace(0.01, 2.0, 50), 6, regular=False)
    recent = Recency(IrregularMle(), 1e12, 0.0).estimate(histories)
    np.testing.assert_allclose(recent.rate, IrregularMle().estimate(histories).rate, rtol=1e-9)


def test_recency_refuses_a_half_life_that_is_none():
    with pytest.raises(UsageError, match="half_life=0"):
        Recency(PerTime(), 0.0, 0.0)


def test_pages_as_records():
    estimates = PerTime().estimate(Histories.of([[2.0, 2.0], []], [[1, 0], []]))
    record, nothing = estimates.by_page(["history", "history"])
    assert nothing is None
    assert record is not None
    assert (record.rate, record.source, record.observations) == (0.25, "history", 2)


def test_pages_as_records_are_put_where_nothing_was_observed():
    estimates = PerTime().estimate(Histories.of([[2.0, 2.0], [], [], [4.0]], [[1, 0], [], [], [1]]))
    told = estimates.by_page(["history"] * 4)
    told[1], told[2] = RateEstimate(9.0, "other"), None
    assert [one and one.rate for one in told] == [0.25, 9.0, None, 0.25]
    assert [one and one.source for one in told[1:]] == ["other", None, "history"]
    assert (told.rates(), told.missing(), told[-1], len(told)) == ([0.25, 9.0, 0.25], [1, 2], list(told)[3], 4)


@pytest.mark.parametrize(
    ("lengths", "bits"), [([[1.0, 0.0]], [[1, 1]]), ([[1.0]], [[1, 0]]), ([[float("nan")]], [[1]])]
)
def test_histories_refuse_what_fits_not(lengths: list[list[float]], bits: list[list[int]]):
    with pytest.raises(UsageError, match="histories"):
        Histories.of(lengths, bits)


def test_seconds_without_a_change_say_next_to_nothing():
    """A first capture sees each page twice within seconds: no page may come out as one that changes all the time."""
    seconds = Histories.of([[8.0]] * 30, [[0]] * 30)
    found = GammaPoisson().fit(seconds).estimate(seconds)
    assert found.rate == pytest.approx(np.full(30, 0.5 / WEEK), rel=0.1)
