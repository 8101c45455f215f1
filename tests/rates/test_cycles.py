from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from sharc_crawler.model import Sighting
from sharc_crawler.rates.cycles import EVEN, DatedChanges, _expected, _waves, find_cycle, rhythm, rhythms
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.sources import HistoryRates
from tests.rates.rhythmic import DAY, NOW, WEEK, by_day, by_night, captured, changes, even, weekly_looks

BEGIN = NOW - 30 * WEEK


def site(shape, rate: float = 0.3 / WEEK, pages: int = 150, seed: int = 0, **options: float) -> SiteHistory:
    rng = np.random.default_rng(seed)
    times = [changes(rng, rate, BEGIN, NOW, shape) for _ in range(pages)]
    return captured(times, [f"http://h/{page}" for page in range(pages)], weekly_looks(), **options)


def test_a_daily_cycle_is_found_as_it_is():
    found = rhythm(DatedChanges.of(site(by_day)))
    daily, weekly = found.cycles
    assert daily.present and not weekly.present
    hours = NOW + np.arange(0, DAY, 900.0)
    assert daily.factor(hours).mean() == pytest.approx(1.0, abs=1e-6)
    assert np.abs(daily.factor(hours) - by_day(hours)).mean() < 0.2
    assert found.mean(NOW + 12 * 3600, NOW + 16 * 3600) > 4 * found.mean(NOW, NOW + 4 * 3600)
    assert found.mean(NOW, NOW + 4 * WEEK) == pytest.approx(1.0, abs=0.01)


def test_a_weekly_cycle_is_found():
    def workdays(times: np.ndarray) -> np.ndarray:
        return np.where((times - NOW) % WEEK < 5 * DAY, 1.3, 0.25)

    _, weekly = rhythm(DatedChanges.of(site(workdays, pages=300))).cycles
    assert weekly.present
    assert weekly.factor(NOW + 2 * DAY) > 2 * weekly.factor(NOW + 6 * DAY)


def test_hot_pages_that_are_looked_at_weekly_show_no_weekly_cycle():
    """Their last change is always young: on the day before the look."""
    for seed in range(5):
        changes_ = DatedChanges.of(site(even, rate=1 / WEEK, seed=seed))
        assert not rhythm(changes_).present
        raw = _waves(changes_.times, WEEK).mean(0)
        assert np.abs(raw).max() > 0.1  # what would have been taken for one


def test_chance_and_rebuilds_are_no_cycle():
    rng = np.random.default_rng(1)
    found = 0
    for seed in range(60):
        own = site(even, pages=40, seed=seed)
        found += rhythm(DatedChanges.of(own)).present
    assert found <= 1
    rebuilt = [
        np.sort(np.append(changes(rng, 0.3 / WEEK, BEGIN, NOW), [NOW - 60 * DAY, NOW - 90.3 * DAY])) for _ in range(200)
    ]
    assert not rhythm(DatedChanges.of(captured(rebuilt, [str(n) for n in range(200)], weekly_looks()))).present


def test_bare_dates_and_few_days_tell_no_hours():
    daily, _ = rhythm(DatedChanges.of(site(by_day, precision=DAY))).cycles
    assert (daily.changes, daily.p_value) == (0, 1.0)
    assert not rhythm(DatedChanges.of(site(by_day, pages=1))).present
    assert not rhythm(DatedChanges.of(SiteHistory.empty())).present
    assert EVEN.mean(0.0, DAY) == 1.0


def test_what_is_expected_of_an_even_page_is_the_mean_over_where_its_change_may_lie():
    one = DatedChanges(
        np.zeros(2, np.int64),
        np.zeros(2),
        np.array([5.0, 5.0]),
        np.array([3.0, -np.inf]),
        np.ones(2),
        np.array([0.7, 0.4]),
    )
    found = _expected(one, 4.0)
    for row, (rate, longest) in enumerate([(0.7, 2.0), (0.4, 60.0)]):
        weight = quad(lambda a, r=rate: r * np.exp(-r * a), 0, longest)[0]
        for column in range(8):
            mean = quad(
                lambda a, r=rate, c=column: r * np.exp(-r * a) * _waves(np.array([5.0 - a]), 4.0)[0, c],
                0,
                longest,
                limit=200,
            )[0]
            assert found[row, column] == pytest.approx(mean / weight, abs=1e-6)


def test_a_cycle_counts_its_evidence():
    cycle = find_cycle(DatedChanges.of(site(by_day)), DAY)
    assert 100 < cycle.clusters <= 180
    assert cycle.clusters < cycle.changes


def two_classes(pages: int = 300, seed: int = 2) -> SiteHistory:
    """News changes by day, the shop by night, both as often."""
    rng = np.random.default_rng(seed)
    shapes = [by_day, by_night]
    times = [changes(rng, 0.5 / WEEK, BEGIN, NOW, shapes[page % 2]) for page in range(pages)]
    urls = [f"http://h/{'shop' if page % 2 else 'news'}/{page}" for page in range(pages)]
    return captured(times, urls, weekly_looks())


def test_each_class_has_its_own_rhythm():
    history = two_classes()
    found = rhythms(history, np.arange(300) % 2)
    noon = NOW + 14 * 3600
    assert found[0].factor(noon) > 1.5 > 0.3 > found[1].factor(noon)


def test_in_a_short_capture_what_sleeps_is_cold():
    """Where in the plan a class goes: rates are those of the hours of the capture."""
    history = two_classes(pages=120)
    sightings = [Sighting(url) for url in history.urls]

    def news_against_shop(hour: int, length: float) -> float:
        found = HistoryRates(history, horizon=length).rates(sightings, NOW + hour * 3600)
        rates = np.array([one.rate for one in found])
        return rates[::2].mean() / rates[1::2].mean()

    assert news_against_shop(12, 4 * 3600.0) > 3
    assert news_against_shop(0, 4 * 3600.0) < 1 / 3
    assert news_against_shop(0, 28 * DAY) == pytest.approx(1.0, rel=0.3)
