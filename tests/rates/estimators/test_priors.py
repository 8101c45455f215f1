"""Priors learned from few looks and many: intervals hold what they say, and classes are learned as if alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import gammaincinv, gammaln

from sharc_crawler.rates.estimators import posterior
from sharc_crawler.rates.estimators.gamma_poisson import USUAL, GammaPoisson
from sharc_crawler.rates.estimators.likelihood import Likelihood
from sharc_crawler.rates.estimators.posterior import moments
from sharc_crawler.rates.estimators.priors import FARTHEST, Prior, _Task, learn, learn_all
from sharc_crawler.rates.history import Histories

if TYPE_CHECKING:
    from collections.abc import Callable


def looked(rng: np.random.Generator, rates: np.ndarray, looks: int) -> Histories:
    lengths = rng.lognormal(0.0, 1.0, (len(rates), looks))
    bits = (rng.random(lengths.shape) < -np.expm1(-rates[:, None] * lengths)).astype(np.int8)
    return Histories.of(list(lengths), list(bits))


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("looks", [1, 2, 3, 10])
@pytest.mark.parametrize("mean", [0.05, 0.5, 3.0])
def test_80_percent_intervals_hold_80_percent(looks, mean):
    rng = np.random.default_rng(5)
    rates = rng.gamma(0.3, mean / 0.3, 3_000)
    histories = looked(rng, rates, looks)
    found = GammaPoisson().fit(histories).estimate(histories)
    low, high = (gammaincinv(found.shape, q) * found.rate / found.shape for q in (0.1, 0.9))
    assert 0.73 < np.mean((low <= rates) & (rates <= high)) < 0.88


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "mean", "looks"), [(3.0, 0.1, 10), (3.0, 0.5, 3), (1.0, 0.1, 10)])
def test_many_pages_seldom_seen_to_change_say_more_of_how_they_differ_than_a_guess(shape, mean, looks):
    rng = np.random.default_rng(8)
    found = GammaPoisson().fit(looked(rng, rng.gamma(shape, mean / shape, 3_000), looks))
    assert 0.8 < found.prior_.shape / shape < 1.25


@pytest.mark.slow
def test_classes_in_step_are_learned_as_if_alone():
    rng = np.random.default_rng(6)
    rates = np.concatenate([rng.gamma(shape, 0.4, 400) for shape in (0.3, 1.0, 3.0)])
    labels, likelihood = np.repeat([0, 1, 2], 400), Likelihood.of(looked(rng, rates, 8))
    together = learn_all(likelihood, labels, 4, start := Prior(USUAL, 0.4), 5.0)
    for label in range(3):
        alone = learn(likelihood.select(labels == label), start, 5.0)
        assert together[label] == pytest.approx(alone, rel=1e-3)
    assert [prior.shape for prior in together[:2]] == pytest.approx([0.3, 1.0], rel=0.35)
    assert together[2].shape > 1.5
    assert together[3] == pytest.approx(start), "of a class without pages"


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_prior_that_is_pressed_to_its_bound_is_the_best_there(seed):
    """Pages changed at nearly all looks: their mean could rise for ever. How they differ is still to be told."""
    lengths = np.random.default_rng(seed).lognormal(0.0, 1.0, (27, 20))
    bits = np.ones(lengths.shape, np.int8)
    lengths[::5, 0], bits[::5, 0] = 1e-5, 0
    one, start = Likelihood.of(Histories.of(list(lengths), list(bits))), Prior(1.0, 0.01)
    found, most = learn(one, start, 5.0), 0.01 * np.exp(FARTHEST)
    task = _Task(one, np.zeros(27, np.int64), 1, start, 5.0, guess=False)
    best = minimize_scalar(lambda log: task.at(np.log([[np.exp(log), most]]))[0][0], (-3.0, 0.0))
    assert found == pytest.approx((np.exp(best.x), most), rel=0.01)


def test_pages_of_unlike_many_changes_are_done_together_and_each_as_if_apart(monkeypatch):
    rng = np.random.default_rng(8)
    lengths = [rng.lognormal(0.0, 1.0, count) for count in rng.integers(6, 60, 100)]
    one = Likelihood.of(Histories.of(lengths, [rng.random(len(row)) < 0.9 for row in lengths]))
    faded = replace(one, weights=rng.random(len(one.lengths)))
    shape, scale = rng.uniform(0.05, 3.0, (2, 100))
    for likelihood in (one, faded):
        together = moments(likelihood, shape, scale)
        with monkeypatch.context() as patched:
            patched.setattr(posterior, "FILLED", 0)
            apart = moments(likelihood, shape, scale)
        for column, expected in zip(together.columns(), apart.columns(), strict=True):
            np.testing.assert_allclose(column, expected, rtol=1e-13)


def test_many_pages_are_summed_in_portions_and_each_as_if_alone(monkeypatch):
    """Of a million pages no column of all is made ten times over."""
    rng, sizes, real = np.random.default_rng(7), [], posterior._expanded
    some = Likelihood.of(looked(rng, rng.gamma(0.5, 0.4, 60), 2))
    shape, scale = np.full(60, 0.7), np.full(60, 1.5)
    whole = moments(some, shape, scale)
    monkeypatch.setattr(posterior, "PORTION", 7)
    monkeypatch.setattr(posterior, "_expanded", lambda times, a, *more: sizes.append(len(a)) or real(times, a, *more))
    found = moments(some, shape, scale)
    assert max(sizes) == 7
    for column, expected in zip(found.columns(), whole.columns(), strict=True):
        np.testing.assert_allclose(column, expected, rtol=1e-14)


def test_the_evidence_is_an_integral():
    """Against the sum that a Gamma prior leaves of one changed look: 1 − (1 + t m/a)^−a."""
    shape, mean, length = np.array([0.3, 2.0]), np.array([0.5, 0.1]), 4.0
    one = Likelihood.of(Histories.of([[length], [length]], [[1], [1]]))
    found = moments(one, shape, shape / mean)
    whole = np.exp(found.evidence + shape * np.log(shape / mean) - gammaln(shape))
    assert whole == pytest.approx(1.0 - (1.0 + length * mean / shape) ** -shape, rel=2e-3)


def test_pages_of_a_small_class_that_changed_at_every_look_have_rates_within_reason():
    """Nothing spoke against any rate: these three were held to change 300 times a day."""
    rng = np.random.default_rng(7)
    lengths = np.tile([1.0, 13.0], (1_003, 1))
    bits = rng.random(lengths.shape) < -np.expm1(-rng.gamma(0.05, 0.4, 1_003)[:, None] * lengths)
    bits[-3:] = True
    whole, classes = Histories.of(list(lengths), list(bits.astype(np.int8))), np.repeat([0, 1], [1_000, 3])
    assert GammaPoisson().fit(whole, classes).estimate(whole, classes).rate[-1] < 10.0


@pytest.mark.slow
def test_single_precision_costs_a_posterior_next_to_nothing():
    """Chances of a change from 1e-7 to 1, of two to a hundred intervals."""
    rng = np.random.default_rng(4)
    lengths = [np.exp(rng.normal(0.0, 4.0, count)) for count in rng.choice([2, 5, 12, 100], 400)]
    one = Likelihood.of(Histories.of(lengths, [rng.random(len(row)) < 0.5 for row in lengths]))
    shape, scale = rng.uniform(0.05, 3.0, (2, 400))
    single, double = moments(one, shape, scale, single=True), moments(one, shape, scale)
    assert (single.spread > 0).all()
    for column in ("mean", "spread"):
        np.testing.assert_allclose(getattr(single, column), getattr(double, column), rtol=3e-4)


@pytest.mark.parametrize("times", [[], [2.0], [1.0, 3.0], [0.5, 2.0, 9.0], [0.3, 0.5, 1.0, 2.0, 9.0]])
def test_of_few_changes_the_posterior_is_exact(times: list[float]) -> None:
    one = Likelihood.of(Histories.of([[*times, 4.0]], [[1] * len(times) + [0]]))
    found = moments(one, np.array([0.7]), np.array([1.5]))

    def integral(of: Callable[[float], float]) -> float:
        def density(log: float) -> float:
            rate = np.exp(log)
            return float(of(rate) * np.prod(-np.expm1(-rate * np.array(times))) * np.exp(0.7 * log - 5.5 * rate))

        return quad(density, -60.0, 5.0, limit=500, epsabs=0.0)[0]

    total = integral(lambda rate: 1.0)
    mean, second = (integral(lambda rate, k=k: rate**k) / total for k in (1, 2))
    expected = mean, (second - mean**2) ** 0.5, integral(np.log) / total, np.log(total)
    assert [column[0] for column in found.columns()] == pytest.approx(expected, rel=1e-6)


def test_few_changes_in_short_intervals_are_integrated() -> None:
    """Multiplied out, nothing would be left of them but rounding."""
    lengths = [[1e-5, 2e-5, 3e-5, 1.0], [1e-9, 1.0]]
    one = Likelihood.of(Histories.of(lengths, [[1, 1, 1, 0], [1, 0]]))
    found = moments(one, np.array([0.7, 0.7]), np.array([1.5, 1.5]))
    assert found.mean == pytest.approx([3.7 / 2.5, 1.7 / 2.5], rel=1e-3)  # λ t for 1 − e^{−λt}
    assert found.spread == pytest.approx([3.7**0.5 / 2.5, 1.7**0.5 / 2.5], rel=2e-3)
