from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.model import Slot
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.make import make_strategy
from sharc_crawler.strategies.revisiting import revisit_order

rows = st.lists(
    st.tuples(st.floats(0.0, 2.0), st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 5.0)), min_size=1, max_size=6
)


def expected(order, rates, weights, elapsed):
    return sum(weights[p] * math.exp(-rates[p] * (elapsed[p] + slot)) for slot, p in enumerate(order))


@pytest.mark.slow
@given(rows)
def test_no_worse_than_the_order_given_and_hardly_worse_than_the_best(pages):
    rates, weights, elapsed = map(np.array, zip(*pages, strict=True))
    order = revisit_order(rates, weights, np.full(len(pages), math.inf), elapsed, 1.0).tolist()
    assert sorted(order) == list(range(len(pages)))
    value = expected(order, rates, weights, elapsed)
    best = max(expected(other, rates, weights, elapsed) for other in permutations(range(len(pages))))
    assert value >= expected(range(len(pages)), rates, weights, elapsed) - 1e-9
    assert value >= 0.8 * best - 1e-9


def test_pages_that_are_lost_anyway_come_last():
    rates = np.array([1.0, 0.1, 0.2, 0.05])
    order = revisit_order(rates, np.array([0.0, 1.0, 1.0, 0.0]), np.full(4, math.inf), np.zeros(4), 1.0)
    assert order.tolist()[:2] == [2, 1]


def test_of_pages_alike_those_named_first_are_revisited_first():
    """The order that was given is that of the plan: it stands among them."""
    rates = np.array([0.1, 0.1, 0.1, 0.1, 0.3])
    order = revisit_order(rates, np.array([0.0, 1.0, 1.0, 1.0, 1.0]), np.full(5, math.inf), np.zeros(5), 1.0)
    assert order.tolist() == [4, 1, 2, 3, 0]


@pytest.mark.parametrize("name", ["sharc-selective", "sharc-optimal"])
def test_a_pyramid_hands_the_revisits_out_in_the_new_order(name):
    strategy = make_strategy(name, Setting(size=5))
    strategy.add(Candidates.of([0, 1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4, 0.5]))
    visits = []
    for _ in range(5):
        assert not strategy.revisits_ahead()
        visits.append(strategy.next(0.0))
        strategy.finished(visits[-1], captured=visits[-1].page != 2)
    ahead = strategy.revisits_ahead()
    twice = [visit.page for visit in visits if visit.slot is Slot.FIRST and visit.page != 2]
    assert ahead == twice[::-1]
    strategy.reorder(twice)
    assert [strategy.next(0.0).page for _ in twice] == twice
    assert strategy.next(0.0) is None
    assert not strategy.revisits_ahead()
    assert len(strategy) == 0


def test_baselines_stay_what_they_are():
    strategy = make_strategy("bfs", Setting(size=2))
    strategy.add(Candidates.of([0], [0.1]))
    strategy.finished(strategy.next(0.0), captured=True)
    assert not strategy.revisits_ahead()


@pytest.mark.parametrize("share", [1.0, 1e-3])
def test_of_pages_as_hot_the_one_that_counts_for_more_comes_first_however_little_all_count(share):
    order = revisit_order(np.full(2, 0.1), share * np.array([0.2, 1.0]), np.full(2, math.inf), np.zeros(2), 1.0)
    assert order.tolist() == [1, 0]


def test_of_pages_alike_the_one_that_is_likelier_to_have_changed_before_t_comes_later():
    order = revisit_order(np.full(2, 0.1), np.ones(2), np.full(2, math.inf), np.array([20.0, 0.0]), 1.0)
    assert order.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("rates", "weights"), [([0.1, 0.2], [0.0, 0.0]), ([0.0, 0.0], [0.0, 1.0]), ([0.5, 0.1], [0.0, 0.0]), ([], [])]
)
def test_where_no_order_is_expected_to_do_better_the_one_given_stands(rates, weights):
    pages = len(rates)
    order = revisit_order(np.array(rates), np.array(weights), np.full(pages, math.inf), np.zeros(pages), 1.0)
    assert order.tolist() == list(range(pages))
