"""How often sites are captured, on made-up histories."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.replayed_collection import PageTimes, auto, crawl, even, members
from sharc_crawler.collection.allocation import DAY, trust

DAYS = 84


def living(size, mean, seed):
    """Pages that change by themselves."""
    dice = np.random.default_rng(seed)
    rates = dice.gamma(1.0, mean, size)
    events = [np.sort(dice.uniform(0, DAYS * DAY, dice.poisson(rate * DAYS))) for rate in rates]
    return PageTimes([f"{page}" for page in range(size)], np.full(size, -np.inf), events)


def rebuilt(size, seed):
    """All pages at once, in one week of the year and hardly ever again."""
    dice = np.random.default_rng(seed)
    week = np.sort(dice.uniform(0, 7, 5) + dice.uniform(14, DAYS - 30)) * DAY
    return PageTimes([f"{page}" for page in range(size)], np.full(size, -np.inf), [week] * size)


@pytest.mark.long
def test_sites_that_change_more_often_are_captured_more_often_and_more_pages_are_as_archived():
    times = {f"s{seed}": living(20, mean, seed) for seed, mean in enumerate((0.001, 0.002, 0.03, 0.3))}
    found = {
        name: crawl(members(times, 70.0, 1, 0), 70 * DAY, policy, 4 * 40 / 5)
        for name, policy in (("auto", auto), ("even", even))
    }
    assert found["auto"][1] == pytest.approx(found["even"][1], rel=0.1)
    assert found["auto"][0] > found["even"][0] + 0.01


@pytest.mark.slow
def test_what_a_site_did_in_a_hot_week_is_not_trusted():
    times = {f"s{seed}": rebuilt(20, seed) for seed in range(4)}
    sites = members(times, 70.0, 1, 0)
    crawl(sites, 70 * DAY, auto, 4 * 40 / 5)
    assert trust([one.test for one in sites if one.test]) < 0.2
