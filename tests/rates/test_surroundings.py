from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.rates import surroundings
from sharc_crawler.rates.surroundings import NEAR, NEAR_PRIOR, WORD_PRIOR, Surroundings

LINKS = (np.array([0, 0, 1, 3]), np.array([1, 2, 2, 0]))
URLS = ["http://h/NewsItem1", "http://h/NewsItem2", "http://h/about-us", "http://h/%E4/2011", "http://h/"]


@pytest.mark.slow
@given(st.integers(0, 4), st.lists(st.floats(0, 50), min_size=5, max_size=5))
def test_own_activity_does_not_count(page: int, values: list[float]):
    activity = np.array(values)
    more = activity.copy()
    more[page] += 10.0
    # all but the means that a page is drawn to, so the mean is kept
    others = [i for i in range(5) if i != page]
    before, after = (Surroundings(URLS, LINKS).columns(a)[:, 2] for a in (activity, more))
    assert after[page] == before[page]
    assert (after[others] >= before[others]).all()


def test_by_words_is_the_mean_of_words_means():
    activity = np.array([4.0, 0.0, 1.0])
    found = np.exp(Surroundings(["ab/cd", "ab", "ef"]).columns(activity)[:, 0]) - 1e-3
    mean = activity.mean()
    ab = (0.0 + WORD_PRIOR * mean) / (1 + WORD_PRIOR)  # the other page with the word
    assert found[0] == pytest.approx((ab + mean) / 2)
    assert found[1] == pytest.approx((4.0 + WORD_PRIOR * mean) / (1 + WORD_PRIOR))
    assert found[2] == pytest.approx(mean)


def test_by_discovery_is_a_window():
    activity = np.random.default_rng(1).random(300)
    found = np.exp(Surroundings([""] * 300).columns(activity)[:, 1]) - 1e-3
    half = NEAR // 2
    for page in (0, 20, 150, 299):
        near = np.r_[activity[max(page - half, 0) : page], activity[page + 1 : page + half + 1]]
        assert found[page] == pytest.approx((near.sum() + NEAR_PRIOR * activity.mean()) / (len(near) + NEAR_PRIOR))


def test_by_links_goes_both_ways():
    found = np.exp(Surroundings(URLS, LINKS).columns(np.array([0.0, 0.0, 3.0, 0.0, 0.0]))[:, 2]) - 1e-3
    np.testing.assert_allclose(found, [3 / 3**0.5, 3 / 3**0.5, 0, 0, 0], atol=1e-12)


def test_place():
    assert Surroundings(URLS).place().shape == (5, 1)
    np.testing.assert_allclose(np.expm1(Surroundings(URLS, LINKS).place())[0], [0, 2, 1])


def test_no_pages():
    assert Surroundings([]).columns(np.zeros(0)).shape == (0, 2)
    assert Surroundings([]).place().shape == (0, 1)


def test_words_are_counted_over_all_blocks(monkeypatch):
    """Pages of a word are counted block by block: no column of all pages' words is made for that."""
    urls = [f"http://h/{'news' if page % 2 else 'about'}/page-{page % 5}.html" for page in range(40)]
    activity = np.random.default_rng(2).random(40)
    whole = Surroundings(urls).columns(activity)
    monkeypatch.setattr(surroundings, "BLOCK", 7)
    counted, real = [], np.bincount
    monkeypatch.setattr(
        surroundings.np, "bincount", lambda x, *more, **named: counted.append(len(x)) or real(x, *more, **named)
    )
    found = Surroundings(urls)
    assert max(counted) <= 7 * 7, "of a block: five words of a folder and two of a name"
    np.testing.assert_allclose(found.columns(activity), whole, rtol=1e-12)
