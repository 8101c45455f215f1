"""Poisson, the same for whoever asks, in whatever order and stretch."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.demo import process
from sharc_crawler.demo.process import changes, last_change

NAMES = st.sampled_from(["a", "/news/", "2 /search?q=tides"])
RATES = st.floats(1e-4, 50)
INSTANTS = st.floats(0, 4e9)
STRETCHES = st.floats(0, 30)  # in expected changes


@pytest.mark.slow
def test_counts_are_poisson() -> None:
    counts = np.array([len(changes(f"page {i}", 0.3, 1e9, 1e9 + 20)) for i in range(1500)])
    from scipy import stats  # takes a second, which no other test needs

    expected = stats.poisson(6.0)
    bins = np.arange(13)
    observed = np.array([*(np.sum(counts == k) for k in bins), np.sum(counts > 12)])
    probabilities = np.array([*expected.pmf(bins), expected.sf(12)])
    assert stats.chisquare(observed, probabilities * len(counts)).pvalue > 0.01


@pytest.mark.slow
def test_gaps_are_exponential_across_cells() -> None:
    instants = changes("a page", 0.25, 1.8e9, 1.8e9 + 20_000)
    assert len(instants) == pytest.approx(5000, abs=4 * math.sqrt(5000))
    from scipy import stats

    assert stats.kstest(np.diff(instants) * 0.25, "expon").pvalue > 0.01


@pytest.mark.slow
def test_neighbouring_stretches_are_independent() -> None:
    pairs = [(len(changes(f"{i}", 1.0, 0, 4)), len(changes(f"{i}", 1.0, 4, 8))) for i in range(1000)]
    assert abs(np.corrcoef(np.array(pairs).T)[0, 1]) < 0.1


@given(NAMES, RATES, INSTANTS, STRETCHES, st.floats(0, 1))
def test_a_stretch_is_the_sum_of_its_parts(name: str, rate: float, start: float, expected: float, cut: float) -> None:
    end = start + expected / rate
    middle = min(start + cut * (end - start), end)
    parts = [changes(name, rate, start, middle), changes(name, rate, middle, end)]
    whole = changes(name, rate, start, end)
    assert whole.tolist() == np.concatenate(parts).tolist() == sorted(whole.tolist())
    assert all(start < instant <= end for instant in whole)


@given(NAMES, RATES, INSTANTS)
def test_the_last_change_is_the_last_of_the_changes(name: str, rate: float, now: float) -> None:
    before = changes(name, rate, now - 60 / rate, now)  # none in 60 expected changes: never
    assert last_change(name, rate, now) == before[-1]


@given(NAMES, RATES, INSTANTS)
def test_a_change_counts_from_its_own_instant_on(name: str, rate: float, now: float) -> None:
    change = last_change(name, rate, now)
    assert last_change(name, rate, change) == change
    assert last_change(name, rate, math.nextafter(change, -math.inf)) < change
    assert change not in changes(name, rate, change, now)


def test_the_order_of_asking_does_not_matter() -> None:
    forward = [changes("x", 2.0, t, t + 1).tolist() for t in range(50)]
    process._cell.cache_clear()
    assert forward == [changes("x", 2.0, t, t + 1).tolist() for t in reversed(range(50))][::-1]


def test_names_make_different_processes() -> None:
    assert changes("1 /a", 1.0, 0, 20).tolist() != changes("2 /a", 1.0, 0, 20).tolist()
    assert changes("1 /a", 1.0, 0, 20).tolist() != changes("1 /b", 1.0, 0, 20).tolist()


def test_what_never_changes() -> None:
    assert len(changes("x", 0.0, 0, 1e9)) == 0
    assert last_change("x", 0.0, 1e9) == -math.inf


def test_an_empty_or_reversed_stretch_has_no_changes() -> None:
    assert len(changes("x", 1.0, 5, 5)) == len(changes("x", 1.0, 9, 5)) == 0
