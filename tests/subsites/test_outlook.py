"""What may be expected of a part by itself, against the layout page by page."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.evidence.survival import expected_coherence
from sharc_crawler.strategies.base import Candidates
from sharc_crawler.strategies.layout import lay_out
from sharc_crawler.strategies.selective import selective
from sharc_crawler.subsites.outlook import Outlook

RATES = st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.01, 0.1, 1.0, 5.0]), min_size=1, max_size=30)


@pytest.mark.slow
@given(RATES, st.floats(0.1, 10.0), st.booleans(), st.data())
def test_the_share_is_that_of_the_pages_laid_out_alone(rates, step, sure, data):
    some = data.draw(st.lists(st.integers(0, len(rates) - 1), min_size=1, unique=True))
    shapes = None if sure else [2.5] * len(rates)
    every = Candidates.of(range(len(rates)), rates, shapes=shapes)
    alone = Candidates.of(some, [rates[page] for page in some], shapes=None if sure else [2.5] * len(some))
    intervals = lay_out(alone, step, selective).intervals
    expected = expected_coherence(alone.rates, intervals, alone.shapes) / len(some)
    found = Outlook(every, step).expect(np.array(some))
    assert found.mean == pytest.approx(expected, rel=1e-9)
    chances = [expected_coherence(*column) for column in zip(alone.rates[:, None], intervals[:, None], strict=True)]
    if sure:
        assert (found.deviation * len(some)) ** 2 == pytest.approx(sum(p * (1 - p) for p in chances), abs=1e-9)


@pytest.mark.slow
@given(RATES, st.data())
def test_pages_visited_already_have_the_longest_intervals_whatever_follows(rates, data):
    visited = np.array(data.draw(st.lists(st.integers(0, len(rates) - 1), unique=True)), np.int64)
    waiting = np.array([page for page in range(len(rates)) if page not in visited], np.int64)
    every = Candidates.of(range(len(rates)), rates)
    rest = lay_out(Candidates.of(waiting, every.rates[waiting]), 1.0, selective).intervals
    fixed = 2.0 * (len(rates) - 1 - np.arange(len(visited)))
    expected = expected_coherence(np.concatenate((every.rates[visited], every.rates[waiting])), np.append(fixed, rest))
    assert Outlook(every, 1.0).expect(waiting, visited).mean == pytest.approx(expected / len(rates), rel=1e-9)


def test_how_sure_it_is_depends_on_how_many_pages_there_are():
    rates = np.full(10_000, 1e-6)
    outlook = Outlook(Candidates.of(np.arange(10_000), rates), 5.0)
    few, many = (outlook.expect(np.arange(size)) for size in (100, 10_000))
    assert few.deviation > many.deviation / 10
    assert many.reaches(many.mean - 0.01)
    assert not few.reaches(few.mean)


def test_nothing_is_coherent_and_a_page_alone_too():
    outlook = Outlook(Candidates.of([0], [5.0]), 1.0)
    assert outlook.expect(np.zeros(0, np.int64)) == (1.0, 0.0)
    assert outlook.expect(np.array([0])).reaches(1.0)
