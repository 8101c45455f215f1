"""Blocks of pages are assigned to blocks of intervals."""

from __future__ import annotations

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from sharc_crawler.strategies import climb as climbing
from sharc_crawler.strategies import optimal
from sharc_crawler.strategies.classes import Classes
from sharc_crawler.strategies.climb import Pieces
from sharc_crawler.strategies.optimal import _assigned
from sharc_crawler.strategies.selective import selective


def test_in_a_block_the_hotter_page_comes_first_unless_it_is_likely_to_change_before_either():
    effort = optimal.Effort(exact=0, blocks=2, moves=0)
    for rates, order in (([0.9, 0.7, 0.1, 0.05], [0, 1, 2, 3]), ([9.0, 7.0, 0.1, 0.05], [2, 3, 1, 0])):
        classes = Classes(np.array(rates), np.ones(4, np.int64), np.ones(4))
        assert optimal.assign(classes, 1.0, effort).rows.tolist() == order


def test_in_a_block_of_one_expected_change_the_hotter_page_comes_first():
    classes = Classes(np.array([0.9, 0.8, 0.375, 0.125]), np.ones(4, np.int64), np.ones(4))  # 0.25 at 4 seconds
    assert optimal.assign(classes, 1.6, optimal.Effort(exact=0, blocks=2, moves=0)).rows.tolist() == [0, 1, 2, 3]


def test_pages_up_to_the_limit_are_assigned_one_by_one():
    classes = Classes(np.array([2.0, 1.0, 0.5, 0.1]), np.ones(4, np.int64), np.ones(4))
    alone, blocks = (optimal.assign(classes, 1.0, optimal.Effort(exact, 1, 0)).rows.tolist() for exact in (4, 3))
    assert alone == [0, 2, 1, 3] != blocks


def test_what_is_expected_of_a_block_is_the_mean_of_all_its_pages():
    """2.6 and 1.1 changes of three pages in a second: more than one each, so the colder one comes first."""
    effort = optimal.Effort(exact=0, blocks=2, moves=0)
    classes = Classes(np.array([1.3, 1.1, 0.001]), np.array([2, 1, 3]), np.ones(3))
    assert optimal.assign(classes, 1.0, effort).rows.tolist() == [1, 0, 2]


def assigned_one_by_one(classes: Classes, width: float, blocks: int) -> list[int]:
    """The class of the page on each interval, of all ways to put blocks of pages on as many blocks of intervals."""
    shapes = optimal._shapes(classes)
    rows = sorted(range(len(classes)), key=lambda row: (classes.weights[row], shapes[row], -classes.rates[row]))
    pages = [row for row in rows for _ in range(classes.counts[row])]
    edges = [block * len(pages) // blocks for block in range(blocks + 1)]
    cut = [pages[first:end] for first, end in pairwise(edges)]
    middles = [width * (first + end - 1) / 2 for first, end in pairwise(edges)]

    def stays(row: int, interval: float) -> float:
        change = classes.rates[row] * interval
        return math.exp(-change) if math.isinf(shapes[row]) else (1 + change / shapes[row]) ** -shapes[row]

    def worth(order: tuple[int, ...]) -> float:
        return sum(
            np.mean([classes.weights[row] * stays(row, at) for row in cut[block]])
            for block, at in zip(order, middles, strict=True)
        )

    laid = []
    for block, at in zip(max(permutations(range(blocks)), key=worth), middles, strict=True):
        many = np.mean([classes.rates[row] for row in cut[block]]) * at > 1
        laid += cut[block][:: -1 if many else 1]
    return laid


@pytest.mark.parametrize("kind", ["geometric", "alike", "any"])
def test_prices_of_a_sample_leave_the_assignment_the_best(kind: str) -> None:
    rng = np.random.default_rng(3)
    rates = {"geometric": np.geomspace(1e-4, 1, 200), "alike": np.repeat([0.01, 0.1], 100), "any": rng.random(200)}[
        kind
    ]
    values = np.exp(-rates[:, None] * np.arange(200.0))
    rows = np.arange(200)
    assert values[rows, _assigned(values)].sum() == pytest.approx(
        values[linear_sum_assignment(values, maximize=True)].sum()
    )
    assert sorted(_assigned(values)) == [*rows]


@pytest.mark.parametrize("seed", range(25))
def test_blocks_are_assigned_as_by_trying_all_ways(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = rng.choice([0.5, 2.0, math.inf], 5) if seed % 2 else None
    classes = Classes(10 ** rng.uniform(-3, 0.5, 5), rng.integers(1, 6, 5), rng.uniform(0.5, 2, 5), shapes)
    blocks = int(min(classes.counts.sum(), rng.integers(1, 5)))
    found = optimal.assign(classes, 0.7, optimal.Effort(exact=0, blocks=blocks, moves=0))
    assert np.repeat(found.rows, found.counts).tolist() == assigned_one_by_one(classes, 0.7, blocks)


def test_what_is_assigned_exactly_is_not_climbed_and_what_is_too_fine_is_assigned_in_larger_blocks_too(monkeypatch):
    """The best of the greedy layout and those of blocks is improved, and the one of larger blocks."""
    monkeypatch.setattr(climbing, "FLIGHTS", 1)
    starts, climbed = [], []

    def assigned(_classes: Classes, _width: float, effort: optimal.Effort) -> Pieces:
        starts.append(effort.blocks)
        return Pieces(np.array([2, 0, 1, 2]), np.array([effort.blocks, 2, 2, 2 - effort.blocks]))

    monkeypatch.setattr(optimal, "assign", assigned)
    monkeypatch.setattr(optimal, "climb", lambda _classes, _width, pieces, _moves: climbed.append(pieces) or pieces)
    classes = Classes(np.array([0.3, 0.2, 0.1]), np.full(3, 2), np.ones(3))
    optimal.optimal(classes, 1.0, optimal.Effort(exact=6, blocks=8, moves=9))
    assert (starts, climbed) == ([8], [])
    starts.clear()
    optimal.optimal(classes, 1.0, optimal.Effort(exact=5, blocks=8, moves=9))
    assert starts == [8, 2]
    greedy = Pieces.of(selective(classes, 1.0))
    assert [one.counts.tolist() for one in climbed] == [greedy.counts.tolist(), [2, 2, 2, 0]]
