"""Ranges of rates: of true rates four fifths lie within."""

import numpy as np
import pytest
from scipy.special import gammainc

from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.rates.history import Histories
from sharc_crawler.rates.ranges import shortest


@pytest.mark.parametrize("shape", [0.05, 0.9, 1.0, 1.3, 3.0, 40.0, 1e4])
def test_it_holds_four_fifths_and_nothing_outside_is_denser(shape: float) -> None:
    low, high = shortest(2.0, shape)
    held = gammainc(shape, shape * high / 2) - gammainc(shape, shape * low / 2)
    assert held == pytest.approx(0.8, abs=1e-4)
    for width in (-1e-2, 1e-2):  # moved as a whole it holds less
        first, last = max(0.0, low + width * high), high + width * high
        assert gammainc(shape, shape * last / 2) - gammainc(shape, shape * first / 2) <= 0.8 + 1e-6 or low == 0.0


def test_a_point_is_its_own_range() -> None:
    assert [float(end) for end in shortest(3.0, np.inf)] == [3.0, 3.0]


@pytest.mark.matrix
@pytest.mark.parametrize("looks", [1, 2, 3, 10])
@pytest.mark.parametrize("shape", [0.3, 1.0, 3.0])
def test_four_true_rates_in_five_lie_within_however_few_looks(shape: float, looks: int) -> None:
    found = []
    for mean, seed in ((0.05, 1), (0.05, 2), (0.05, 3), (0.5, 4), (0.5, 5)):
        rng = np.random.default_rng(seed)
        found.append(covered(rng.gamma(shape, mean / shape, 1_500), looks, rng))
    assert 0.75 < np.mean(found) < 0.88


def test_pages_that_never_change_are_held_for_possible() -> None:
    rng = np.random.default_rng(2)
    rates = np.where(rng.random(1_500) < 0.5, 0.0, rng.gamma(1.0, 0.2, 1_500))
    assert 0.75 < covered(rates, 2, rng) < 0.86


def covered(rates: np.ndarray, looks: int, rng: np.random.Generator) -> float:
    """The share that lies within."""
    lengths = rng.lognormal(0.0, 1.0, (len(rates), looks))
    changed = (rng.random(lengths.shape) < -np.expm1(-rates[:, None] * lengths)).astype(np.int8)
    histories = Histories.of(list(lengths), list(changed))
    found = GammaPoisson().fit(histories).estimate(histories)
    low, high = shortest(found.rate, found.shape)
    return float(np.mean((low <= rates) & (rates <= high)))
