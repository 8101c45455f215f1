from __future__ import annotations

import math

import numpy as np
import pytest

from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.live.config import Config
from sharc_crawler.live.former.history import rates_of
from sharc_crawler.model import Hints, Sighting, Url
from sharc_crawler.rates.age import age_rates
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory
from sharc_crawler.rates.hot import with_hot_pages
from sharc_crawler.rates.sources import HistoryRates
from sharc_crawler.rates.surroundings import Surroundings

DAY = 86_400.0
NOW = 1e9
HOT = np.arange(500) % 20 == 0


def captured(times: list[np.ndarray], urls: list[str], looks: np.ndarray) -> SiteHistory:
    """What looks at each page show: changed or not, and the lastmod."""
    bits, lastmods = [], []
    for own in times:
        count = np.searchsorted(own, looks)
        last = np.where(count > 0, np.append(own, math.nan)[count - 1] if len(own) else math.nan, math.nan)
        lastmods.append(np.floor(last))
        bits.append(np.where(np.diff(count) > 0, CHANGED, UNCHANGED))
    pages, width = len(times), len(looks)
    changed = np.concatenate([np.full((pages, 1), UNKNOWN), np.array(bits).reshape(pages, width - 1)], axis=1)
    return SiteHistory(
        "h",
        [Url(url) for url in urls],
        np.arange(pages + 1) * width,
        np.tile(looks, pages),
        changed.ravel().astype(np.int8),
        np.concatenate(lastmods),
        np.ones(pages * width),
        np.full(pages * width, math.nan),
    )


def ages(seed: int = 0) -> np.ndarray:
    """Of 500 pages, in seconds: up to 400 days, of every twentieth up to five minutes."""
    rng = np.random.default_rng(seed)
    return np.where(HOT, rng.uniform(5, 300, 500), DAY * rng.uniform(1, 400, 500))


def rates(lastmods: np.ndarray):
    read = np.full(len(lastmods), NOW)
    cold = age_rates(lastmods, read, Surroundings([f"http://h/{page}" for page in range(len(lastmods))]))
    return cold, with_hot_pages(cold, lastmods, read)


def survivors(found, seconds: float) -> float:
    return float(np.exp(log_survival(found.rate, np.full(len(found), seconds), found.shape)).sum())


def test_pages_changed_just_now_are_hot_and_the_others_are_cold():
    cold, found = rates(NOW - ages())
    assert cold.rate[HOT].max() < 1 / DAY  # one Gamma distribution for all
    assert (found.rate[HOT] * ages()[HOT]).min() > 0.3
    old = ages() > 30 * DAY
    assert found.rate[old] == pytest.approx(cold.rate[old], rel=1e-3)
    assert survivors(cold, 600.0) > 499
    assert survivors(found, 600.0) == pytest.approx(475, abs=10)


def test_a_site_without_hot_pages_has_few():
    rng = np.random.default_rng(2)
    cold, found = rates(NOW - rng.exponential(200 * DAY, 500))
    assert survivors(cold, 600.0) - survivors(found, 600.0) < 1.0


def test_bare_dates_and_lastmods_yet_to_come_say_nothing_of_minutes():
    days = np.floor((NOW - DAY * np.arange(500)) / DAY) * DAY
    days[0] = NOW + 30.0
    cold, found = rates(days)
    assert found.rate.tolist() == cold.rate.tolist()


@pytest.mark.parametrize(("ago", "unit"), [(300.0, 1.0), (2_997.0, 1.0), (240.0, 60.0)])
def test_pages_published_at_one_moment_are_not_hot(ago: float, unit: float):
    old = DAY * np.random.default_rng(3).uniform(1, 400, 500)
    moment = np.floor((NOW - ago) / unit) * unit
    cold, found = rates(np.where(np.arange(500) % 25 == 0, moment, NOW - old))
    assert survivors(cold, DAY) - survivors(found, DAY) < 1.0


def test_hot_pages_of_one_second_or_minute_are_hot_all_the_same():
    for unit in (1.0, 60.0):
        lastmods = np.floor((NOW - ages()) / unit) * unit
        cold, found = rates(np.where(lastmods % DAY == 0, lastmods - 1, lastmods))
        assert found.rate[HOT].min() > 100 * cold.rate[~HOT].max()


def test_what_a_capture_of_minutes_saw_change_is_hottest_in_the_next():
    begin, next_ = NOW, NOW + 1200.0
    rng = np.random.default_rng(4)
    times = []
    for hot, age in zip(HOT, ages(), strict=True):
        every, first = rng.choice([20.0, 60.0, 150.0, 300.0]), begin - 60.0 - rng.uniform(0, 20)
        times.append(np.append(begin - max(age, DAY), np.arange(first, next_, every) if hot else []))
    urls = [f"http://h/{page}" for page in range(500)]
    history = captured(times, urls, np.array([begin, begin + 260.0]))
    listed = [Sighting(url, hints=Hints(lastmod=own[-1] + 0.5)) for url, own in zip(history.urls, times, strict=True)]
    found = np.array([one.rate for one in HistoryRates(history, 3600.0).rates(listed, next_)])
    assert found[HOT].min() > 10 * found[~HOT].max()
    assert np.median(1 / found[HOT]) < 1000.0
    assert np.median(1 / found[~HOT]) > DAY


@pytest.mark.parametrize(("horizon", "hot"), [(DAY, True), (30 * DAY, False)])
def test_a_burst_outlasts_a_capture_of_hours_not_one_of_weeks(horizon: float, hot: bool):
    listed = [Sighting(f"http://h/{page}", hints=Hints(lastmod=NOW - age)) for page, age in enumerate(ages())]
    found = np.array([one.rate for one in HistoryRates(horizon=horizon).rates(listed, NOW)])
    assert bool(found[HOT].min() > 1e-3) is hot


def test_a_first_live_capture_sees_hot_pages():
    listed = [Sighting(f"http://h/{page}", hints=Hints(lastmod=NOW - age)) for page, age in enumerate(ages())]
    rates = rates_of("h", None, Config(politeness=Politeness(), user_agent=None))
    found = np.array([one.rate for one in rates.rates(listed, NOW)])
    assert found[HOT].min() > 1e-3 > found[~HOT].max()
