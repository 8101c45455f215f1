"""Coherence, expected and actual, and survival."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaincinv

from sharc_crawler.evidence.survival import expected_coherence, log_survival, log_survival_of_either_side
from sharc_crawler.evidence.truth import unchanged

instants = st.integers(0, 40).map(float)


@pytest.mark.parametrize(
    ("rates", "intervals", "expected"),
    [
        ([0.40, 0.35, 0.30, 0.25, 0.20], [0, 2, 4, 6, 8], 2.2228),  # Example 9
        ([0.35, 0.30, 0.25, 0.20], [2, 4, 6, 8], 1.2228),  # Example 10
        ([0.30, 0.25, 0.20, 0.35], [2, 4, 6, 8], 1.2787),
        ([0.30, 0.25, 0.20], [2, 4, 6], 1.2179),  # Example 11
        ([0.25, 0.20, 0.30], [2, 4, 6], 1.2212),
        ([0.25, 0.20], [2, 4], 1.0559),
        ([0.20, 0.25], [2, 4], 1.0382),
    ],
)
def test_examples_9_to_11(rates: list[float], intervals: list[float], expected: float) -> None:
    assert expected_coherence(np.array(rates), np.array(intervals, float)) == pytest.approx(expected, abs=5e-5)


def test_expected_coherence_with_weights_and_a_page_never_revisited() -> None:
    rates, intervals = np.array([0.1, 0.1, 0.0]), np.array([10.0, math.nan, 5.0])
    assert expected_coherence(rates, intervals) == pytest.approx(math.exp(-1) + 1)
    assert expected_coherence(rates, intervals, weights=np.array([2, 9, 0.5])) == pytest.approx(2 * math.exp(-1) + 0.5)


@given(
    st.floats(0, 5, allow_subnormal=False).map(lambda rate: rate if rate > 1e-300 else 0.0),
    st.floats(0, 20),
    st.floats(0.5, 50),
)
def test_posterior_predictive_is_the_mean_survival(rate: float, interval: float, shape: float) -> None:
    quantiles = (np.arange(1000) + 0.5) / 1000
    drawn = gammaincinv(shape, quantiles) * rate / shape if rate else np.zeros(1)
    survival = math.exp(log_survival(np.array([rate]), np.array([interval]), np.array([shape]))[0])
    assert survival == pytest.approx(np.exp(-drawn * interval).mean(), abs=5e-3)
    assert survival >= math.exp(-rate * interval) - 1e-12


@pytest.mark.slow
@given(st.floats(0, 5), st.floats(0, 20), st.sampled_from([math.inf, 0.5, 3.0]))
def test_either_side(rate: float, interval: float, shape: float) -> None:
    def survival(length: float) -> float:
        return math.exp(log_survival(np.array([rate]), np.array([length]), np.array([shape]))[0])

    either = math.exp(log_survival_of_either_side(np.array([rate]), np.array([interval]), np.array([shape]))[0])
    assert either == pytest.approx(2 * survival(interval / 2) - survival(interval))


@pytest.mark.parametrize("shape", [math.inf, 2.0])
def test_whatever_changes_all_the_time_survives_no_time_and_no_longer(shape: float) -> None:
    rates, intervals = np.array([math.inf, math.inf, 0.0]), np.array([0.0, 1.0, math.inf])
    for survival in (log_survival, log_survival_of_either_side):
        assert np.exp(survival(rates, intervals, np.full(3, shape))).tolist() == [1.0, 0.0, 1.0]
    assert np.exp(log_survival(rates, intervals)).tolist() == [1.0, 0.0, 1.0]


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.lists(instants, max_size=4), instants, st.one_of(instants, st.just(math.nan))), max_size=6)
)
def test_pages_that_stayed_page_by_page(pages: list[tuple[list[float], float, float]]) -> None:
    stayed = [not any(visit < change <= revisit for change in changes) for changes, visit, revisit in pages]
    visits, revisits = (np.array([page[column] for page in pages], float) for column in (1, 2))
    assert unchanged([page[0] for page in pages], visits, revisits).tolist() == stayed


def test_a_change_at_the_visit_is_seen_by_it_and_one_at_the_revisit_is_not_missed() -> None:
    assert unchanged([[1.0], [2.0]], np.array([1.0, 1.0]), np.array([2.0, 2.0])).tolist() == [True, False]
