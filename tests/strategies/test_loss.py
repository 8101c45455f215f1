from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from sharc_crawler.strategies.loss import coherence_loss

KNOWN = np.full(4, math.inf)


def test_by_brute_force_over_what_is_believed():
    """Two hot pages and two that never change: what is lost depends on how many hot ones are taken for calm."""
    truth = np.array([1.0, 1.0, 0.0, 0.0])  # in a capture of 800 s, only the apex is safe for a hot page
    for believed in itertools.product([1.0, 0.0], repeat=4):
        loss = coherence_loss((truth, KNOWN), (np.array(believed), KNOWN), 800.0)
        assert loss == pytest.approx(0.0) or loss == pytest.approx(0.25)
    assert coherence_loss((truth, KNOWN), (truth[::-1], KNOWN), 800.0) == pytest.approx(0.25)
    assert coherence_loss((truth, KNOWN), (3 * truth, KNOWN), 800.0) == 0.0


def test_nothing_is_lost_where_nothing_changes_or_is_there():
    calm = np.zeros(4)
    assert coherence_loss((calm, KNOWN), (np.array([4.0, 3.0, 2.0, 1.0]), KNOWN), 800.0) == 0.0
    assert coherence_loss((calm[:0], KNOWN[:0]), (calm[:0], KNOWN[:0]), 800.0) == 0.0


def test_a_page_that_is_taken_for_calm_is_looked_at_over_half_of_the_capture():
    """Of two pages one is the apex; the other's interval is two of the four steps."""
    truth = np.array([1.0, 0.0])
    loss = coherence_loss((truth, KNOWN[:2]), (truth[::-1], KNOWN[:2]), 0.5)
    assert loss == pytest.approx((1 - math.exp(-0.25)) / 2)
