from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.lab.truth import Changes, Lives

TIMES = st.lists(st.integers(0, 20), max_size=5).map(sorted)


@pytest.mark.slow
@given(st.lists(TIMES, min_size=1, max_size=5), st.integers(0, 20), st.integers(0, 20))
def test_versions_and_windows_against_counting(rows, start, end):
    changes = Changes.of(rows)
    assert changes.counts().tolist() == [len(row) for row in rows]
    assert [row.tolist() for row in changes.rows] == rows
    for page, row in enumerate(rows):
        assert changes.version(page, start) == sum(t <= start for t in row)
    within = changes.within(start, end)
    assert [row.tolist() for row in within.rows] == [[t for t in row if start <= t < end] for row in rows]


@given(st.lists(TIMES, min_size=1, max_size=5))
def test_the_latest_change_or_the_floor(rows):
    floor = np.full(len(rows), 10.0)
    assert Changes.of(rows).latest(floor).tolist() == [max([10, *row]) for row in rows]


@given(st.lists(st.integers(0, 20), unique=True, max_size=5).map(sorted), st.integers(0, 20))
def test_pages_come_and_go(turns, now):
    there = False
    for turn in turns:
        if turn <= now:
            there = not there
    lives = Lives(np.array([-math.inf]), {0: tuple(map(float, turns))})
    assert lives.alive(0, now) is there
    assert lives.alive_at(np.array([float(now)])).tolist() == [there]


def test_nobody_is_there_at_no_time():
    lives = Lives(np.array([-math.inf, 0.0]), {1: (0.0, 5.0)})
    assert lives.alive_at(np.array([math.nan, math.nan])).tolist() == [False, False]
