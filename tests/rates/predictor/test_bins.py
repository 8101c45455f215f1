from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.predictor.bins import RateBins, equal_frequency


@given(st.lists(st.integers(0, 30), min_size=1, max_size=200), st.integers(1, 10))
def test_bins_cover_all_and_part_no_ties(values: list[int], bins: int):
    rates = np.array(values, float)
    edges = equal_frequency(rates, bins)
    assert len(edges) <= bins
    assert (np.diff(edges) > 0).all()
    assert edges[-1] == rates.max()
    assert set(edges) <= set(rates)  # an edge is a value: equal ones lie on its one side


def test_distinct_values_fill_bins_alike():
    counts = np.bincount(np.searchsorted(equal_frequency(np.arange(1000.0)), np.arange(1000.0)))
    assert counts.tolist() == [100] * 10


def test_where_most_never_change_the_others_share_nine_bins():
    rates = np.concatenate([np.zeros(910), np.arange(1.0, 91.0)])
    counts = np.bincount(np.searchsorted(equal_frequency(rates), rates))
    assert counts.tolist() == [910] + [10] * 9


def test_a_bins_rate_is_the_mean_of_its_pages_and_the_spread_is_within_and_among_them():
    rates = np.array([1.0, 1.0, 5.0, 5.0])
    posterior = Estimates(np.array([1.0, 3.0, 6.0, 6.0]), np.array([1.0, 1.0, 2.0, 2.0]), rates, np.zeros(4, np.int64))
    bins = RateBins.of(rates, posterior)
    assert bins.means.tolist() == [2.0, 6.0]
    assert bins.variances.tolist() == pytest.approx([2.0, 4.0])
    assert bins.number(np.array([0.0, 1.0, 2.0, 99.0])).tolist() == [0, 0, 1, 1]
    mean, spread = bins.mixed(np.array([[1.0, 0.0], [0.5, 0.5]]))
    assert mean.tolist() == [2.0, 4.0]
    assert (spread**2).tolist() == pytest.approx([2.0, 3.0 + 4.0])
