"""Pages that are alike are one class."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sharc_crawler.strategies.layout import classify
from tests.strategies.oracles import pages_of

if TYPE_CHECKING:
    from sharc_crawler.strategies.base import Candidates


def classes_one_by_one(pages: Candidates, limit: int) -> dict[tuple[int, ...], list[float]]:
    """The pages of each class, and their mean rate, weight and shape."""
    columns = [column.tolist() for column in (pages.rates, pages.weights, pages.shapes)]
    width, keys = 0.0, list(zip(*columns, strict=True))

    def binned(value: float, lowest: float) -> float | str:
        return str(value) if value in {0.0, math.inf} else round(math.log(value / lowest) / width)

    while len(set(keys)) > limit:
        width = 2 * width or 0.01
        lowest = [min((value for value in column if value > 0), default=1.0) for column in columns]
        keys = [tuple(map(binned, page, lowest)) for page in zip(*columns, strict=True)]
    groups = [tuple(page for page, key in enumerate(keys) if key == one) for one in set(keys)]
    return {own: [sum(column[page] for page in own) / len(own) for column in columns] for own in groups}


@pytest.mark.parametrize("seed", range(24))
def test_classes_are_exact_up_to_a_limit_and_then_bins_as_narrow_as_can_be(seed: int, monkeypatch) -> None:
    monkeypatch.setattr("sharc_crawler.strategies.layout.LIMIT", 8)
    rng = np.random.default_rng(seed)
    rates = rng.choice([0.0, *10 ** rng.uniform(-3, rng.choice([-2.9, -1.0]), 4 + seed % 6)], 40)
    weights = rng.choice(rng.uniform(1, 1.05, 3), 40) if seed % 3 == 0 else None
    shapes = rng.choice([math.inf, *rng.uniform(1, 4, 4)], 40) if seed % 4 == 0 else None
    pages = pages_of(rates, weights, shapes)
    classes, row = classify(pages)
    known = classes.shapes if classes.shapes is not None else np.full(len(classes), math.inf)
    expected = classes_one_by_one(pages, 8)
    for at, means in enumerate(zip(classes.rates, classes.weights, known, strict=True)):
        own = np.flatnonzero(row == at)
        assert classes.counts[at] == len(own)
        assert list(means) == pytest.approx(expected.pop(tuple(own)))
    assert not expected
    assert (np.diff(classes.rates * classes.weights) <= 0).all()
    assert (classes.shapes is None) == np.isinf(pages.shapes).all()
