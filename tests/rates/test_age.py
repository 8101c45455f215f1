from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.rates import age
from sharc_crawler.rates.age import DAY, age_histories, age_rates
from sharc_crawler.rates.history import DATED, UNCHANGED
from sharc_crawler.rates.regression import LogLinear
from sharc_crawler.rates.surroundings import Surroundings

NOW = 1e9


def urls(count: int) -> list[str]:
    return [f"http://h/{i}" for i in range(count)]


def test_ages_are_intervals_since_a_dated_change():
    found = age_histories(NOW - np.array([5.0, np.nan, 9.0, 9.0, 7.0]), NOW)
    assert found.offsets.tolist() == [0, 1, 1, 2, 3, 4]
    assert found.lengths.tolist() == [5.0, 9.0, 9.0, 7.0]
    # the oldest lastmod, shared by two pages, is the site's birth
    assert found.changed.tolist() == [DATED, UNCHANGED, UNCHANGED, DATED]


def test_of_a_large_site_a_sample_is_learned_from(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(7)
    truth = 10 ** rng.uniform(-3, 0, 4_000) / DAY
    lastmods = NOW - rng.exponential(1 / truth)
    fitted, fit = [], LogLinear.fit
    monkeypatch.setattr(LogLinear, "fit", lambda self, x, *rest: fitted.append(len(x)) or fit(self, x, *rest))
    every = age_rates(lastmods, NOW, Surroundings(urls(4_000)))
    monkeypatch.setattr(age, "MOST", 1_000)
    some = age_rates(lastmods, NOW, Surroundings(urls(4_000)))
    assert fitted == [4_000, 1_000]
    assert np.abs(np.log(some.rate / every.rate)).mean() < 0.1
    assert np.isfinite(some.rate).all()


def test_a_lastmod_of_many_pages_dates_no_change():
    ages = np.concatenate([np.arange(1.0, 81.0), np.full(20, 50.5)])
    found = age_histories(NOW - ages, NOW)
    assert (found.changed[80:] == UNCHANGED).all()
    assert (found.changed[:80] == DATED).all()


def test_a_bare_date_is_shared_by_all_that_changed_on_that_day():
    rng = np.random.default_rng(3)
    truth = 10 ** rng.uniform(-3, 0.5, 2000) / DAY
    seconds = 1000.3 * DAY - np.minimum(rng.exponential(1 / truth), 900 * DAY)
    dates = np.floor(seconds / DAY) * DAY
    assert (dates == 999 * DAY).mean() > 0.1
    exactly, by_date = (age_rates(said, 1000.3 * DAY, Surroundings(urls(2000))).rate for said in (seconds, dates))
    fresh = dates >= 999 * DAY
    assert np.median(by_date[fresh]) == pytest.approx(np.median(exactly[fresh]), rel=0.6)
    imported = dates.copy()
    imported[rng.random(2000) < 0.5] = 800 * DAY  # a day that stands out
    found = age_histories(imported, 1000.3 * DAY)
    assert (found.changed[imported == 800 * DAY] == UNCHANGED).all()
    assert (found.changed[imported == 999 * DAY] == DATED).all()


def test_recovers_the_rates_that_made_the_ages():
    rng = np.random.default_rng(5)
    truth = rng.gamma(1.5, 1 / (60 * DAY), 4000)
    ages = np.minimum(rng.exponential(1 / truth), 900 * DAY)
    estimates = age_rates(NOW - ages, NOW, Surroundings(urls(4000)))
    assert estimates.rate.mean() == pytest.approx(truth.mean(), rel=0.25)
    naive = 1.0 / (DAY + ages)
    assert np.mean((estimates.rate - truth) ** 2) < 0.2 * np.mean((naive - truth) ** 2)
    assert estimates.shape == pytest.approx((estimates.rate / estimates.spread) ** 2)


@pytest.mark.slow
@given(st.lists(st.integers(1, 3000), min_size=3, max_size=30, unique=True))
def test_a_younger_change_means_a_hotter_page_among_equals(days: list[int]):
    ages = np.sort(np.array(days, float)) * DAY
    # every page has the same company: one word for all, one neighbourhood
    estimates = age_rates(NOW - ages, NOW, Surroundings(["a"] * len(ages)))
    assert np.isfinite(estimates.rate).all()
    assert (estimates.rate > 0).all()
    assert estimates.rate[0] > estimates.rate[-1]


def test_busy_company_counts():
    ages = np.tile([5.0, 400.0], 500) * DAY + np.arange(1000)
    names = [f"{'news' if i % 2 == 0 else 'essay'}/{i}" for i in range(1000)]
    ages[[0, 1]] = 200 * DAY  # alike but for their names
    rate = age_rates(NOW - ages, NOW, Surroundings(names)).rate
    assert rate[0] > 2 * rate[1]


def test_without_lastmod_there_is_the_prior_or_nothing():
    assert np.isnan(age_rates(np.full(3, np.nan), NOW, Surroundings(urls(3))).rate).all()
    ages = np.concatenate([np.arange(1.0, 50.0) * DAY, [np.nan]])
    estimates = age_rates(NOW - ages, NOW, Surroundings(urls(50)))
    assert estimates.observations.tolist() == [1] * 49 + [0]
    assert np.isfinite(estimates.rate[-1])


def test_a_lastmod_in_the_future_is_as_if_of_now():
    assert np.isfinite(age_rates(np.array([NOW + 1e6, NOW - 1e6]), NOW, Surroundings(urls(2))).rate).all()


def test_groups_of_pages_on_a_small_site_may_share_a_lastmod():
    """Five groups on a site of 24 pages, from an hour to a month old: none is an import."""
    ages = np.repeat([0.04, 0.2, 1.25, 8.3, 37.5], [8, 2, 3, 8, 3]) * DAY
    rates = age_rates(-ages, 0.0, Surroundings(urls(24), None)).rate
    assert rates[0] > rates[-1] > 1 / (400 * DAY)


def test_a_site_on_which_nothing_is_dated_has_no_absurd_rates():
    ages = np.full(40, 10 * DAY)
    rates = age_rates(-ages, 0.0, Surroundings(urls(40), None)).rate
    assert rates == pytest.approx(np.full(40, 0.5 / (400 * DAY)))
