from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sharc_crawler.lab.driver import crawl
from sharc_crawler.lab.experiment import audit
from sharc_crawler.lab.rates import believe
from sharc_crawler.lab.schedule import DownloadTimes
from sharc_crawler.lab.synthetic import SyntheticSpec
from tests.lab.small import belief, small_site


def visits(*times):
    return DownloadTimes(np.array(times, float), np.full(len(times), math.nan))


def test_an_audit_of_everything_finds_every_lie_that_shows():
    site = small_site([[1.4], [2.2], [], [1.2]], rates=[4, 3, 2, 1])
    lying = np.array([True, False, True, True])
    found = audit(site, visits(0, 1, 2, 3), belief(site, range(4)), lying, share=1.0, seed=0)  # T = 1.5
    assert (found.lying, found.wrongly_claimed, found.audited) == (3, 1, 4)
    assert (found.changed, found.lies_found, found.remaining, found.bound) == (2, 1, 0, 0), "nothing is claimed then"


def test_nothing_audited_bounds_nothing():
    site = small_site([[1.4], [], [], []])
    found = audit(site, visits(0, 1, 2, 3), belief(site, range(4)), np.ones(4, bool), share=0.0, seed=0)
    assert (found.audited, found.lies_found, found.remaining, found.bound) == (0, 0, 1, 4)


@pytest.mark.slow
def test_the_bound_holds():
    held = []
    for seed in range(20):
        site = SyntheticSpec(size=300, seed=seed).build()
        known = replace(believe(site, "oracle"), attested=np.ones(300, bool))
        plan = crawl(site, known, "sharc-offline", "known").schedule
        lying = np.random.default_rng(seed).random(300) < 0.05
        found = audit(site, plan, known, lying, share=0.1, seed=seed)
        held.append(found.remaining <= found.bound)
    assert sum(held) >= 17  # 95 % of 20, and luck
