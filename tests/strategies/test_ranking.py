"""The page of any rank, against a sorted list of all."""

from __future__ import annotations

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
            pages = np.arange(found, found + len(step))
            ranking.put(pages, np.array(step))
            waiting.update(zip(pages.tolist(), step, strict=True))
            found += len(step)
        elif waiting:
            heat = sorted(waiting.values())[int(step * len(waiting))]
            expected = min(page for page, own in waiting.items() if own == heat)
            assert ranking.pop(int(step * len(waiting))) == expected
            del waiting[expected]
        page = data.draw(st.integers(0, max(1, found)))
        assert ranking.discard(page) == (page in waiting)
        waiting.pop(page, None)
        assert len(ranking) == len(waiting)


def test_a_page_moves_as_often_as_its_rate_is_another():
    ranking = Ranking()
    ranking.put(np.arange(3), np.array([0.1, 0.2, 0.3]))
    for heat in (0.4, 0.05, 0.25):
        ranking.move(0, heat)
    assert [ranking.pop(0) for _ in range(3)] == [1, 0, 2]


def test_nothing_is_of_the_lowest_octave_whatever_its_sign():
    assert octaves_of(np.array([0.0, -0.0])) == [-1023, -1023]


def test_pages_that_never_change_are_alike_whatever_the_sign_of_nothing():
    ranking = Ranking()
    ranking.put(np.arange(3), np.array([0.0, -0.0, 1.0]))
    ranking.move(2, -0.0)
    assert [ranking.pop(0) for _ in range(3)] == [0, 1, 2]
