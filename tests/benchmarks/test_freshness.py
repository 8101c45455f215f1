"""The crawl value of Busa-Fekete et al., as derived, against what happens where its model holds."""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from benchmarks import freshness
from benchmarks.freshness import NO_SIGNALS, Signals, crawl_value, learn, staleness
from sharc_crawler.frontier.modes.before_reference import FEW

CYCLES = 20_000


def cycles(rate, signals, level, rng):
    """Mean length, and mean fresh time, of cycles that end when the staleness reaches a level: by playing them."""
    unseen, told = (1 - signals.recall) * rate, signals.recall * rate
    weight = math.log1p(told / signals.false)
    length, fresh, x = np.zeros(CYCLES), np.zeros(CYCLES), np.zeros(CYCLES)
    still, on = np.ones(CYCLES, bool), np.ones(CYCLES, bool)
    rates = np.array([unseen, told, signals.false])
    while on.any():
        wait = rng.exponential(1 / rates.sum(), CYCLES)
        kind = rng.choice(3, CYCLES, p=rates / rates.sum())
        reached = (level - x) / unseen if unseen else np.full(CYCLES, math.inf)
        step = np.where(on, np.minimum(wait, reached), 0.0)
        length += step
        fresh += np.where(still, step, 0.0)
        happened = on & (wait < reached)
        x += unseen * step + np.where(happened & (kind > 0), weight, 0.0)
        still &= ~(happened & (kind < 2))
        on &= happened & (x < level - 1e-9)
    return length.mean(), fresh.mean()


@pytest.mark.parametrize(
    ("recall", "false", "level"), [(0.5, 0.3, 1.2), (0.8, 0.05, 2.5), (0.9, 2.0, 1.0), (1.0, 0.5, 2 * math.log(3))]
)
def test_the_value_is_what_a_download_at_that_staleness_earns(recall, false, level):
    rng = np.random.default_rng(1)
    for rate in (1.0, 0.25):
        signals, x = Signals(recall, false * rate), np.array([level])
        length, fresh = cycles(rate, signals, level, rng)
        earned = fresh - math.exp(-level) * length
        assert crawl_value(np.array([rate]), x, signals)[0] == pytest.approx(earned, rel=0.05)


def test_a_level_is_best_where_its_value_is_the_price():
    """Of all levels, the one at which a download is worth its price earns most per second."""
    rng = np.random.default_rng(2)
    signals, best = Signals(0.6, 0.3), 1.1
    price = crawl_value(np.array([1.0]), np.array([best]), signals)[0]
    earned = {}
    for level in (0.3, best, 3.0):
        length, fresh = cycles(1.0, signals, level, rng)
        earned[level] = (fresh - price) / length
    assert max(earned, key=earned.get) == best


def test_signals_that_say_nothing_change_nothing():
    rates, ages, none = np.array([0.0, 0.1, 2.0]), np.array([3.0, 3.0, 3.0]), np.zeros(3)
    plain = crawl_value(rates, staleness(rates, ages, none, NO_SIGNALS), NO_SIGNALS)
    drowned = Signals(1e-6, 5.0)
    told = crawl_value(rates, staleness(rates, ages, np.full(3, 15.0), drowned), drowned)
    assert told.tolist() == pytest.approx(plain.tolist())
    assert plain[0] == 0, "a page that never changes is worth no download"
    faint = Signals(0.011, 1.0)  # just said to say something
    assert crawl_value(rates[2:], staleness(rates[2:], ages[2:], none[2:], faint), faint)[0] == pytest.approx(
        plain[2], rel=0.05
    )


def test_perfect_signals_are_believed():
    rates, perfect = np.array([0.5, 0.5]), Signals(1.0, 0.0)
    x = staleness(rates, np.array([9.0, 9.0]), np.array([0.0, 1.0]), perfect)
    assert x.tolist() == [0, math.inf]
    assert crawl_value(rates, x, perfect).tolist() == [0, pytest.approx(2.0)]


def test_value_grows_with_age_and_with_signals():
    signals = Signals(0.7, 0.2)
    rates = np.full(30, 0.4)
    ages, told = np.repeat(np.arange(10.0), 3), np.tile(np.arange(3.0), 10)
    value = crawl_value(rates, staleness(rates, ages, told, signals), signals).reshape(10, 3)
    assert (np.diff(value, axis=0) > -1e-9).all()
    assert (np.diff(value, axis=1) > -1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize("truth", [Signals(0.5, 0.02), Signals(1.0, 0.0), Signals(0.9, 0.2)])
def test_recall_and_false_signals_are_learned(truth):
    rng = np.random.default_rng(3)
    rates = rng.choice([0.02, 0.1, 0.5], 4000)
    ages = rng.uniform(1, 10, 4000)
    seen = rng.poisson(rates * ages * truth.recall)
    told = seen + rng.poisson(truth.false * ages)
    changed = (seen + rng.poisson(rates * ages * (1 - truth.recall))) > 0
    found = learn(rates, ages, told.astype(float), changed)
    assert found.recall == pytest.approx(truth.recall, abs=0.1)
    assert found.false == pytest.approx(truth.false, rel=0.5, abs=1e-3)


def test_second_looks_are_those_of_a_crawl(monkeypatch):
    """Each page that has changed is looked at again; where none has, as many as it takes to see that."""
    monkeypatch.syspath_prepend(Path(freshness.__file__).parent)
    as_crawled = import_module("bench_freshness").as_crawled
    hot = np.arange(400) % 10 == 0
    rows, rates = [np.array([5.0] * one) for one in hot.tolist()], np.where(hot, 1e-3, 1e-5)
    assert sorted(as_crawled(rows, rates, np.ones(400), hot, 0.01, 10.0)) == np.flatnonzero(hot).tolist()
    assert len(as_crawled(rows, rates, np.ones(400), ~hot, 0.01, 10.0)) == FEW
