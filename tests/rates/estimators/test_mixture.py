from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.rates.estimators.likelihood import Likelihood
from sharc_crawler.rates.estimators.mixture import learn_weights, log_likelihoods, posterior
from sharc_crawler.rates.history import DATED, Histories

DAY = 86_400.0
RATES = np.geomspace(1e-9, 1e-1, 25)


def of_ages(ages: np.ndarray) -> np.ndarray:
    histories = Histories(np.arange(len(ages) + 1), ages, np.full(len(ages), DATED, np.int8), np.zeros(len(ages)))
    return log_likelihoods(Likelihood.of(histories), RATES)


def test_a_few_hot_pages_among_many_cold_ones_are_a_component_of_their_own():
    rng = np.random.default_rng(1)
    hot = np.arange(500) % 20 == 0
    ages = np.where(hot, rng.exponential(60.0, 500), rng.exponential(200 * DAY, 500))
    logs = of_ages(ages)
    weights = learn_weights(logs)
    assert weights[RATES > 1e-4].sum() == pytest.approx(0.05, abs=0.02)
    odds = posterior(logs, weights)
    warm = odds[:, RATES > 1e-4].sum(1)
    assert warm[hot].min() > 0.9
    assert warm[~hot].max() < 0.1


def test_likelihoods_on_the_grid_are_those_of_the_histories():
    histories = Histories.of([[5.0, 7.0, 11.0], [3.0]], [[1, 0, 1], [0]])
    logs = log_likelihoods(Likelihood.of(histories), RATES)
    rate = RATES[-2]
    assert logs[0, -2] == pytest.approx(np.log((1 - np.exp(-5 * rate)) * np.exp(-7 * rate) * (1 - np.exp(-11 * rate))))
    assert logs[1, -2] == pytest.approx(-3 * rate)


def test_without_evidence_every_rate_is_as_likely():
    assert learn_weights(np.zeros((0, 4))) == pytest.approx(np.full(4, 0.25))
