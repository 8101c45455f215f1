from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from sharc_crawler.model import Sighting
from sharc_crawler.rates.cycles import (
    RATES,
    Cycle,
    DatedChanges,
    Rhythm,
    _expected,
    _waves,
    find_cycle,
    rhythm,
    rhythms,
)
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.sources import HistoryRates, _busy
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
    assert Rhythm(()).mean(0.0, DAY) == 1.0


def test_what_is_expected_of_an_even_page_is_the_mean_over_where_its_change_may_lie():
    odds = np.zeros((2, len(RATES)))
    odds[0, -1], odds[1, -2:] = 1.0, (0.3, 0.7)
    looks, befores = np.array([50.0, 50.0]), np.array([30.0, -np.inf])
    found = _expected(DatedChanges(np.zeros(2, np.int64), np.zeros(2), looks, befores, np.ones(2), odds), 40.0)
    for row, longest in enumerate([20.0, 600.0]):

        def density(age: float, row: int = row, longest: float = longest) -> float:
            return float((odds[row] * RATES * np.exp(-RATES * age) / -np.expm1(-RATES * longest)).sum())

        for column in range(8):
            mean = quad(
                lambda a, c=column: density(a) * _waves(np.array([50.0 - a]), 40.0)[0, c], 0, longest, limit=200
            )
            assert found[row, column] == pytest.approx(mean[0], abs=1e-6)


def first_captures(captures: int, hour: float = 4.0, seed: int = 0) -> SiteHistory:
    """Captures of four minutes, twenty minutes apart, of 500 pages last changed in the last 400 days, at any hour.

    Every twentieth changes every 20 to 300 s.
    """
    rng = np.random.default_rng(seed)
    begin = NOW + hour * 3600
    looks = begin + np.add.outer(1200.0 * np.arange(captures), [0.0, 240.0]).ravel()
    times = []
    for page in range(500):
        own = begin - DAY * rng.uniform(1, 400, 1)
        if page % 20 == 0:
            own = np.append(own, np.arange(begin - 60.0, looks[-1], rng.choice([20.0, 60.0, 150.0, 300.0])))
        times.append(own)
    return captured(times, [f"http://h/{page}" for page in range(500)], looks)


def test_captures_of_minutes_show_no_cycle():
    """Pages seen for minutes only, last changed months ago: no expectation that they had changed just before."""
    for captures in (1, 2, 3):
        for hour in (4.0, 15.5):
            found = rhythm(DatedChanges.of(first_captures(captures, hour, seed=captures)))
            assert not found.present
            assert all(cycle.p_value > 0.01 for cycle in found.cycles)


def test_c_is_known_no_better_than_the_days_that_tell_of_it():
    sleeping = Cycle(DAY, 1000, 91, 0.0, np.array([-60.0, 0.0, 0, 0, 0, 0, 0, 0]))
    hours = NOW + np.arange(0, DAY, 900.0)
    assert sleeping.factor(hours).min() == pytest.approx(0.09, abs=1e-6)
    assert sleeping.factor(hours).mean() == pytest.approx(1.0, abs=1e-6)


def test_what_changed_in_captures_by_night_is_not_asleep_by_night():
    """The others' rhythm says how much more changes now than in the time that a page's own rate was learned from."""
    night = NOW + 2 * 3600.0
    looks = night - 600.0 * np.arange(6, 0, -1)
    others, hot = site(by_day), captured([looks + 300.0], ["http://h/hot"], looks)
    columns = ("times", "changed", "lastmods", "precisions", "modified")
    history = SiteHistory(
        "h",
        [*others.urls, *hot.urls],
        np.append(others.offsets, others.offsets[-1] + 6),
        *(np.concatenate([getattr(others, name), getattr(hot, name)]) for name in columns),
    )
    factors = _busy(history, night, night + 3600.0)
    assert factors[:-1].max() < 0.3
    assert factors[-1] == pytest.approx(1.0, abs=0.1)


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
