"""The page of any rank, against a sorted list of all."""

from __future__ import annotations

import sys
import tracemalloc
from bisect import bisect_left, insort

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.strategies.ranking import Ranking, octaves_of

HEATS = st.sampled_from([0.0, -0.0, 5e-324, 1.0, 1.0 + 2**-52, 1e300])


@pytest.mark.slow
@given(st.lists(st.one_of(st.lists(HEATS, max_size=4), st.floats(0, 1, exclude_max=True)), max_size=60), st.data())
def test_the_page_of_a_rank_is_the_first_found_of_its_heat(steps, data):
    ranking, waiting, found = Ranking(), {}, 0
    for step in steps:
        if isinstance(step, list):
            pages = list(range(found, found + len(step)))
            ranking.put(pages, step)
            waiting.update(zip(pages, step, strict=True))
            found += len(step)
        elif waiting:
            heat = sorted(waiting.values())[int(step * len(waiting))]
            expected = min(page for page, own in waiting.items() if own == heat)
            assert ranking.pop(int(step * len(waiting))) == expected
            del waiting[expected]
        page = data.draw(st.integers(0, max(1, found)))
        assert ranking.discard(page) == (page in waiting)
        waiting.pop(page, None)
        assert ranking.count == len(waiting)


def test_a_page_moves_as_often_as_its_rate_is_another():
    ranking = Ranking()
    ranking.put([0, 1, 2], [0.1, 0.2, 0.3])
    for heat in (0.4, 0.05, 0.25):
        ranking.move(0, heat)
    assert [ranking.pop(0) for _ in range(3)] == [1, 0, 2]


def test_nothing_is_of_the_lowest_octave_whatever_its_sign():
    assert octaves_of([0.0, -0.0]) == [-1023, -1023]


def test_pages_that_never_change_are_alike_whatever_the_sign_of_nothing():
    ranking = Ranking()
    ranking.put([0, 1, 2], [0.0, -0.0, 1.0])
    ranking.move(2, -0.0)
    assert [ranking.pop(0) for _ in range(3)] == [0, 1, 2]


@pytest.mark.parametrize("heats", [7, 10**6], ids=["few heats", "many"])
def test_thousands_of_pages_lie_in_many_blocks_and_their_order_is_that_of_one_list(heats: int) -> None:
    """Put many at once and one by one, moved, given up, and taken from all ranks, while others come."""
    rng = np.random.default_rng(heats)
    ranking, waiting = Ranking(), {}
    for pages in (range(5, 805), *([page] for page in range(805, 2200))):
        own = rng.integers(0 if len(pages) > 1 else heats // 2, heats, len(pages)) / 8  # those to come are hot
        ranking.put([*pages], own.tolist())
        waiting |= dict(zip(pages, own.tolist(), strict=True))
    for page in rng.integers(0, 2210, 200).tolist():
        ranking.move(page, heat := float(page % 11))
        waiting |= {page: heat} if page in waiting else {}
        assert ranking.discard(page + 1) == (waiting.pop(page + 1, None) is not None)
    order = sorted((heat, page) for page, heat in waiting.items())
    later = iter(range(2200, 2800))
    while order:
        if len(order) % 2 and (page := next(later, None)):  # behind the place of the last rank, or before it
            ranking.put([page], [heat := float(rng.integers(0, heats)) / 8])
            insort(order, (heat, page))
        rank = min(len(order) - 1, int(rng.choice([0, 300, 1100, len(order) // 2, 10**6])))
        first = bisect_left(order, (order[rank][0], -1))
        assert ranking.pop(rank) == order.pop(first)[1]
    assert ranking.count == 0


def test_octaves_reach_from_nothing_to_the_greatest_heat():
    ranking = Ranking()
    ranking.put([*range(6)], [5e-324, 0.0, 1.0, sys.float_info.max, 1.5, 2.0**-1022])
    assert [*ranking.octaves()] == [-1023, -1022, 0, 1023]
    assert [ranking.first(octave) for octave in (-1023, -1022, 0, 1, 1023)] == [0, 2, 3, 5, 5]
    assert [ranking.octave(rank) for rank in range(6)] == [-1023, -1023, -1022, 0, 0, 1023]


def test_a_page_that_waits_weighs_bytes_not_objects():
    pages, heats = [*range(20_000)], np.random.default_rng(0).random(20_000).tolist()
    tracemalloc.start()
    try:
        ranking = Ranking()
        ranking.put(pages, heats)
        weight = tracemalloc.get_traced_memory()[0] / ranking.count
    finally:
        tracemalloc.stop()
    assert weight < 32
