"""A site that is kept up, in virtual time."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from benchmarks.continuous_runs import ArchiveQuality, periodic, shown, upkept
from sharc_crawler.lab.belief import Belief
from sharc_crawler.lab.truth import Lives
from tests.lab.small import small_site

DAY = 86_400.0


def living(size=60, days=30.0, seed=3):
    """Half of its pages hardly change, some each day, a few each hour; rates are known."""
    dice = np.random.default_rng(seed)
    rates = np.concatenate([np.full(size // 2, 1 / (60 * DAY)), np.full(size // 3, 1 / (4 * DAY)), [12 / DAY] * 10])
    changes = [np.sort(dice.uniform(0, days * DAY, dice.poisson(rate * days * DAY))) for rate in rates]
    site = small_site(changes, rates=rates, end=days * DAY, step=None)
    return site, Belief("given", rates, np.full(len(rates), np.inf), rates, np.zeros(len(rates), bool))


def test_what_an_archive_shows_of_instants():
    site = small_site([(5.0,), (), (3.0,)], end=10.0, lives=Lives(np.full(3, -np.inf), {2: (-np.inf, 7.0)}))
    made = [(0, 1.0), (0, 9.0), (1, 2.0), (1, 8.0), (2, 1.0), (2, 9.0)]
    assert shown(site, made, [4.0]) == ArchiveQuality(pytest.approx(1 / 3), pytest.approx(1 / 3)), (
        "two change; 3 is before 4"
    )
    assert shown(site, made, [9.5]).coherent == 0.0, "nothing was downloaded after it"
    assert shown(site, [(1, 2.0)], [2.0]).blur == pytest.approx((1 + 2) / 3), "a page never seen is all its changes off"


@pytest.mark.slow
def test_all_requests_are_made_in_time_and_those_that_change_too_often_are_given_up():
    site, belief = living()
    size = len(site.urls)
    made = upkept(site, belief, "coherent", 1.0, 12 * size)
    assert len(made) == pytest.approx(12 * size, rel=0.05)
    assert site.start <= made[0][1] <= made[-1][1] <= site.end
    times = Counter(page for page, _ in made)
    hot = [page for page in range(size) if site.rates[page] > 1 / DAY]
    assert {times[page] for page in hot} == {2}, "at the beginning and at the end"
    assert min(times[page] for page in range(size) if page not in hot) > 6


@pytest.mark.slow
def test_it_shows_more_than_periodic_captures_with_as_many_requests():
    site, belief = living()
    at = np.random.default_rng(0).uniform(DAY / 10, site.end - DAY / 10, 200)
    often = periodic(site, belief, "sharc-selective", 1.0, 6)
    single = periodic(site, belief, "sharc-online", 1.0, 12)
    ways = {"often": often, "single": single}
    ways |= {name: upkept(site, belief, name, 1.0, len(often)) for name in ("coherent", "sharp", "even")}
    found = {name: shown(site, made, at) for name, made in ways.items()}
    assert found["coherent"].coherent == max(one.coherent for one in found.values())
    assert found["coherent"].coherent > found["often"].coherent + 0.05
    assert found["sharp"].blur == min(one.blur for one in found.values())
