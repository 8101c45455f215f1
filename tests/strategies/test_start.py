from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.evidence.coherence import expected_coherence
from sharc_crawler.rates.cycles import DatedChanges, Rhythm, rhythm
from sharc_crawler.strategies.base import Candidates
from sharc_crawler.strategies.layout import lay_out
from sharc_crawler.strategies.selective import selective
from sharc_crawler.strategies.start import expected_losses
from tests.rates.rhythmic import DAY, NOW, WEEK, by_day, captured, changes, weekly_looks

HOUR = 3_600.0
RATES = np.geomspace(0.1, 10, 50) / WEEK
KNOWN = np.full(50, np.inf)
LABELS = np.zeros(50, np.int64)
STARTS = NOW + HOUR * np.arange(24)


def test_without_cycles_every_hour_is_as_good_and_the_loss_is_the_plans():
    losses = expected_losses(RATES, KNOWN, LABELS, {0: Rhythm(())}, STARTS, 4 * HOUR)
    assert np.ptp(losses) < 1e-9
    plan = lay_out(Candidates.of(np.arange(50), RATES), 4 * HOUR / 100, selective)
    assert losses[0] == pytest.approx(50 - expected_coherence(RATES, plan.intervals))


def test_with_a_daily_cycle_the_calm_hours_are_best():
    rng = np.random.default_rng(0)
    times = [changes(rng, 0.3 / WEEK, NOW - 30 * WEEK, NOW, by_day) for _ in range(150)]
    found = rhythm(DatedChanges.of(captured(times, [str(n) for n in range(150)], weekly_looks())))
    losses = expected_losses(RATES, KNOWN, LABELS, {0: found}, STARTS, 4 * HOUR)
    middle = STARTS[losses.argmin()] + 2 * HOUR
    assert abs((middle % DAY) - 2 * HOUR) <= 2 * HOUR  # nothing happens at two in the morning
    assert losses.min() < 0.3 * losses.mean()
    assert losses.max() > 1.5 * losses.mean()


def test_large_sites_are_planned_by_a_sample():
    many = np.tile(RATES, 200)
    pages = len(many)
    small = expected_losses(RATES, KNOWN, LABELS, {0: Rhythm(())}, STARTS[:1], 4 * HOUR)
    large = expected_losses(
        many, np.full(pages, np.inf), np.zeros(pages, np.int64), {0: Rhythm(())}, STARTS[:1], 4 * HOUR
    )
    assert large[0] == pytest.approx(200 * small[0], rel=0.05)
