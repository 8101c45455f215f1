"""The whole method against truth: classification of pages, choice of sites."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from benchmarks.synthetic_views import Log, SyntheticLog, generate
from sharc_crawler.seeds.temporal.analysis import analyse
from sharc_crawler.seeds.temporal.rank import rank, worth
from sharc_crawler.seeds.temporal.views import PageViews

WORLD = SyntheticLog(pages=3000)


def analysed(log: Log):
    views = PageViews(log.pages, log.sites, log.views, date(2022, 1, 1), len(log.pages), 0, {})
    return analyse(views)


def f_measure(called, true) -> float:
    return 2 * (called & true).sum() / (called.sum() + true.sum())


@pytest.mark.slow
def test_the_mix_is_the_published_one():
    log = generate(WORLD, 1)
    assert 0.08 < log.temporal.mean() < 0.2
    assert (log.views.sum(axis=1) >= WORLD.least_views).all()
    assert np.array_equal(generate(WORLD, 1).views, log.views)
    assert not np.array_equal(generate(WORLD, 2).views[:100], log.views[:100])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "least"),
    [
        ({}, 0.9),
        pytest.param(*({"median_views": 60}, 0.9), marks=pytest.mark.long),
        pytest.param(*({"noise": 0.4}, 0.88), marks=pytest.mark.long),
        pytest.param(*({"bots": 0.3}, 0.88), marks=pytest.mark.long),
        pytest.param(*({"evergreen_tail": 0.1}, 0.88), marks=pytest.mark.long),
    ],
)
def test_pages_whose_life_lies_in_the_window(change, least):
    log = generate(replace(WORLD, **change), 3)
    found = analysed(log)
    assert f_measure(found.temporal[log.inside], log.temporal[log.inside]) >= least
    assert (~found.curves.known).mean() < 0.02


@pytest.mark.slow
def test_chosen_sites_beat_the_most_viewed():
    log = generate(WORLD, 4)
    found = analysed(log)
    count = max(1, len(found.ranked) // 10)
    ours = worth(found.ranked[:count], log.sites, log.temporal)
    theirs = worth(sorted(found.ranked, key=lambda one: -one.views)[:count], log.sites, log.temporal)
    assert ours.f > 1.5 * theirs.f
    best = worth(
        rank(log.sites, log.views.sum(axis=1), log.temporal, log.temporal | True)[:count], log.sites, log.temporal
    )
    assert ours.f > 0.9 * best.f  # ranked by the truth itself
