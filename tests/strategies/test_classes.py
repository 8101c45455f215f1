"""What classes of pages are worth on an interval."""

from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.evidence.survival import log_survival, log_survival_of_either_side
from sharc_crawler.strategies.classes import Classes

RATES, WEIGHTS, INTERVALS = np.array([0.5, 0.3, 0.1]), np.array([1.0, 2.0, 4.0]), np.array([[3.0], [2.0], [1.0]])


@pytest.mark.parametrize("shape", [None, 2.0])
@pytest.mark.parametrize("first", [0, 1])
def test_one_unchanged_half_is_enough_for_attested_pages_where_they_are_visited_on_either_side(shape, first):
    shapes = None if shape is None else np.full(3, shape)
    attested, at = np.array([True, False, True]), INTERVALS[first:]
    some = None if shapes is None else shapes[first:, None]
    whole = log_survival(RATES[first:, None], at, some) + np.log(WEIGHTS[first:, None])
    half = log_survival_of_either_side(RATES[first:, None], at, some) + np.log(WEIGHTS[first:, None])
    for flags, either_side, expected in (
        (attested, True, np.where(attested[first:, None], half, whole)),
        (attested, False, whole),
        (None, True, whole),
    ):
        classes = Classes(RATES, np.ones(3, int), WEIGHTS, shapes, flags, either_side)
        np.testing.assert_allclose(classes.log_values(at, first), expected)
        assert classes.simple == (shape is None and not either_side)
