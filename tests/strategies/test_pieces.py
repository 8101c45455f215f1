"""Layouts by class against the same layouts page by page."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.model import Plan
from sharc_crawler.strategies.classes import Classes
from sharc_crawler.strategies.climb import Pieces, climb

RATES, WEIGHTS = np.array([3.0, 0.4, 0.02, 0.0]), np.array([1.0, 2.0, 0.5, 1.5])
SHAPES = np.array([0.5, math.inf, 2.0, 1.0])
PIECES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8)


def pieces_of(pairs: list[tuple[int, int]]) -> Pieces:
    return Pieces(*(np.array([pair[place] for pair in pairs], np.int64) for place in (0, 1)))


@given(PIECES, st.sampled_from([None, SHAPES]), st.sampled_from([0.5, 2.0]))
def test_a_layout_is_worth_what_its_pages_are_worth(pairs, shapes, width) -> None:
    classes = Classes(RATES, np.ones(4, np.int64), WEIGHTS, shapes)
    total, interval = 0.0, 0.0
    for row, count in pairs:
        for _ in range(count):
            known = shapes is None or math.isinf(shapes[row])
            stays = (
                math.exp(-RATES[row] * interval) if known else (1 + RATES[row] * interval / shapes[row]) ** -shapes[row]
            )
            total += WEIGHTS[row] * stays
            interval += width
    assert pieces_of(pairs).value(classes, width) == pytest.approx(total)


@given(PIECES)
def test_adjacent_pieces_of_a_class_are_one_and_runs_are_the_same_from_the_other_end(pairs) -> None:
    pages = [row for row, count in pairs for _ in range(count)]
    merged = pieces_of(pairs).merged()
    assert np.repeat(merged.rows, merged.counts).tolist() == pages
    assert (merged.counts > 0).all()
    assert (np.diff(merged.rows) != 0).all()
    runs = pieces_of(pairs).runs()
    assert [run.row for run in runs for _ in range(run.pages)] == pages[::-1]
    for place, run in enumerate(runs):
        colder_is_nearer = any(other.row > run.row for other in runs[place + 1 :])
        assert (run.plan is Plan.HOPELESS) == colder_is_nearer
    if runs:
        again = Pieces.of(runs)
        assert (again.rows.tolist(), again.counts.tolist()) == (merged.rows.tolist(), merged.counts.tolist())


def test_layouts_by_posteriors_are_left_as_they_are_but_for_pages_without_hope() -> None:
    classes = Classes(np.array([0.3, 0.1]), np.array([2, 2]), np.ones(2), np.array([2.0, 2.0]))
    start = Pieces(np.array([1, 0]), np.array([2, 2]))
    found = climb(classes, 2.0, start, moves=100)
    assert (found.rows.tolist(), found.counts.tolist()) == ([1, 0], [2, 2])
    lost = Classes(np.array([30.0, 20.0, 0.1]), np.array([1, 1, 1]), np.ones(3), np.full(3, 2.0))
    assert climb(lost, 2.0, Pieces(np.array([2, 1, 0]), np.ones(3, np.int64)), moves=9).rows.tolist() == [2, 1, 0]
    assert climb(lost, 2.0, Pieces(np.array([2, 0, 1]), np.ones(3, np.int64)), moves=9).rows.tolist() == [2, 1, 0]
