"""What may be expected of a part by itself, against the layout page by page."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.quality.coherence import expected_coherence
from sharc_crawler.strategies.base import Candidates
from sharc_crawler.strategies.layout import lay_out
from sharc_crawler.strategies.selective import selective
from sharc_crawler.subsites.outlook import Outlook

RATES = st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.01, 0.1, 1.0, 5.0]), min_size=1, max_size=30)


@given(RATES, st.floats(0.1, 10.0), st.booleans(), st.data())
def test_the_share_is_that_of_the_pages_laid_out_alone(rates, step, sure, data):
    some = data.draw(st.lists(st.integers(0, len(rates) - 1), min_size=1, unique=True))
    shapes = None if sure else [2.5] * len(rates)
    every = Candidates.of(range(len(rates)), rates, shapes=shapes)
    alone = Candidates.of(some, [rates[page] for page in some], shapes=None if sure else [2.5] * len(some))
    intervals = lay_out(alone, step, selective).intervals
    expected = expected_coherence(alone.rates, intervals, alone.shapes) / len(some)
    assert Outlook(every, step).share(np.array(some)) == pytest.approx(expected, rel=1e-9)


def test_nothing_is_coherent_and_a_page_alone_too():
    outlook = Outlook(Candidates.of([0], [5.0]), 1.0)
    assert outlook.share(np.zeros(0, np.int64)) == 1.0
    assert outlook.share(np.array([0])) == 1.0
