"""Thresholds of single sites: better where sites differ, no worse than chance where they do not."""

from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.seeds.temporal.analysis import LEAST, classify, held_out, site_thresholds
from sharc_crawler.seeds.temporal.classify import Threshold
from sharc_crawler.seeds.temporal.curve import Curves


def curves(count: int, seed: int) -> Curves:
    """Curves of many shares Φ(3), born within the window."""
    rng = np.random.default_rng(seed)
    zeros = np.zeros(count)
    return Curves(zeros, zeros, rng.normal(0.5, 1.0, count), np.full(count, 0.8), zeros, zeros, zeros + 1, zeros == 0)


@pytest.mark.slow
def test_sites_that_differ_gain_on_pages_that_were_held_out():
    found = curves(400, 1)
    sites = ["wire"] * 200 + ["weekly"] * 200
    share = np.where(np.arange(400) < 200, 0.9, 0.4)
    labels = found.gathered(3.0) > share
    one, own = held_out(labels, found, sites)
    assert own > one + 20
    assert own > 0.95 * 400
    each = site_thresholds(labels, found, sites)
    assert (classify(found, sites, each, Threshold()) == labels).mean() > 0.99


@pytest.mark.slow
def test_sites_that_do_not_differ_lose_little():
    found = curves(400, 2)
    sites = [f"site{i % 4}" for i in range(400)]
    labels = found.gathered(3.0) > 0.7
    one, own = held_out(labels, found, sites)
    assert own >= 0.97 * one


def test_a_site_with_few_labels_or_of_one_kind_has_the_common_threshold():
    found = curves(LEAST + 30, 3)
    sites = ["few"] * (LEAST - 1) + ["alike"] * 31
    labels = found.gathered(3.0) > 0.5
    labels[LEAST - 1 :] = True
    each = site_thresholds(labels, found, sites)
    assert each == {}
    assert (classify(found, sites, each, Threshold()) == Threshold().temporal(found)).all()


def test_hardly_any_labels():
    found = curves(1, 4)
    assert held_out(np.array([True]), found, ["a"]) == (-1.0, -1.0)
