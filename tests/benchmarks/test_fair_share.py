"""The fair reading of a range of whole numbers, against forecasts that are true."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.fair_share import fair
from sharc_crawler.evidence.measures import HIGH, LOW, quantile, round_up

PAGES, DRAWS = 500, 400


def shares(mean: float, deviation: float, bias: float = 1.0) -> tuple[float, float]:
    """Of captures that come out as foretold, times a bias: those from low to high, and the fair share."""
    said = SimpleNamespace(_lost=lambda deviation, level: quantile(mean, deviation, level))
    low, high = (round_up(quantile(mean, deviation, level), PAGES) for level in (LOW, HIGH))
    levels = (np.arange(DRAWS) + 0.5) / DRAWS
    lost = [round_up(bias * quantile(mean, deviation, level), PAGES) for level in levels]
    found = [{"pages": PAGES, "counted": PAGES - one, "deviation": deviation} for one in lost]
    inside = np.mean([low <= one <= high for one in lost])
    return float(inside), float(np.mean([fair(said, one) for one in found]))


@pytest.mark.parametrize(("mean", "deviation"), [(0.3, 0.6), (2.0, 1.5), (7.0, 4.0), (90.0, 30.0)])
def test_of_a_true_forecast_it_is_four_in_five_however_few_are_lost(mean, deviation):
    inside, fairly = shares(mean, deviation)
    assert fairly == pytest.approx(0.8, abs=0.01)
    assert inside > 0.8


def test_whole_numbers_hold_more_where_few_are_lost():
    assert shares(0.3, 0.6)[0] > 0.88 > shares(90.0, 30.0)[0]


def test_a_forecast_that_is_wrong_holds_less():
    assert shares(90.0, 10.0, bias=1.3)[1] < 0.2
